"""What a jail reports of one run. Everything in it is measured or decided outside the program under test."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

#: How the run ended. `exited`: by itself, see exit_code and signal. `cpu`, `wall`, `output`: stopped at that
#: limit. `memory`: the kernel killed something of it for memory. `lost`: the jail was lost, for no reason seen.
Cause = Literal["exited", "cpu", "wall", "output", "memory", "lost"]


class Frame(msgspec.Struct, frozen=True):
    """A value that the program sent out; `data` is hostile, in the encoding of core.values."""

    index: int
    status: int
    data: bytes
    cpu_s: float
    wall_s: float


class Fault(msgspec.Struct, frozen=True):
    """The exception that ended the program, as the agent saw it: class, nearest builtin class, errno, file."""

    kind: str = ""
    builtin: str = ""
    errno: int = 0
    file: str = ""


class Outcome(msgspec.Struct, kw_only=True):
    """One run of one program. Times in seconds; `waited_s` is what a stopped program lost to others on the machine.

    `doubt` says why its end may be the fault of a busy machine, "" where it cannot be.

    `echo` is what came back on the descriptor on which a token had waited.
    """

    cause: Cause = "exited"
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    frames: list[Frame] = []
    broken_frames: bool = False
    echo: bytes = b""
    fault: Fault = Fault()
    denied: list[str] = []
    cpu_s: float = 0.0
    wall_s: float = 0.0
    waited_s: float = 0.0
    doubt: str = ""
    memory_bytes: int = 0

    @property
    def clean(self) -> bool:
        """Whether the program ended by itself, with exit code 0 and no signal."""
        return self.cause == "exited" and self.exit_code == 0 and self.signal is None


class Build(msgspec.Struct, kw_only=True):
    """What the build stage made of a sample. `message` says why there is nothing to run, where `ok` is false.

    `lost` says that the jail was lost, `starved` that others on the machine kept the build from coming to an end.

    `facts` are what the builder says beyond that; `tests` is the build of the tests, where they are built apart.
    """

    ok: bool
    message: str = ""
    line: int = 0
    column: int = 0
    stateless: bool = False
    why: str = ""
    lost: bool = False
    starved: bool = False
    seconds: float = 0.0
    facts: dict[str, Any] = {}
    tests: Build | None = None
