"""What the tests' side leaves for the worker: frames in a file, and a board that says how far it has come.

Nobody reads either while the tests run. The file of frames is a regular file or memory file (a write never waits), and
holds `u32 length, values.encode(tuple)` one after another:

    ("sites", [(kind, text), ...])             what can be a case: kinds as in rewrite.py, "" of the set-up
    ("passed", first, [site, ...], [ns, ...], cpu_s)   cases first, first + 1, … passed: wall time each, CPU time of all
    ("case", name, status, detail, text, cpu_s, wall_s)   status: one of STATUSES
    ("expected", [name, ...])                  named cases that are about to run
    ("began", name)                            a named case began
    ("ended", reason, detail, [site, ...])     last of the item; sites of asserts that were not reached

Passed cases are written a few milliseconds late at most, all else at once. The board makes up for that: every numbered
case that is counted there and has no frame has passed. It is shared memory of at least 64 bytes, native 64-bit words:

    0  how many numbered cases have ended: the one with this number is running
    1  when that was (or the tests began), time.monotonic_ns()
    2  CPU ns of tests and solution together, some time not long before
    3  1 + the site that began last, or 0
    64 … one byte for each site: not 0 once it ran

Writing runs inside the jail (standard library alone, Python 3.8 syntax); `report` is the worker's side of it.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from typing import Any, Callable, ClassVar, NamedTuple, Sequence

from scalebox.core import values

MAX_BYTES = 8 << 20
BOARD_BYTES = 4096
SITES_AT = 64
_TEXT_BYTES = 64 << 10  # of the texts of all sites together
_LENGTH = struct.Struct("<I")
_FLUSH_NS = 2_000_000
#: "failed": an assertion was false; "error": an exception; "refused", "memory": the solution met what the sandbox
#: forbids, or ran out of memory; "over": passed over, since it ended an earlier run.
STATUSES = ("passed", "failed", "error", "refused", "memory", "skipped", "over")


class Frames:
    """Frames on their way out. `fd` is the file, `board` the shared memory's descriptor or -1.

    `peer` is the process id of the solution, whose CPU time counts too, or 0.
    """

    def __init__(self, fd: int, board: int = -1, peer: int = 0) -> None:
        self._fd = fd
        self._clock = (~peer << 3) | 2 if peer else 0  # the kernel's number for another process's CPU clock
        memory = mmap.mmap(board, os.fstat(board).st_size) if board >= 0 else bytearray(BOARD_BYTES)
        self.seen = memoryview(memory)[SITES_AT:]
        self.board = memoryview(memory)[:SITES_AT].cast("Q")
        self.written = 0
        self._first = 0
        self._sites: list[int] = []
        self._walls: list[int] = []
        self._cpu = self.cpu()
        self._flushed = self.board[1] = time.monotonic_ns()
        self.board[2] = self._cpu

    def cpu(self) -> int:
        """Return the CPU nanoseconds of this process and the solution's."""
        total = time.process_time_ns()
        if self._clock:
            try:
                total += time.clock_gettime_ns(self._clock)
            except OSError:  # it has ended, or may not be asked
                self._clock = 0
        return total

    def passed(self, number: int, site: int, wall: int, now: int) -> None:
        """Record that the numbered case `number` passed."""
        if not self._sites:
            self._first = number
        self._sites.append(site)
        self._walls.append(wall)
        board = self.board
        board[1] = now
        board[3] = 0
        board[0] = number + 1
        if now - self._flushed > _FLUSH_NS:
            self.flush()

    def case(self, name: str, status: str, detail: str, text: str, wall: int, number: int = -1) -> None:
        """Record a case in words, at once. `number` is given where it is a numbered one."""
        spent = self._spent()
        # The CPU time since the last frame belongs to this case and the passed ones before it, by their wall time.
        share = wall / max(1, wall + sum(self._walls))
        before = self._run(spent * (1 - share))
        now = time.monotonic_ns()
        self._write(before, ("case", name, status, detail, text, spent * share / 1e9, wall / 1e9))
        self.board[1] = now
        self.board[3] = 0
        if number >= 0:
            self.board[0] = number + 1

    def put(self, *frame: Any) -> None:
        """Write one frame, and what is held back before it."""
        self._write(self._run(self._spent()), frame)

    def flush(self) -> None:
        if self._sites:
            self._write(self._run(self._spent()))

    def sites(self, sites: Sequence[tuple[str, str]]) -> None:
        left, shown = _TEXT_BYTES, []
        for kind, text in sites:
            left -= len(text)
            shown.append((kind, text if left >= 0 else ""))
        self.put("sites", shown)

    def _spent(self) -> int:
        now = self.cpu()
        spent, self._cpu = now - self._cpu, now
        self.board[2] = now
        return spent

    def _run(self, cpu: float) -> bytes:
        if not self._sites:
            return b""
        data = values.encode(("passed", self._first, self._sites, self._walls, cpu / 1e9))
        self._sites, self._walls = [], []
        return _LENGTH.pack(len(data)) + data

    def _write(self, data: bytes, frame: Any = None) -> None:
        if frame is not None:
            encoded = values.encode(frame)
            data += _LENGTH.pack(len(encoded)) + encoded
        self.written += len(data)
        self.emit(data)
        self._flushed = time.monotonic_ns()

    def emit(self, data: bytes) -> None:
        """Let encoded frames out."""
        while data:
            data = data[os.write(self._fd, data) :]


