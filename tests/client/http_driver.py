"""Programs that hold a client of a server, each run in a process of its own: `python http_driver.py NAME URL`."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scalebox import ScaleBoxClient, Settings


def client() -> ScaleBoxClient:
    return ScaleBoxClient(sys.argv[2], settings=Settings(client_retry_s=120.0))


def record(code: str = "pass") -> dict[str, Any]:
    return {"id": "s", "code": code, "tests": [{"stdin": "", "stdout": ""}]}


def verify(used: ScaleBoxClient) -> str:
    (result,) = used.fetch(used.submit_batch([record()]), timeout=120)
    return result.verdict.value


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def _fork_and_wait(used: ScaleBoxClient) -> None:
    pid = os.fork()
    if pid == 0:
        say(f"child {verify(used)}")
        used.close()
        os._exit(0)
    say(f"exit {os.waitpid(pid, 0)[1]}")


def fork() -> None:
    """Use one client on both sides of a fork."""
    used = client()
    say(f"parent {verify(used)}")
    _fork_and_wait(used)
    say(f"parent {verify(used)}")
    used.close()


def fork_in_use() -> None:
    """Fork while threads use the client."""
    used = client()
    with ThreadPoolExecutor(4) as pool:
        busy = [pool.submit(verify, used) for _ in range(200)]
        _fork_and_wait(used)
        assert {one.result() for one in busy} == {"passed"}
    say(f"parent {verify(used)}")
    used.close()


def daemonic() -> None:
    """Use a client in a daemonic process, and one from before the fork."""
    before = client()
    verify(before)

    def work() -> None:
        say(verify(before))
        with client() as used:
            say(verify(used))

    process = multiprocessing.get_context("fork").Process(target=work, daemon=True)
    process.start()
    process.join(120)
    before.close()


def in_a_loop() -> None:
    """Use the synchronous client inside an event loop, and in threads of it."""

    async def work() -> None:
        with client() as used:
            say(verify(used))
            say(await asyncio.to_thread(verify, used))

    asyncio.run(work())


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
        if thread.name == "scalebox-client":
            thread.join(60)
            say("ended" if not thread.is_alive() else "lives")


def interrupted() -> None:
    """Be interrupted while it fetches."""
    with client() as used:
        batch = used.submit_batch([record("wait")])
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            used.fetch(batch)
        except KeyboardInterrupt:
            say(f"interrupted {used.poll(batch)}")
        timer.join()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
