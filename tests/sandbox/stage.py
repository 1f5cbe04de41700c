"""Runs stand-in agents as different users."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest

import scalebox

NOBODY = 65534


class Stage:
    """Runs stand-in agents as `user`: "root" (with the interpreter that runs the tests), "ordinary", or "contained".

    The last is root as containers have it, without CAP_SYS_ADMIN.
    """

    def __init__(self, user: str, library: Path | None) -> None:
        self.user = user
        self.python = public_interpreter() if user == "ordinary" else sys.executable
        self._library = library

    def agent(self, tier: str, code: str = "", **options: Any) -> dict[str, Any]:
        """Launch an agent that runs `code` in `tier`; return its answer and what the worker saw.

        Options: `deny` (the worker can make no namespaces), `cover_proc` (parts of /proc are covered), `python`,
        `readable`, `kill` (as soon as the agent writes), `lines` (run in the worker instead of a launch).
        """
        wanted = {"tier": tier, "code": textwrap.dedent(code), "python": os.path.realpath(self.python), **options}
        wanted["contain"] = self.user == "contained"
        env = {"PATH": "/usr/bin:/bin", "TMPDIR": options.get("scratch", tempfile.gettempdir())}
        if self._library:
            env["PYTHONPATH"] = str(self._library)
        who: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.user == "ordinary" else {}
        script = (self._library or Path(__file__).parent) / "player.py"
        done = subprocess.run(
            [self.python, str(script)], input=json.dumps(wanted), capture_output=True, text=True, timeout=400,
            env=env, cwd="/", check=False, **who,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


def public_interpreter() -> str:
    """Return an interpreter of our version that any user can run; skip the test where there is none."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (os.path.realpath(sys.executable), f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            user = NOBODY if os.geteuid() == 0 else None
            subprocess.run([path, "-I", "-c", ""], user=user, check=True, capture_output=True)
            return path
    pytest.skip(f"needs a {name} that an ordinary user can run")


def make_library() -> Path:
    """Copy what the worker's side imports to where every user can read it."""
    folder = Path(tempfile.mkdtemp(prefix="stage-"))
    for module in (scalebox, msgspec):
        source = Path(module.__file__ or "").parent
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    shutil.copy(Path(__file__).with_name("player.py"), folder)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    return folder
