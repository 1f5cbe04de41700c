"""Who asks: bearer tokens, or, where the server is reached on this machine alone, nobody in particular.

Without a file of tokens everybody is the operator `local`. That holds only for connections to a loopback address or a
Unix socket, which is told by the address of the server's own socket and never by anything in the request.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.exceptions import NotAuthorizedException, PermissionDeniedException
from litestar.types import ASGIApp, Receive, Scope, Send

from scalebox.server import principal
from scalebox.server.audit import record
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.principal import Principal

#: Routes for everybody have this in their `opt`, such as probes of health.
OPEN = "open_to_all"

_PORT = re.compile(r":\d*\Z")

#: How many wrong tokens an address may show within so many seconds before it is told to wait; and all of them together.
WRONG_TOKENS, ALL_WRONG_TOKENS, WINDOW_S = 20, 200, 60.0
_MOST_ADDRESSES = 10_000
#: Hosts whose kind is known without another look: nearly every request has the same.
_REMEMBERED = 32


def authentication(context: Context) -> Callable[[ASGIApp], ASGIApp]:
    """Return the middleware that sets `request.user`, None where a route is open to all and no token is right."""
    attempts = Attempts()

    def middleware(app: ASGIApp) -> ASGIApp:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] in (ScopeType.HTTP, ScopeType.WEBSOCKET):
                scope["user"] = _user(scope, context, attempts)
            await app(scope, receive, send)

        return wrapped

    return middleware


def _user(scope: Scope, context: Context, attempts: Attempts) -> Principal | None:
    headers = ASGIConnection[Any, Any, Any, Any](scope).headers
    if context.tokens is None:
        server, host = scope.get("server"), headers.get("host", "")
        if is_local(server) and not is_rebound(server, host) and not is_cross_site(server, host, headers.get("origin")):
            return principal.LOCAL
        refuse_login(context, scope, "no tokens are set")
        raise PermissionDeniedException(
            "without tokens, the server answers this machine alone, and no page of another site"
        )
    header = headers.get("authorization", "")
    # A right token is let in from any address: otherwise whoever shares one with a trainer could lock it out.
    if (found := context.tokens.find(token_in(header))) is not None:
        return found
    if is_open(scope):
        return None
    wait_s, missed = attempts.wrong(address_of(scope), time.monotonic())
    if wait_s:
        raise Refused(429, "too many wrong tokens from this address", mend="wait", retry_after_s=wait_s)
    reason = "wrong token" if header else "no token"
    refuse_login(context, scope, reason, **({"refused_unrecorded": missed} if missed else {}))
    raise unauthorized(reason)


def token_in(header: str) -> str:
    """Return the token that a header shows; as a password, too, for clients that take nothing but a URL."""
    scheme, _, shown = header.partition(" ")
    if scheme.lower() == "bearer":
        return shown.strip()
    if scheme.lower() != "basic":
        return ""
    with contextlib.suppress(ValueError):
        return base64.b64decode(shown.strip(), validate=True).decode().partition(":")[2]
    return ""


def unauthorized(reason: str) -> NotAuthorizedException:
    """Return the answer to a request without a right token."""
    error = "" if reason == "no token" else ', error="invalid_token"'
    return NotAuthorizedException(
        f"{reason}: send Authorization: Bearer and a token",
        headers={"WWW-Authenticate": f'Bearer realm="scalebox"{error}'},
    )


def refuse_login(context: Context, scope: Scope, reason: str, **more: Any) -> None:
    """Record that a request was refused, which it is whether that can be recorded or not."""
    with contextlib.suppress(Refused):
        record(
            context, "login_refused", reason=reason, address=address_of(scope), method=scope.get("method", ""),
            path=scope["path"][:200], **more,
        )  # fmt: skip


def is_open(scope: Scope) -> bool:
    """Return whether the route of a request is open to all."""
    handler = scope.get("route_handler")
    return handler is not None and bool(handler.opt.get(OPEN))


def is_local(server: Any) -> bool:
    """Return whether the server's end of a connection is a loopback address, or no network address at all."""
    return _is_loopback(server[0] if server else "")


@lru_cache(_REMEMBERED)
def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return True  # a Unix socket's path, or a test in this process: sockets of a network have addresses
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_rebound(server: Any, host: str) -> bool:
    """Return whether a browser on this machine was led here by a name that somebody else has pointed at it."""
    name = _PORT.sub("", host).strip("[]")
    return _is_address(server[0] if server else "") and name != "localhost" and not _is_address(name)


def is_cross_site(server: Any, host: str, origin: str | None) -> bool:
    """Return whether a page of somebody else's has a browser on this machine ask.

    It could not read the answer, but have programs run: browsers ask first only where a request is out of the ordinary,
    and say the page's origin with every POST.
    """
    return _is_address(server[0] if server else "") and origin is not None and origin.partition("://")[2] != host


@lru_cache(_REMEMBERED)
def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def address_of(scope: Scope) -> str:
    """Return the client's address, or the network of an IPv6 one, in which it has addresses without end."""
    client = scope.get("client")
    try:
        address = ipaddress.ip_address(client[0] if client else "")
    except ValueError:
        return "local"
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address)


class Attempts:
    """Counts wrong tokens by address, in bounded memory. It bounds what refusals cost and write, not guessing."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, int, int]] = OrderedDict()

    def wrong(self, address: str, now: float) -> tuple[float, int]:
        """Count one; return the seconds to wait (0: answer it), and how many before were not answered."""
        wait_s, missed = self._count(address, now, WRONG_TOKENS)
        if not wait_s:
            wait_s, _ = self._count("", now, ALL_WRONG_TOKENS)
        return wait_s, missed

    def _count(self, key: str, now: float, most: int) -> tuple[float, int]:
        begun, count, missed = self._seen.pop(key, (now, 0, 0))
        if now - begun >= WINDOW_S:
            begun, count = now, 0
        over = count >= most
        self._seen[key] = (begun, count + 1, missed + 1 if over else 0)
        if len(self._seen) > _MOST_ADDRESSES:
            self._seen.popitem(last=False)
        return (max(1.0, WINDOW_S - (now - begun)), 0) if over else (0.0, missed)

    def __len__(self) -> int:
        return len(self._seen)
