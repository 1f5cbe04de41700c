"""Where the server listens."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import stat

from scalebox.core.errors import SettingsError
from scalebox.core.settings import Settings

_BACKLOG = 1024


def listen(settings: Settings) -> socket.socket:
    """Return a listening socket; raises SettingsError for a place that cannot be had, or not without tokens."""
    if settings.server_socket:
        return _unix(os.path.abspath(settings.server_socket))
    host, port = settings.server_host, settings.server_port
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise SettingsError(f"server_host: {host}: {error.strerror} (give an address of this machine)") from None
    if not settings.server_tokens and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise SettingsError(
            f"server_host: {host} can be reached from other machines, and no tokens are asked for (name their file as "
            "server_tokens, or listen on 127.0.0.1 or a Unix socket)"
        )
    try:
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except OSError as error:
        raise SettingsError(f"server_port: {host}:{port}: {os.strerror(error.errno or 0)} (choose another)") from None


def _unix(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    try:
        _remove_dead(path)
        mask = os.umask(0o177)  # for this user alone from the first moment on
        try:
            made.bind(path)
        finally:
            os.umask(mask)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise SettingsError(f"server_socket: {path}: {error.strerror or error} (choose another)") from None
    return made


def _remove_dead(path: str) -> None:
    """Remove the socket of a server that was killed."""
    if not os.path.lexists(path) or not stat.S_ISSOCK(os.lstat(path).st_mode):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)


def place_of(listener: socket.socket) -> str:
    """Return where a socket listens, as a URL."""
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix://{name}"
    host = f"[{name[0]}]" if listener.family == socket.AF_INET6 else name[0]
    return f"http://{host}:{name[1]}"


def close(listener: socket.socket, place: str) -> None:
    """Close a socket, if nobody has, and remove its file, unless another server has its own in its place by now."""
    listener.close()
    if place.startswith("unix://"):
        with contextlib.suppress(OSError):
            _remove_dead(place.removeprefix("unix://"))
