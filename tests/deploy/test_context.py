"""What gets into images: everything below a build context, less what is ignored. Never tests, never answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker.utils.build import exclude_paths

ROOT = Path(__file__).parents[2]
#: Ends of files that hold data: cases, answers, results, keys.
DATA = re.compile(r"\.(jsonl|parquet|csv|arrow|in|ans|out|zst|gz|zip|tar|db|sqlite\d*|pem|key|pkl|env)$")
#: Fields that only a test with its answer has.
ANSWERS = re.compile(rb'"(stdout|expect|expect_repr|harness|assert)"\s*:\s*("|\[|\{|\d|true|false|null)')
SECRETS = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b")
#: Tests and answers in many places and under many names.
PLANTED = (
    "tests/test_secret.py", "tests/golden/programs/p.txt", "examples/rollouts.jsonl", "examples/packages/p/data/1.ans",
    "src/scalebox/bench/rollouts.jsonl", "src/scalebox/data/hidden.parquet", "src/scalebox/eval.jsonl.zst",
    "src/scalebox/server/problems.db", "src/scalebox/problems.sqlite3", "src/scalebox/.env", "src/scalebox/.env.local",
    "src/other/answers.py", "answers.json", "requirements/answers.in", "requirements/dev.txt", "tools/answers.txt",
    "tokens", "trainer.token", "deploy/tokens", "scalebox.toml", ".git/objects/ab", ".venv/x.py", "build/a.jsonl",
    "benchmarks/figures.json", "benchmarks/tools/answers_calls.txt", "docs/index.md", "src/scalebox/key.pem",
)  # fmt: skip
WANTED = ("pyproject.toml", "README.md", "src/scalebox/__init__.py", "requirements/image.txt", "tools/toolchains.sh")


def patterns() -> list[str]:
    lines = (line.strip() for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def context(root: Path) -> list[str]:
    """Return the files that an engine is sent, as the client of Docker's own makers reads the ignore file."""
    # It always adds the Containerfile, under a name of its own, which is no file of the context here.
    sent = exclude_paths(str(root), patterns(), dockerfile="no-such-file")
    return sorted(path for path in sent if (root / path).is_file())


@pytest.fixture(scope="module")
def files() -> list[str]:
    return context(ROOT)


def test_there_is_one_ignore_file_for_every_engine() -> None:
    # Podman would take .containerignore instead of .dockerignore, and Docker one beside a Containerfile.
    others = [*ROOT.glob(".containerignore"), *(ROOT / "deploy").rglob("*ignore")]
    assert others == []


def test_no_tests_and_no_data_are_in_the_context(files: list[str]) -> None:
    assert set(WANTED) <= set(files)
    roots = {path.split("/")[0] for path in files if "/" in path}
    assert roots == {"requirements", "src", "tools"}
    assert [path for path in files if DATA.search(path) or path.rsplit("/", 1)[-1].startswith("test_")] == []


def records(path: Path) -> Iterator[bytes]:
    """Yield what in a file looks like a record with an answer: a whole JSON object on a line."""
    for line in path.read_bytes().splitlines():
        if line.lstrip().startswith(b"{") and ANSWERS.search(line):
            try:
                json.loads(line)
            except ValueError:
                continue
            yield line


def test_no_answer_and_no_secret_is_in_a_file_of_it(files: list[str]) -> None:
    assert [path for path in files if list(records(ROOT / path))] == []
    assert [path for path in files if SECRETS.search((ROOT / path).read_bytes())] == []


def test_the_scan_can_fail(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text('ok\n{"id": "1", "tests": [{"stdin": "1", "stdout": "2"}]}\n')
    assert len(list(records(tmp_path / "a.txt"))) == 1
    assert any(records(ROOT / "src/scalebox/bench/rollouts.jsonl"))


def test_whatever_is_planted_stays_out(tmp_path: Path) -> None:
    for path in (*PLANTED, *WANTED):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("planted")
    assert context(tmp_path) == sorted(WANTED)


def test_the_package_can_be_built_from_the_context_alone(files: list[str], tmp_path: Path) -> None:
    for path in files:
        target = tmp_path / "src" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist"), "."]
    done = subprocess.run(command, cwd=tmp_path / "src", capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "scalebox/cli/main.py" in names
    assert [name for name in names if DATA.search(name)] == []
