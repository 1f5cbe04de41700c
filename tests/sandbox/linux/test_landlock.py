"""Landlock rules: what they say for each ABI, and what they do when replayed."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from scalebox.sandbox.linux import landlock

WRITE_FILE, READ_FILE, MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK, REFER, TRUNCATE = (
    1 << 1,
    1 << 2,
    1 << 6,
    1 << 9,
    1 << 11,
    1 << 13,
    1 << 14,
)


@pytest.mark.parametrize(
    ("version", "words", "rights"),
    [(1, 1, 13), (2, 1, 14), (3, 1, 15), (4, 2, 15), (5, 2, 16), (6, 3, 16), (7, 3, 16), (99, 3, 16)],
)
def test_attributes_are_those_of_the_abi(version: int, words: int, rights: int) -> None:
    rules = landlock.rules([], [], version)
    assert json.loads(json.dumps(rules)) == rules
    attributes = struct.unpack(f"={words}Q", bytes.fromhex(rules["attr"]))
    assert rules["size"] == 8 * words
    assert attributes == ((1 << rights) - 1, 3, 3)[:words]


def test_without_landlock_there_are_no_rules() -> None:
    with pytest.raises(ValueError, match="no Landlock"):
        landlock.rules([], [], 0)


def test_masks_fit_what_the_path_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    paths = dict(landlock.rules([str(tmp_path), str(file)], ["/dev/null", "/not/here"], 6)["paths"])
    assert paths[str(tmp_path)] & (WRITE_FILE | TRUNCATE | REFER) == 0
    assert paths[str(file)] == 1 | READ_FILE
    assert paths["/dev/null"] & (MAKE_CHAR | REFER) == 0
    assert paths["/not/here"] & (REFER | TRUNCATE) == REFER | TRUNCATE
    assert paths["/not/here"] & (MAKE_CHAR | MAKE_BLOCK | MAKE_SOCK) == 0


REPLAY = """
import ctypes, errno, json, os, socket, struct, sys
rules, readable, writable, outside = json.loads(sys.argv[1])
syscall = ctypes.CDLL(None, use_errno=True).syscall
attr = bytes.fromhex(rules["attr"])
numbers = rules["syscalls"]
fd = syscall(numbers["create"], attr, ctypes.c_size_t(rules["size"]), 0)
assert fd >= 0
for path, mask in rules["paths"]:
    at = os.open(path, os.O_PATH)
    assert syscall(numbers["add"], fd, 1, struct.pack("=Qi", mask, at), 0) == 0, path
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
assert syscall(numbers["restrict"], fd, 0) == 0
def attempt(call, *args):
    try: call(*args)
    except OSError as error: return errno.errorcode[error.errno]
    return ""
def write(path): os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
def connect():
    with socket.socket() as s: s.connect(("127.0.0.1", 1))
print(json.dumps({
    "read": [attempt(open, readable + "/file"), attempt(open, outside + "/file"), attempt(open, "/dev/null", "w")],
    "write": [attempt(write, writable + "/new"), attempt(write, readable + "/new"),
              attempt(write, readable + "/file"), attempt(write, outside + "/new")],
    "truncate": attempt(os.truncate, readable + "/file", 0),
    "list": [attempt(os.listdir, readable), attempt(os.listdir, outside)],
    "signal": attempt(os.kill, os.getppid(), 0), "tcp": attempt(connect),
    "link": attempt(os.link, readable + "/file", writable + "/link"),
}))
"""


@pytest.mark.skipif(landlock.abi() < 1, reason="this kernel has no Landlock")
def test_replayed_rules_bind(tmp_path: Path) -> None:
    for name in ("readable", "writable", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    places = [str(tmp_path / name) for name in ("readable", "writable", "outside")]
    rules = landlock.rules([places[0], "/usr", sys.base_prefix], [places[1], "/dev/null"])
    done = subprocess.run(
        [sys.executable, "-c", REPLAY, json.dumps([rules, *places])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["read"] == ["", "EACCES", ""]
    assert seen["write"] == ["", "EACCES", "EACCES", "EACCES"]
    assert seen["list"] == ["", "EACCES"]
    version = landlock.abi()
    assert seen["link"] in ("EACCES", "EXDEV")
    assert seen["truncate"] == ("EACCES" if version >= 3 else "")
    assert seen["tcp"] == ("EACCES" if version >= 4 else "ECONNREFUSED")
    assert seen["signal"] == ("EPERM" if version >= 6 else "")
