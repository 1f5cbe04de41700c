"""What holds for the project as a whole: packaging, pins, the example file's integrity."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

import pytest

import scalebox

wheel_only = pytest.mark.skipif(
    not os.environ.get("SCALEBOX_TEST_WHEEL"), reason="only `make test` demands the wheel: SCALEBOX_TEST_WHEEL is unset"
)

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "scalebox"


@wheel_only
def test_the_wheel_is_tested_where_make_asks_for_it() -> None:
    assert SOURCE not in Path(scalebox.__file__).parents, "tests run against src, not against the built wheel"


@wheel_only
def test_wheel_holds_every_file_of_the_package() -> None:
    shipped = {str(path) for path in distribution("scalebox").files or ()}
    tracked = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    names = {str(path.relative_to(ROOT / "src")) for path in tracked}
    assert names - shipped == set()


@wheel_only
def test_licences_ship_with_the_package() -> None:
    text = distribution("scalebox").metadata
    assert text["License-Expression"] == "Apache-2.0"
    assert set(text.get_all("License-File") or ()) >= {"LICENSE", "NOTICE"}


@pytest.mark.parametrize("name", ["runtime.txt", "build.txt", "dev.txt", "image.txt", "scientific.txt"])
def test_requirements_are_pinned_with_hashes_and_name_no_place(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)
    requirements = re.split(r"\n(?=[a-z0-9])", text.strip(), flags=re.IGNORECASE)
    unpinned = [r.split()[0] for r in requirements if "==" not in r.split("\\")[0] or "--hash=sha256:" not in r]
    assert unpinned == []


def test_pins_cover_what_the_package_declares() -> None:
    pinned = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    for requirement in distribution("scalebox").requires or ():
        if "extra ==" not in requirement:
            name = re.split(r"[^A-Za-z0-9._-]", requirement)[0]
            assert re.search(rf"^{re.escape(name)}==", pinned, flags=re.MULTILINE), name


def test_the_example_link_is_the_packaged_file() -> None:
    example = (ROOT / "examples" / "rollouts.jsonl").read_text(encoding="utf-8")
    assert example == files("scalebox.bench").joinpath("rollouts.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in example.splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) >= 120
    assert len({row["problem_id"] for row in rows}) == 30
    assert all(row["meta"]["expected_verdict"] and row["meta"]["origin"] for row in rows)


def test_the_product_stands_alone() -> None:
    pattern = re.compile(r"\.\./shared|/work/", re.IGNORECASE)
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), ROOT / "Makefile"]
    assert [str(path) for path in texts if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_importing_scalebox_loads_nothing_heavy() -> None:
    code = "import sys, scalebox; print(*sorted(set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"rich", "click", "zstandard", "asyncio", "numpy", "multiprocessing", "concurrent.futures"}
    assert heavy & set(loaded) == set()


def test_every_source_file_is_of_readable_length() -> None:
    longest = {str(path.relative_to(SOURCE)): len(path.read_bytes().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {name: lines for name, lines in longest.items() if lines > 520} == {}
