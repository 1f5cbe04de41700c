"""Files of a program in a jail: how they come in, and how those that a build made go out.

Sent into the jail and run there by its interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
import struct
from typing import Any

from scalebox.core import values

#: Bytes of a compiler's words that are handed out: an answer is one message.
MOST_LOG = 8000


def write(files: dict[str, Any], folder: str, source: int) -> list[str]:
    """Write files below `folder`; return their paths, and those of the folders that were made for them.

    What is in them are bytes, or offset and size in the file `source`.
    """
    made = []
    for name, data in files.items():
        path = os.path.join(folder, name)
        above = os.path.dirname(path)
        while above != folder and above not in made:
            made.append(above)
            above = os.path.dirname(above)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb", opener=_create) as file:
            if isinstance(data, bytes):
                file.write(data)
            else:
                _copy(source, data[0], data[1], file.fileno())
        made.append(path)
    return made


def _create(path: str, flags: int) -> int:
    """Open a new file that can be run: where a jail shares its user with strangers, modes cannot be changed later."""
    return os.open(path, flags, 0o755)


def environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, **{name: text.replace("{tmp}", os.environ["TMPDIR"]) for name, text in more.items()}}


def _copy(source: int, at: int, size: int, target: int) -> None:
    while size:
        done = os.sendfile(target, source, at, size)
        if not done:
            raise OSError(errno.EIO, "the built program is cut short")
        at += done
        size -= done


def pack(patterns: list[str], most: int, fd: int) -> dict[str, Any]:
    """Write the regular files below the working directory that match to the descriptor `fd`, and close it.

    Their sizes by name come first, in the encoding of `core.values`, with the length of that before it. Answers {"ok"},
    or a message where the files have more than `most` bytes.
    """
    found: dict[str, int] = {}
    size = 0
    for path in sorted({path for pattern in patterns for path in glob.glob(pattern, recursive=True)}):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            continue
        size += os.lstat(path).st_size
        if size > most:
            return {"ok": False, "message": "the built program is larger than %d MiB" % (most >> 20)}
        found[path] = os.lstat(path).st_size
    index = values.encode(found)
    with open(fd, "wb") as out:
        out.write(struct.pack("<I", len(index)) + index)
        for path in found:
            with open(path, "rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)
    return {"ok": True}


def words(log: bytes) -> str:
    """Return what a compiler said, without the name of the scratch folder: it says the same in every tier."""
    root = os.path.dirname(os.getcwd())
    text = log.decode("utf-8", "replace")
    return text if root == "/" else text.replace(root, "")
