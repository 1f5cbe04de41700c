"""The heads of requests, which anybody may send: bounded in size and time, which uvicorn leaves to a proxy."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Bytes of a request's first line and headers, beyond the piece that they begin in; seconds for all of them to come.
MOST_HEAD = 64 * 1024
HEAD_S = 60.0


class BoundedHeads(HttpToolsProtocol):
    """A connection that ends where a head is too long or too slow: no token was seen by then."""

    _timer: asyncio.TimerHandle | None = None
    _in_head = _began = False
    _head = 0

    def connection_made(self, transport: Any) -> None:
        """Give the first request its time."""
        super().connection_made(transport)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._drop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what is still part of a head."""
        self._began = False
        super().data_received(data)
        if self._in_head and not self._began:
            self._head += len(data)
            if self._head > MOST_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._in_head, self._began, self._head = True, True, 0
        self._set_timer()

    def on_headers_complete(self) -> None:
        """End a head."""
        self._in_head = False
        self._drop_timer()
        super().on_headers_complete()

    def _set_timer(self) -> None:
        self._drop_timer()
        self._timer = self.loop.call_later(HEAD_S, self.transport.close)

    def _drop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
