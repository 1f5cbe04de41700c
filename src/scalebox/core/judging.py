"""What passes between a judging protocol and whatever runs judge programs for it: one is pure, the other is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from scalebox.core.verdicts import Verdict


class JudgeRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a judge program: words of its command line, files of its working directory, its standard input.

    `collect` are paths below the working directory whose files are wanted afterwards; the folders that they are in are
    made before. With `arguments` (encoded by core.values), a function of the program is called instead.
    """

    argv: tuple[str, ...] = ()
    files: Mapping[str, bytes] = {}
    stdin: bytes = b""
    collect: tuple[str, ...] = ()
    arguments: bytes | None = None


class JudgeEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How such a run ended; all texts and files are as hostile as what the judge had to read.

    `fault` says why it did not end by itself (a signal, a limit, an exception); "" where the exit code is its answer.
    `doubt` is the verdict where that was not its own doing: the sandbox was lost, or the machine too busy. `files` are
    those asked for that are there, `cut` the names of those that are larger than what is kept. `value` is what the
    function returned, encoded.
    """

    exit_code: int | None = None
    fault: str = ""
    doubt: Verdict | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    files: Mapping[str, bytes] = {}
    cut: frozenset[str] = frozenset()
    value: bytes | None = None


class Runner(Protocol):
    """Runs one judge program."""

    def run(self, runs: Sequence[JudgeRun]) -> list[JudgeEnd]:
        """Make these runs, each fresh, and return how they ended, in order."""
        ...
