"""The files of a problem package, from a folder or a zip: read when asked for, bounded, never from outside.

A package comes from anywhere. Nothing of it is unpacked or written: what is read are bytes in memory.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB

MAX_FILES = 50_000
MAX_FILE_BYTES = 128 * MIB
#: All that is read of one package.
MAX_BYTES = 1024 * MIB
MAX_DEPTH = 32
#: Hidden files that mean something; `.git` and its like are passed over.
_HIDDEN = frozenset({".timelimit"})

_END = struct.Struct("<4s4H2LH")
_END_MARK, _ZIP64_MARK = b"PK\5\6", b"PK\6\7"
_MOST_COMMENT = 65_535
_MOST_DIRECTORY = 64 * MIB
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Files(ABC):
    """The files of a package by name, a relative path with slashes; `label` is what messages call the package."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._read_bytes = 0
        self._under = ""

    @property
    @abstractmethod
    def _sizes(self) -> Mapping[str, int]:
        """The size of each file, by its whole name."""

    @abstractmethod
    def _data(self, name: str, limit: int) -> bytes:
        """Return the first `limit` bytes of a file. Raises OSError, or what the zip's decoder raises."""

    def enter(self, folder: str) -> None:
        """Let names be those below `folder` from now on."""
        self._under += f"{folder}/"

    def names(self, under: str = "") -> list[str]:
        """Return the names of all files below a folder, sorted; of all there are for ""."""
        start = self._under + (f"{under}/" if under else "")
        return sorted(name[len(self._under) :] for name in self._sizes if name.startswith(start))

    def __contains__(self, name: str) -> bool:
        return self._under + name in self._sizes

    def name(self) -> str:
        """Return the package's name: that of its folder, or of its zip."""
        return self.place("").rstrip("/").rsplit("/", 1)[-1].removesuffix(".zip")

    def place(self, name: str) -> str:
        """Return what messages call a file."""
        return f"{self.label}/{self._under}{name}"

    def read(self, name: str) -> bytes:
        """Return a file's bytes. Raises InputError where there is none, or it is too much."""
        size = self._sizes.get(self._under + name)
        if size is None:
            raise InputError("no such file in the package", source=self.place(name))
        if size > MAX_FILE_BYTES:
            raise InputError(f"more than {MAX_FILE_BYTES // MIB} MiB", source=self.place(name))
        left = min(MAX_FILE_BYTES, MAX_BYTES - self._read_bytes)
        try:
            data = self._data(self._under + name, left + 1)
        except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile, struct.error) as error:
            raise InputError(f"cannot be read: {_reason(error)}", source=self.place(name)) from None
        self._read_bytes += len(data)
        if len(data) > left:
            raise InputError(f"the package holds more than {MAX_BYTES // MIB} MiB", source=self.place(name))
        return data

    def text(self, name: str) -> str:
        """Return a file's text. Raises InputError where it is no UTF-8."""
        try:
            return self.read(name).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 at byte {error.start + 1}", source=self.place(name)) from None


