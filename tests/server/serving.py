"""A real server on a port of the system's choice, in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from scalebox.server.app import build_app
from scalebox.server.context import Context


@contextmanager
def serving(context: Context) -> Iterator[str]:
    """Yield the address of a server over `context`; it has ended when this returns."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(build_app(context), log_level="warning", lifespan="off", timeout_graceful_shutdown=10)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        context.draining = True
        server.should_exit = True
        thread.join(60)
        listener.close()
