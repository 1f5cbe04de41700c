"""Captured bytes as text that may be shown: bounded, marked where cut, without paths of this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalebox.sandbox.linux.owner import PREFIX

#: The scratch folder of a jail without a tree of its own: without it, what is below has the names of a jail with one.
_SCRATCH = re.compile(rf"(?:/[\w.-]+)*/{PREFIX}n\d+-\d+-\d+-\w+")


def shown(data: bytes, limit: int, prefixes: Sequence[str] = ()) -> str:
    """Decode `data`, cut after `limit` bytes; paths below the interpreter's `prefixes` become `<python>`.

    Paths below a jail's scratch folder begin there.
    """
    text = data[:limit].decode("utf-8", "replace")
    for prefix in prefixes:
        if prefix in text:
            text = text.replace(prefix, "<python>")
    if PREFIX in text:
        text = _SCRATCH.sub("", text)
    return text if len(data) <= limit else f"{text}\n[cut: {len(data) - limit} more bytes]"