def open_files(path: str) -> Files:
    """Return the files of the folder or zip at `path`. Raises InputError."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {_reason(error)}", source=path) from None
    if stat.S_ISDIR(mode):
        return _Folder(path)
    if stat.S_ISREG(mode):
        with open(path, "rb") as file:
            return Zip(path, file.read(MAX_BYTES + 1))
    raise InputError("is no folder and no zip", source=path, mend="give the folder of a problem package, or its zip")


def folder_of(path: str) -> Files:
    """Return the files of a folder, or the one file at `path` as such. Raises InputError."""
    if os.path.isfile(path):
        return _Folder(os.path.dirname(path) or ".", only=os.path.basename(path))
    return open_files(path)


class _Folder(Files):
    def __init__(self, path: str, only: str = "") -> None:
        super().__init__(path.rstrip("/") or "/")
        self._root = Path(os.path.realpath(path))
        self._found: dict[str, int] = {}
        self._paths: dict[str, Path] = {}
        self._seen = 0
        if only:
            self._paths[only] = self._root / only
            self._found[only] = self._paths[only].stat().st_size
            return
        for name, where in self._walk(self._root, ""):
            self._found[name] = where.stat().st_size
            self._paths[name] = where

    @property
    def _sizes(self) -> Mapping[str, int]:
        return self._found

    def _walk(self, folder: Path, under: str) -> Iterator[tuple[str, Path]]:
        if under.count("/") > MAX_DEPTH:
            raise InputError(f"folders nested more than {MAX_DEPTH} deep", source=self.place(under))
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            raise InputError(f"cannot be read: {_reason(error)}", source=self.place(under)) from None
        # Folders count too: a few links make paths without number.
        self._seen += len(entries)
        if self._seen > MAX_FILES:
            raise InputError(f"more than {MAX_FILES} files", source=self.label)
        for entry in entries:
            if entry.name.startswith(".") and entry.name not in _HIDDEN:
                continue
            # A name that is no UTF-8 is shown with its bytes written out: nothing could carry it as it is.
            name = under + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
            # A link is as good as what it leads to, within the package; a loop of links ends at MAX_DEPTH.
            where = self._within(Path(entry.path), name) if entry.is_symlink() else Path(entry.path)
            mode = where.stat().st_mode
            if stat.S_ISDIR(mode):
                yield from self._walk(where, f"{name}/")
            elif stat.S_ISREG(mode):
                yield name, where
            else:
                raise InputError("is no file and no folder", source=self.place(name))

    def _within(self, link: Path, name: str) -> Path:
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            raise InputError("is a link that leads nowhere", source=self.place(name)) from None
        if not target.is_relative_to(self._root):
            raise InputError("is a link that leads out of the package", source=self.place(name))
        return target

    def _data(self, name: str, limit: int) -> bytes:
        # What was a file may be another by now: no link is followed, no pipe waited for.
        with open(os.open(self._paths[name], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(limit)


class Zip(Files):
    """The files of a zip that is in memory, such as the archive of tests inside a package."""

    def __init__(self, label: str, data: bytes) -> None:
        super().__init__(label)
        if len(data) > MAX_BYTES:
            raise InputError(f"more than {MAX_BYTES // MIB} MiB", source=label)
        _check_directory(label, data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, struct.error) as error:
            raise InputError(f"is no zip that can be read: {_reason(error)}", source=label) from None
        self._infos: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            if not info.is_dir():
                self._add(info)

    @property
    def _sizes(self) -> Mapping[str, int]:
        return {name: info.file_size for name, info in self._infos.items()}

    def _add(self, info: zipfile.ZipInfo) -> None:
        name, place = info.filename, f"{self.label}/{info.filename!r}"
        parts = name.split("/")
        if "\\" in name or "\0" in name or any(part in ("", ".", "..") for part in parts):
            raise InputError("is no name within the package", source=place)
        if len(parts) > MAX_DEPTH:
            raise InputError(f"folders nested more than {MAX_DEPTH} deep", source=place)
        mode = info.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise InputError("is a link or a device", source=place, mend="put the file itself into the zip")
        if info.flag_bits & 1:
            raise InputError("is encrypted", source=place)
        if info.compress_type not in _COMPRESSIONS:
            raise InputError("is compressed in another way than deflate", source=place)
        if name in self._infos:
            raise InputError("is in the zip twice", source=place)
        if any(part.startswith(".") and part not in _HIDDEN for part in parts) or parts[0] == "__MACOSX":
            return
        self._infos[name] = info

    def _data(self, name: str, limit: int) -> bytes:
        with self._zip.open(self._infos[name]) as file:
            return file.read(limit)


def _check_directory(label: str, data: bytes) -> None:
    """Refuse a zip whose table of contents is out of all proportion, before it is read. Raises InputError."""
    at = data.rfind(_END_MARK, max(0, len(data) - _END.size - _MOST_COMMENT))
    if at < 0 or at + _END.size > len(data):
        raise InputError("is no zip", source=label, mend="give the folder of a problem package, or its zip")
    _, _, _, _, entries, size, _, _ = _END.unpack_from(data, at)
    if entries > MAX_FILES or size > _MOST_DIRECTORY or data[max(0, at - 20) : at].startswith(_ZIP64_MARK):
        raise InputError(f"more than {MAX_FILES} files", source=label)


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
