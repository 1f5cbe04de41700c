"""Where a server is, as users write it."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from scalebox.core.errors import InputError

AUTO = "auto"
_MEND = (
    'leave it out (or "embedded") for an engine in this process; "http://host:8080", "https://…" or '
    '"unix:///path.sock" for a server; "auto" for the daemon of this node'
)


class Address(NamedTuple):
    """A server: the URL that paths are put after, and its Unix socket ("" for TCP)."""

    base: str
    socket: str = ""

    def __str__(self) -> str:
        return f"unix://{self.socket}" if self.socket else self.base


def parse_address(url: str) -> Address:
    """Return the server that `url` names; raises InputError."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"{url!r} is no address: {error}", field="url", mend=_MEND) from None
    if parts.scheme == "unix" and not parts.netloc and len(parts.path) > 1:
        return Address("http://localhost", parts.path)
    if parts.scheme in ("http", "https") and host and not (parts.query or parts.fragment):
        if parts.username is not None or parts.password is not None:
            raise InputError("holds a user or a password", field="url", mend="give token=, or set SCALEBOX_TOKEN")
        return Address(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}")
    raise InputError(f"{url!r} is not supported", field="url", mend=_MEND)
