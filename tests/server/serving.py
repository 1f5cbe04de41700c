"""An application on a port of the system's choice, in a thread: for tests that need no engine behind it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def listening(app: Any, drain: Callable[[], None]) -> Iterator[str]:
    """Yield the address of `app`; `drain` is called to end its streams, and it has ended when this returns."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=10)
    )
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]), name="test-server")
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        drain()
        server.should_exit = True
        thread.join(60)
        listener.close()
        assert not thread.is_alive()
