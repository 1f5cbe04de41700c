"""Folders of this user's own, in which nobody else can put anything."""

from __future__ import annotations

import os
import stat


def make_own(folder: str) -> bool:
    """Make a folder where it is not there; return whether it is this user's, and nobody else can write to it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
