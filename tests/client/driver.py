"""Programs that hold a client, each run in a process of its own: `python driver.py NAME`."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalebox import ScaleBoxClient, Settings
from scalebox.client import asynchronous
from scalebox.core.events import Event, Sink, WorkerStarted
from scalebox.engine import Engine

FAKE = (sys.executable, "-P", str(Path(__file__).parents[1] / "engine" / "fake_worker.py"))


def build(settings: Settings, sinks: Sequence[Sink] = ()) -> Engine:
    """Make an engine with scripted workers, whose pids go to standard output."""

    def tell(event: Event) -> None:
        if isinstance(event, WorkerStarted):
            os.write(1, f"worker {event.pid}\n".encode())

    return Engine(settings, sinks=[tell, *sinks], command=FAKE)


def client() -> ScaleBoxClient:
    return ScaleBoxClient(settings=Settings(workers=2))


def record(code: str = "pass", **fields: Any) -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": [{"stdin": "", "stdout": ""}]} | fields


def verify(used: ScaleBoxClient) -> str:
    (result,) = used.fetch(used.submit_batch([record()]), timeout=60)
    return result.verdict.value


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def leave_open() -> None:
    """End without closing."""
    used = client()
    say(verify(used))


def drop() -> None:
    """Forget the client, and go on."""
    used = client()
    say(verify(used))
    del used
    for thread in threading.enumerate():
        if thread.name == "scalebox-engine":
            thread.join(60)
            say("engine ended" if not thread.is_alive() else "engine lives")


def wait_for_death() -> None:
    """Be killed while a sample runs."""
    used = client()
    say(verify(used))
    used.submit_batch([record(f"await {os.environ['GATE']}")])
    say("waiting")
    signal.pause()


def fork() -> None:
    """Use one client on both sides of a fork."""
    used = client()
    say(verify(used))
    pid = os.fork()
    if pid == 0:
        say(f"child {verify(used)}")
        used.close()
        os._exit(0)
    say(f"exit {os.waitpid(pid, 0)[1]}")
    say(verify(used))
    used.close()


def fork_and_die() -> None:
    """Be killed while a forked child, which does not use the client, lives on."""
    used = client()
    say(verify(used))
    if os.fork() == 0:
        signal.pause()
    say("waiting")
    signal.pause()


def daemonic() -> None:
    """Use a client in a daemonic process, and one from before the fork."""
    before = client()

    def work() -> None:
        say(verify(before))
        with client() as used:
            say(verify(used))

    process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    process.start()
    process.join(60)
    before.close()


def in_a_loop() -> None:
    """Use the synchronous client inside an event loop, and in threads of it."""

    async def work() -> None:
        with client() as used:
            say(verify(used))
            say(await asyncio.to_thread(verify, used))

    asyncio.run(work())


def interrupted() -> None:
    """Be interrupted while it fetches."""
    with client() as used:
        verify(used)
        batch = used.submit_batch([record(f"tell {os.environ['GATE']}\nawait {os.environ['GATE']}.2")])
        try:
            say("fetches")
            used.fetch(batch)
        except KeyboardInterrupt:
            say(f"interrupted {used.poll(batch)}")


if __name__ == "__main__":
    asynchronous._build_engine = build
    globals()[sys.argv[1]]()