class Case(NamedTuple):
    """One case as the tests' side recorded it.

    `status` is one of STATUSES, "running" (when the tests were cut short) or "unreached".
    """

    name: str
    status: str
    detail: str = ""
    text: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0


class Report(NamedTuple):
    """All cases of an item, in order, and how it ended: `reason` is "" where it was cut short.

    Else "done", "stopped" (an exception ended it), "solution failed" (its module did not run, or lacks what is
    tested), "solution ended" (its process was lost), "task" (the test itself is at fault) or "toolchain" (it imports
    what is not installed).
    """

    cases: list[Case]
    reason: str
    detail: str


def report(data: bytes, board: bytes = b"") -> Report:
    """Read what a tests' side left.

    Total: what is malformed, and all that follows, is as if it had not been written.
    """
    return _Reading(data, board).report()


class _Reading:
    def __init__(self, data: bytes, board: bytes) -> None:
        self._board = board if len(board) >= SITES_AT else b""
        self._sites: list[tuple[str, str]] = []
        self._cases: list[Case] = []
        self._numbered = 0
        self._expected: dict[str, None] = {}
        self._began = ""
        self._ended: tuple[str, str, list[int]] | None = None
        try:
            self._read(data)
        except (ValueError, TypeError, LookupError, struct.error, ArithmeticError):
            self._ended = None

    def _read(self, data: bytes) -> None:
        at = 0
        while at + 4 <= len(data) and self._ended is None:
            (size,) = _LENGTH.unpack_from(data, at)
            if at + 4 + size > len(data):
                return
            kind, *rest = values.decode(data[at + 4 : at + 4 + size])
            at += 4 + size
            self._READERS[kind](self, *rest)

    def _read_sites(self, sites: list[tuple[str, str]]) -> None:
        self._sites = [(str(kind), str(text)) for kind, text in sites]

    def _read_passed(self, first: int, sites: list[int], walls: list[int], cpu: float) -> None:
        whole = max(1, sum(walls))
        for number, site, wall in zip(range(first, first + len(sites)), sites, walls):
            self._cases.append(Case(str(number), "passed", "", self._text(site), cpu * wall / whole, wall / 1e9))
        self._numbered = first + len(sites)

    def _read_case(self, name: str, status: str, detail: str, text: str, cpu: float, wall: float) -> None:
        if status not in STATUSES:
            raise ValueError(status)
        self._cases.append(Case(str(name), status, str(detail), str(text), float(cpu), float(wall)))
        if name == str(self._numbered):
            self._numbered += 1
        self._expected.pop(name, None)
        self._began = ""

    def _read_expected(self, names: list[str]) -> None:
        self._expected = dict.fromkeys(map(str, names))

    def _read_began(self, name: str) -> None:
        self._began = str(name)

    def _read_ended(self, reason: str, detail: str, unreached: list[int]) -> None:
        self._ended = str(reason), str(detail), [int(site) for site in unreached]

    _READERS: ClassVar[dict[str, Callable[..., None]]] = {
        "sites": _read_sites,
        "passed": _read_passed,
        "case": _read_case,
        "expected": _read_expected,
        "began": _read_began,
        "ended": _read_ended,
    }

    def _text(self, site: int) -> str:
        return self._sites[site][1] if 0 <= site < len(self._sites) else ""

    def report(self) -> Report:
        if self._ended is not None:
            reason, detail, unreached = self._ended
            if reason == "solution ended":
                self._add_running()
        else:
            reason, detail = "", ""
            self._add_unwritten()
            self._add_running()
            unreached = self._unseen()
        running = any(case.status == "running" for case in self._cases)
        number = self._numbered + running
        for offset, site in enumerate(unreached):
            self._cases.append(Case(str(number + offset), "unreached", "", self._text(site)))
        for name in self._expected:
            self._cases.append(Case(name, "unreached"))
        return Report(self._cases, reason, detail)

    def _word(self, index: int) -> int:
        return int(struct.unpack_from("=Q", self._board, 8 * index)[0]) if self._board else 0

    def _add_unwritten(self) -> None:
        for number in range(self._numbered, min(self._word(0), self._numbered + 100_000)):
            self._cases.append(Case(str(number), "passed"))
            self._numbered = number + 1

    def _add_running(self) -> None:
        if self._began:
            self._expected.pop(self._began, None)
            self._cases.append(Case(self._began, "running"))
        elif not self._expected:
            text = self._text(self._word(3) - 1) if self._word(3) else ""
            self._cases.append(Case(str(self._numbered), "running", "", text))

    def _unseen(self) -> list[int]:
        """Return the sites of asserts that had not run when the tests were cut short, the running one apart."""
        seen, running = self._board[SITES_AT:], self._word(3) - 1
        return [
            number
            for number, (kind, _) in enumerate(self._sites[: len(seen)])
            if kind == "assert" and not seen[number] and number != running
        ]
