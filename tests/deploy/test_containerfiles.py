"""The Containerfiles, read by a parser: sound sources, known packages, no root, no secrets."""

from __future__ import annotations

import functools
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser

from scalebox.languages import registry

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "containers"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/Containerfile"))
USER = "10001:10001"
TOOLCHAINS = (ROOT / "tools" / "toolchains.sh").read_text(encoding="utf-8")
#: The image of each set → the languages that must work in it.
LANGUAGES = {
    "cpp": ("c", "cpp"),
    "rust": ("rust",),
    "jvm": ("java", "scala", "kotlin"),
    "node": ("javascript", "typescript"),
    "go": ("go",),
}


@functools.cache
def steps(name: str) -> tuple[tuple[str, str], ...]:
    """Return (instruction, its text) in order, with comments left out and lines that go on joined."""
    parser = DockerfileParser(fileobj=io.BytesIO((FOLDER / name / "Containerfile").read_bytes()))
    return tuple((step["instruction"], step["value"]) for step in parser.structure if step["instruction"] != "COMMENT")


def values(name: str, instruction: str) -> list[str]:
    return [text for kind, text in steps(name) if kind == instruction]


def packages(name: str) -> set[str]:
    """Return what an image installs by apt."""
    commands = [part for run in values(name, "RUN") for part in run.split("&&") if "apt-get install" in part]
    return {word for part in commands for word in part.split("install", 1)[1].split() if not word.startswith("-")}


def test_there_is_one_for_each_set() -> None:
    assert set(NAMES) == {"base", "python-scientific", "all", *LANGUAGES}


@pytest.mark.parametrize("name", NAMES)
def test_it_ends_as_an_ordinary_user_by_number(name: str) -> None:
    # A number, since Kubernetes cannot see whether a name is root.
    assert values(name, "USER")[-1] == USER
    last = [kind for kind, _ in steps(name)]
    assert "RUN" not in last[len(last) - last[::-1].index("USER") :]


@pytest.mark.parametrize("name", NAMES)
def test_what_it_copies_is_there_and_is_a_path_of_the_context(name: str) -> None:
    assert values(name, "ADD") == []  # which would fetch and unpack
    for text in values(name, "COPY"):
        *sources, target = text.split()
        assert target
        if not sources[0].startswith("--from="):
            assert [source for source in sources if not (ROOT / source).exists()] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_is_built_on_a_slim_image_or_on_base(name: str) -> None:
    arguments = dict(text.split("=", 1) for text in values(name, "ARG"))
    bases = [
        re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], text.split()[0]) for text in values(name, "FROM")
    ]
    wanted = r"python:3\.\d+-slim-bookworm" if name == "base" else r"scalebox:base"
    assert [base for base in bases if not re.fullmatch(wanted, base)] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_secret_is_in_it(name: str) -> None:
    set_here = [text for kind in ("ARG", "ENV", "LABEL") for text in values(name, kind)]
    words = re.findall(r"(\w*(?:TOKEN|SECRET|PASSWORD|KEY)\w*)=(\S+)", " ".join(set_here), flags=re.IGNORECASE)
    assert [(word, value) for word, value in words if not value.startswith("/run/secrets/")] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_it_installs_is_pinned_or_of_the_distribution(name: str) -> None:
    for run in values(name, "RUN"):
        assert "curl" not in run
        assert "wget" not in run
        if "apt-get install" in run:
            assert "--no-install-recommends" in run
            assert "rm -rf /var/lib/apt/lists/*" in run
        for command in (part for part in run.split("&&") if "pip install" in part):
            assert "--require-hashes" in command or "--no-deps" in command


def test_health_is_asked_of_the_server_itself() -> None:
    (check,) = values("base", "HEALTHCHECK")
    command = json.loads(check.partition("CMD")[2])
    assert command[0] == "/opt/scalebox/bin/python"
    assert "http://127.0.0.1:8080/healthz" in command[-1]
    compile(command[-1], "healthcheck", "exec")
    # The others have it from base.
    assert [name for name in NAMES if name != "base" and values(name, "HEALTHCHECK")] == []


def test_the_server_is_what_starts() -> None:
    assert json.loads(values("base", "ENTRYPOINT")[-1]) == ["tini", "--", "scalebox"]
    assert json.loads(values("base", "CMD")[-1]) == ["serve"]
    assert [name for name in NAMES if name != "base" and (values(name, "CMD") or values(name, "ENTRYPOINT"))] == []


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_the_languages_of_a_set_are_installed(name: str) -> None:
    for language in LANGUAGES[name]:
        how = registry.languages()[language].install.partition(", or ")[0]
        needed = set(re.findall(r"apt-get install ([^;]+)", how)[0].split()) if "apt-get" in how else {"npm"}
        assert needed - {"npm"} <= packages(name) | {"libc6-dev"}, language
        for module in re.findall(r"npm install --global (.+)", how):
            assert all(word.split("@")[0] in " ".join(values(name, "RUN")) for word in module.split())


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_a_set_has_nothing_that_make_toolchains_does_not_know(name: str) -> None:
    own = {"cmake", "make"}  # for programs of people who build with them; no language needs them
    assert [package for package in packages(name) - own if package not in TOOLCHAINS] == []


@pytest.mark.skipif(shutil.which("apt-cache") is None, reason="no apt here")
def test_every_package_is_one_of_debians() -> None:
    wanted = sorted(set().union(*map(packages, NAMES)))
    policy: Any = subprocess.run(
        ["apt-cache", "policy", *wanted], capture_output=True, text=True, timeout=120, check=True, env={"LC_ALL": "C"}
    )
    found = dict(re.findall(r"^(\S+):\n(?:.*\n)??  Candidate: (\S+)", policy.stdout, flags=re.MULTILINE))
    if not found:
        pytest.skip("apt has no lists: run apt-get update first")
    assert [name for name in wanted if found.get(name, "(none)") == "(none)"] == []
