"""Bearer tokens: a file of clients, roles and hashes, which is read anew when it changes.

A token is 256 random bits, so there is nothing to guess and a plain SHA-256 keeps it: slow hashes are for secrets that
people choose. Only hashes are in the file. A client may have several tokens, so that one can be replaced without a gap.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import os
import re
import secrets
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence

import msgspec

from scalebox.core import file_lock
from scalebox.core.errors import InputError, SettingsError
from scalebox.server.principal import Principal, Role

PREFIX = "sbx_"
_TOKEN = re.compile(r"sbx_[A-Za-z0-9_-]{43}")
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST_NOTE = 200
#: Characters of a hash that name a token.
_ID = 12

_log = logging.getLogger(__name__)


class Token(msgspec.Struct, frozen=True):
    """One line of the file. `created` is UTC, as `2026-11-30T12:00:00Z`."""

    client: str
    role: Role
    hash: str
    created: str
    note: str = ""

    @property
    def id(self) -> str:
        """The name of the token, which tells nothing about it."""
        return self.hash[:_ID]


class TokenStore:
    """Finds out who a token belongs to. A file that cannot be used lets nobody in until it is mended."""

    def __init__(self, path: str) -> None:
        """Read the file; raises SettingsError where it is missing, broken, or open to other users."""
        self._path = path
        self._mutex = threading.Lock()
        self._seen = _stamp(path)
        self._tokens: Sequence[Token] = read_tokens(path)

    def find(self, token: str) -> Principal | None:
        """Return the client that has this token, None where nobody has."""
        digest = _hash(token)
        found = None
        for known in self._current():
            # All are compared, each in constant time: how long it takes tells nothing about what is in the file.
            if hmac.compare_digest(known.hash, digest):
                found = Principal(known.client, known.role)
        return found

    def _current(self) -> Sequence[Token]:
        stamp = _stamp(self._path)
        if stamp != self._seen:
            with self._mutex:
                if stamp != self._seen:
                    self._tokens = self._read()
                    self._seen = stamp
        return self._tokens

    def _read(self) -> Sequence[Token]:
        try:
            return read_tokens(self._path)
        except SettingsError as error:
            _log.error("no token is valid until this is mended: %s", error)
            return ()


def create_token(path: str, client: str, role: Role, note: str = "") -> str:
    """Add a token to the file, which is made where there is none, and return it: it can never be seen again.

    Raises InputError for a name that is none, and SettingsError for the file.
    """
    if not _CLIENT.fullmatch(client) or client == "local":
        mend = 'letters, digits, ".", "_" and "-", at most 64; "local" is who needs no token'
        raise InputError(f"{client!r} is no name of a client", field="client", mend=mend)
    if len(note) > _MOST_NOTE or not note.isprintable():
        raise InputError("is no note", field="note", mend=f"at most {_MOST_NOTE} characters on one line")
    token = PREFIX + secrets.token_urlsafe(32)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with _edited(path, make=True) as tokens:
        tokens.append(Token(client, role, _hash(token), created, note))
    return token


def revoke_tokens(path: str, *, token_id: str = "", client: str = "") -> list[Token]:
    """Take the tokens with an id, or all of a client, out of the file, and return them; raises SettingsError."""
    with _edited(path) as tokens:
        gone = [token for token in tokens if token.id == token_id or token.client == client]
        tokens[:] = [token for token in tokens if token not in gone]
    return gone


def read_tokens(path: str) -> list[Token]:
    """Return the tokens of a file. Raises SettingsError, which names file, line and field."""
    try:
        with open(path, "rb") as file:
            _check_owner(path, os.fstat(file.fileno()))
            lines = file.read().splitlines()
    except OSError as error:
        mend = "make one with scalebox token create" if isinstance(error, FileNotFoundError) else "check its path"
        raise SettingsError(f"server_tokens: {path}: {error.strerror} ({mend})") from None
    return [_token(line, f"server_tokens: {path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _token(line: bytes, place: str) -> Token:
    try:
        token = msgspec.json.decode(line, type=Token)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingsError(f"{place}: {error} (see scalebox token)") from None
    if not _CLIENT.fullmatch(token.client):
        raise SettingsError(f"{place}: client: {token.client!r} is no name of a client")
    if not re.fullmatch(r"[0-9a-f]{64}", token.hash):
        raise SettingsError(f"{place}: hash: must be the 64 hexadecimal digits of a SHA-256")
    return token


def _check_owner(path: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SettingsError(f"server_tokens: {path}: is no file")
    if status.st_mode & 0o077:
        raise SettingsError(f"server_tokens: {path}: other users may read or write it (chmod 600 {path})")
    if status.st_uid not in (os.geteuid(), 0):
        raise SettingsError(f"server_tokens: {path}: belongs to another user (chown it to the server's)")


@contextlib.contextmanager
def _edited(path: str, *, make: bool = False) -> Iterator[list[Token]]:
    """Give the tokens of a file to be changed, and replace it in one step; others who change it wait."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsError(f"server_tokens: {folder}: {error.strerror} (check the path)") from None
    try:
        with file_lock.held(lock):
            tokens = [] if make and not os.path.lexists(path) else read_tokens(path)
            yield tokens
            _replace(path, folder, b"".join(msgspec.json.encode(token) + b"\n" for token in tokens))
    finally:
        os.close(lock)


def _replace(path: str, folder: str, data: bytes) -> None:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".tokens-", delete=False) as file:  # its mode is 0600
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, path)
    except OSError as error:
        raise SettingsError(f"server_tokens: {path}: {error.strerror} (name a file that may be written)") from None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest() if _TOKEN.fullmatch(token) else ""


def _stamp(path: str) -> tuple[int, ...]:
    """Return what changes where a file is written or replaced; empty where it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
