"""Requests to one server over pooled connections, tried again where that is safe."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from scalebox.client.address import Address
from scalebox.client.answers import MSGPACK, Answer, error_of
from scalebox.core.errors import InputError, ServerError

if TYPE_CHECKING:
    import aiohttp

_log = logging.getLogger(__name__)

_CONNECT_S = 10.0
#: Silence after which a stream is asked for again: its connection may be lost with nobody saying so.
_SILENCE_S = 90.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 5.0
#: A stream that breaks off earlier than this is as good as refused.
_SOON_S = 1.0
#: What a proxy says of a server that is not there.
_GATEWAY = (502, 503, 504)
#: The code of an answer of a server that is about to end, and will be followed by another.
_DRAINING = "draining"


class Http:
    """One server; lives on one event loop.

    A connection that is refused, reset or cut is tried again for `retry_s` seconds, with growing, random pauses, so
    every request must be one that may arrive twice. `revive` is awaited before each new try.
    """

    def __init__(
        self, address: Address, token: str, retry_s: float, revive: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._address = address
        self._token = token
        self._retry_s = retry_s
        self._revive = revive
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        wait_s: float = 0.0,
        answer_s: float = 60.0,
    ) -> Answer:
        """Return the answer to a request that may arrive twice, which is 2xx.

        A server that is busy (429, 503) is asked again as it says, for up to `wait_s` seconds. An answer that takes
        longer than `answer_s` is lost. Raises what the answer stands for, and ServerError.
        """
        give_up_at = time.monotonic() + wait_s
        patience = _Patience(self._retry_s, self._address, self._revive)
        while True:
            try:
                async with self._open(method, path, body, headers, answer_s) as response:
                    answer = await _read(response)
            except _lost_errors() as error:
                await patience.lose(error)
                continue
            if answer.status < 300:
                return answer
            problem, pause = answer.problem(), answer.retry_after_s
            if answer.status in _GATEWAY and problem.code in ("", _DRAINING):
                await patience.lose(ServerError(f"it answered {answer.status}: {problem.message}"))
                continue
            if answer.status not in (429, 503) or pause is None or time.monotonic() + pause > give_up_at:
                raise error_of(answer.status, problem)
            patience.restore()
            await asyncio.sleep(pause * random.uniform(1.0, 1.1))  # noqa: S311 - no secret

    async def stream(self, path: str, headers: Callable[[], Mapping[str, str]]) -> AsyncGenerator[bytes, None]:
        """Yield the pieces of a GET's answer without end: the caller knows the last one.

        A stream that breaks off, or says nothing for a while, is asked for again, with what `headers` says then.
        Raises what a refusal stands for, and ServerError.
        """
        patience = _Patience(self._retry_s, self._address, self._revive)
        while True:
            opened: float | None = None
            try:
                async with self._open("GET", path, None, headers(), _SILENCE_S) as response:
                    if response.status >= 300:
                        answer = await _read(response)
                        if answer.status == 429 or answer.status in _GATEWAY:
                            raise ConnectionResetError(f"it answered {answer.status}: {answer.problem().message}")
                        raise error_of(answer.status, answer.problem())
                    opened = time.monotonic()
                    async for piece in response.content.iter_any():
                        patience.restore()
                        yield piece
                raise ConnectionResetError("the stream ended early")
            except _lost_errors() as error:
                if opened is not None and time.monotonic() - opened > _SOON_S:
                    patience.restore()
                await patience.lose(error)

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str] | None, silence_s: float
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        session = self._session = self._session or _new_session(self._address, self._token)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=silence_s)
        async with session.request(
            method, self._address.base + path, data=body, headers=headers, timeout=timeout, allow_redirects=False
        ) as response:
            yield response


def _new_session(address: Address, token: str) -> aiohttp.ClientSession:
    import aiohttp

    # Who waits for a result holds a connection, so a bound would let waiting hold back submitting.
    connector = aiohttp.UnixConnector(address.socket, limit=0) if address.socket else aiohttp.TCPConnector(limit=0)
    headers = {"Accept": MSGPACK} | ({"Authorization": f"Bearer {token}"} if token else {})
    return aiohttp.ClientSession(connector=connector, headers=headers, cookie_jar=aiohttp.DummyCookieJar())


async def _read(response: aiohttp.ClientResponse) -> Answer:
    return Answer(response.status, response.content_type, await response.read(), _seconds(response.headers))


def _seconds(headers: Mapping[str, str]) -> float | None:
    try:
        return max(0.0, float(headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


class _Patience:
    """For how long, and how often, to try again; restored whenever the server was there."""

    def __init__(self, retry_s: float, address: Address, revive: Callable[[], Awaitable[None]] | None) -> None:
        self._retry_s = retry_s
        self._address = address
        self._revive = revive
        self.restore()

    def restore(self) -> None:
        self._give_up_at: float | None = None
        self._pauses = _pauses()

    async def lose(self, error: Exception) -> None:
        """Pause before the next try; raises an error that no try will mend, or ServerError after the last."""
        import aiohttp

        if isinstance(error, aiohttp.InvalidURL):
            raise InputError(f"{error} is no address", field="url") from None
        if isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorCertificateError):
            raise ServerError(f"{self._address} cannot be trusted: {error}") from None
        pause, now = next(self._pauses), time.monotonic()
        self._give_up_at = self._give_up_at or now + self._retry_s
        if now + pause > self._give_up_at:
            what = str(error) or type(error).__name__
            raise ServerError(f"{self._address} cannot be reached: {what} (tried for {self._retry_s:g} s)") from None
        _log.debug("%s: %r, tried again in %.2f s", self._address, error, pause)
        await asyncio.sleep(pause)
        if self._revive is not None:
            await self._revive()


def _lost_errors() -> tuple[type[Exception], ...]:
    import aiohttp

    return (aiohttp.ClientError, OSError)  # a time-out is an OSError


def _pauses() -> Iterator[float]:
    longest = _FIRST_PAUSE_S
    while True:
        yield random.uniform(longest / 2, longest)  # noqa: S311 - no secret
        longest = min(2 * longest, _LONGEST_PAUSE_S)


def need_aiohttp() -> None:
    """Raise InputError where what clients of a server need is not installed."""
    try:
        import aiohttp  # noqa: F401 - whether it is there
        import msgpack  # noqa: F401 - as above
    except ImportError as error:
        raise InputError(
            f"a server needs {error.name}, which is not installed", field="url", mend='pip install "scalebox[client]"'
        ) from None
