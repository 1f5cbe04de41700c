"""The same hostile programs for an ordinary user, who has one uid and no control group, in both tiers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.outside import differences, look
from tests.sandbox.stage import NOBODY, make_library, public_interpreter

_MODULES = ("ordinary.py", "programs.py", "system_calls.py", "native_programs.py")


@pytest.fixture(scope="module")
def library() -> Iterator[Path]:
    """A folder that every user can read, with the package and the programs."""
    folder = make_library()
    inner = folder / "tests" / "hostile"
    inner.mkdir(parents=True)
    for name in _MODULES:
        shutil.copy(Path(__file__).with_name(name), inner)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.hostile
@pytest.mark.timeout(600)
@pytest.mark.parametrize("tier", ["namespace", "process"])
@pytest.mark.parametrize(
    "tables", [("REFUSED", "UNKNOWN", "RIGHT"), ("ENDS", "BLAME", "ESCAPES", "BOARD")], ids=" ".join
)
def test_labels_are_right(library: Path, tmp_path: Path, tier: str, tables: tuple[str, ...]) -> None:
    python = public_interpreter()
    before = look()
    tmp_path.chmod(0o777)
    who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(library), "HOME": str(tmp_path)}
    done = subprocess.run(
        [python, "-m", "tests.hostile.ordinary", tier, *tables],
        capture_output=True, text=True, env=env, cwd="/", check=False, timeout=580, **who,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert (told["tier"], told["run"] > 40) == (tier, True)
    assert look() == before, differences(before, look())
