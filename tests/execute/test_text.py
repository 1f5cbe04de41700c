"""Texts that may be shown: bounded, and without paths of this machine."""

from __future__ import annotations

import pytest

from scalebox.execute.text import shown
from scalebox.sandbox.linux import owner


def test_what_is_too_long_is_cut_and_marked() -> None:
    assert shown(b"abcdef", 4) == "abcd\n[cut: 2 more bytes]"


def test_the_interpreter_is_not_told() -> None:
    assert shown(b"at /opt/py/lib/x.py", 99, ("/opt/py",)) == "at <python>/lib/x.py"


@pytest.mark.parametrize("folder", ["/run/tmp", "/var/lib/my-tmp.d", ""])
def test_a_scratch_folder_is_not_told(folder: str) -> None:
    scratch = f"{folder}/{owner.tagged('277g1ba7')}"
    text = f"no Go files in {scratch}/work, nor in ({scratch}/shm/x.go:3)"
    assert shown(text.encode(), 999) == "no Go files in /work, nor in (/shm/x.go:3)"


def test_other_paths_are_left_alone() -> None:
    text = "see /usr/share/scalebox-data and /srv/scalebox-news/n1"
    assert shown(text.encode(), 999) == text
