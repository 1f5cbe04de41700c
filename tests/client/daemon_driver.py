"""Forks N processes that all verify a sample by the node's daemon at once: `python daemon_driver.py N IDLE_S`."""

from __future__ import annotations

import os
import socket
import struct
import sys

import aiohttp  # noqa: F401  so that the children need not
import msgpack  # noqa: F401

from scalebox import ScaleBoxClient, Settings
from scalebox.client.daemon import Daemon


def peer(path: str) -> int:
    """Return the process that listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(path)
        credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[0])


def main() -> None:
    settings = Settings(workers=1, client_retry_s=240.0, daemon_idle_s=float(sys.argv[2]))
    children = []
    for number in range(int(sys.argv[1])):
        child = os.fork()
        if child == 0:
            with ScaleBoxClient("auto", settings=settings) as client:
                batch = client.submit(f"s-{number}", f"print({number})", [{"stdin": "", "stdout": f"{number}"}])
                (result,) = client.fetch(batch, timeout=240)
            os.write(1, f"{result.verdict.value} {peer(Daemon(settings).address.socket)}\n".encode())
            os._exit(0)
        children.append(child)
    sys.exit(max(os.waitpid(child, 0)[1] for child in children))


if __name__ == "__main__":
    main()
