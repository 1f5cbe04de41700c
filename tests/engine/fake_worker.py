"""A worker that does as each sample's code says, in place of one that verifies; started like the real one."""

from __future__ import annotations

import argparse
import os
import select
import signal
import socket
import sys
from pathlib import Path

from scalebox.core import wire
from scalebox.core.errors import SandboxError
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict
from scalebox.schedule.serve import Watch, refuse, serve


class Script:
    """Commands are lines of a sample's code: a verb and, for some, a path. A verb with no method does nothing."""

    tier = "none"

    def attempt(
        self, sample: Sample, watch: Watch, *, soft_s: float, again: wire.Again | None
    ) -> tuple[VerificationResult, str, list[int]]:
        self.sample, self.watch, self.soft_s, self.again = sample, watch, soft_s, again
        self.doubtful: list[int] = []
        self.verdict, self.stdout = Verdict.PASSED, ""
        for line in (sample.code or "").splitlines():
            verb, _, path = line.partition(" ")
            getattr(self, f"on_{verb}", lambda _: None)(path)
        cases = [CaseResult(id=test.id, verdict=self.verdict, stdout=self.stdout, wall_s=0.5) for test in sample.tests]
        return (
            VerificationResult(id=sample.id, verdict=self.verdict, cases=cases, tier=self.tier),
            "code",
            self.doubtful,
        )

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        """Nothing is left."""

    def on_fail(self, _: str) -> None:
        self.verdict = Verdict.OUTPUT_MISMATCH

    def on_doubt(self, _: str) -> None:
        """Leave all tests in doubt, once."""
        if self.again is None:
            self.verdict, self.doubtful = Verdict.UNKNOWN, list(range(len(self.sample.tests)))

    def on_note(self, path: str) -> None:
        with open(path, "ab", buffering=0) as file:  # one line for each run, whole even when several write
            file.write(f"{self.sample.id} {os.getpid()}\n".encode())

    def on_die(self, _: str) -> None:
        os._exit(7)

    def on_die_once(self, path: str) -> None:
        if not Path(path).exists():
            Path(path).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def on_raise(self, _: str) -> None:
        raise RuntimeError("the verifier is broken")

    def on_await(self, path: str) -> None:
        """Wait until the test opens the gate, or the sample is cancelled."""
        if not await_fifo(path, self.watch):
            self.verdict = Verdict.UNKNOWN

    def on_tell(self, path: str) -> None:
        Path(path).write_text("here")

    def on_deaf(self, _: str) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        select.select([], [], [])

    def on_huge(self, _: str) -> None:
        self.stdout = "x" * 20_000_000

    def on_surrogate(self, _: str) -> None:
        self.stdout = "a\ud800b"

    def on_rubbish(self, _: str) -> None:
        os.write(self.watch.fileno(), b"\xff" * 64)

    def on_shout(self, _: str) -> None:
        print("x" * 1_000_000, file=sys.stderr)


def await_fifo(path: str, watch: Watch) -> bool:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while not watch.cancelled():
            ready, _, _ = select.select([watch.fileno(), fd], [], [])
            if fd in ready and os.read(fd, 1):
                return True
        return False
    finally:
        os.close(fd)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--start", default="well")
    for name in ("--channel", "--config-fd", "--core"):
        parser.add_argument(name, type=int)
    given = parser.parse_args()
    channel = socket.socket(fileno=given.channel)
    if given.start == "crash":
        sys.exit("this worker is broken")
    if given.start == "sandbox":
        refuse(channel, SandboxError("no namespaces here", step="unshare", errno=1, mend="allow them"))
        return
    if given.start == "mute":
        select.select([], [], [])
    serve(channel, Script())


if __name__ == "__main__":
    main()
