"""Whatever users can name is documented in docs/reference, and the docs' examples are true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from scalebox import judge, reward
from scalebox.bench import NAMES
from scalebox.cli.main import main
from scalebox.core import errors, settings
from scalebox.core.limits import ALIASES, PROFILES, Limits
from scalebox.core.result import CaseResult, Summary, Timings, VerificationResult
from scalebox.core.sample import Match, Sample
from scalebox.core.verdicts import Verdict

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"


@cache
def reference() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.md")))


def named() -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of all that must be documented."""
    for kind, names in {
        "setting": [setting.name for setting in settings.describe()],
        "verdict": [verdict.value for verdict in Verdict],
        "output mode": judge.output_modes(),
        "value mode": judge.value_modes(),
        "match option": Match.__struct_fields__,
        "limit": Limits.__struct_fields__,
        "limit alias": ALIASES,
        "profile": PROFILES,
        "reward": reward.names(),
        "sample field": Sample.__struct_fields__,
        "error": [name for name, value in vars(errors).items() if isinstance(value, type)],
    }.items():
        yield from ((kind, name) for name in names)
    for struct in (VerificationResult, CaseResult, Timings, Summary):
        yield from (("result field", name) for name in struct.__struct_fields__)


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        yield name, command


@pytest.mark.parametrize(("kind", "name"), sorted(set(named())), ids=lambda value: value)
def test_it_is_in_the_reference(kind: str, name: str) -> None:
    assert re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", reference()), f"{kind} {name!r} is not in docs/reference"


def test_every_command_and_option_is_in_the_reference() -> None:
    missing = []
    for name, command in commands():
        if f"scalebox {name}" not in reference():
            missing.append(name)
        for parameter in command.params:
            options = [option for option in parameter.opts if option.startswith("--")]
            missing += [f"{name} {option}" for option in options if not re.search(rf"{option}(?![\w-])", reference())]
    assert missing == []


def test_every_benchmark_is_described() -> None:
    guide = (ROOT / "docs" / "guides" / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if not re.search(rf"^`{name}`\n: ", guide, flags=re.MULTILINE)] == []


def test_links_of_the_readme_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "examples" / "README.md"):
        links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_hangs_in_the_tree() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "docs").glob("*/*.md")}
    assert [folder for folder in sorted(folders) if f"\n{folder}/*\n" not in index] == []
