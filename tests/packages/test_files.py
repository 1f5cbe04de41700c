"""Files of packages: bounded, from within, whatever the folder or the zip turns out to be."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.conftest import Write

from scalebox.core.errors import InputError
from scalebox.packages import files as module
from scalebox.packages.files import Zip, open_files


def zip_of(*entries: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("zipped", [False, True])
def test_folder_and_zip_are_read_alike(write: Write, zipped: bool) -> None:
    files = open_files(write({"data/sample/é.in": "ü", ".git/config": "x", ".timelimit": "2"}, zipped=zipped))
    assert files.names("data") == ["data/sample/é.in", "data/secret/1.ans", "data/secret/1.in"]
    assert files.text("data/sample/é.in") == "ü"
    assert ".timelimit" in files
    assert ".git/config" not in files
    assert files.name() == "twice"


def test_a_link_is_followed_within_the_package_alone(write: Write, tmp_path: Path) -> None:
    folder = Path(write())
    (folder / "data/sample").symlink_to("secret")
    (folder / "data/secret/2.in").symlink_to("1.in")
    files = open_files(str(folder))
    assert files.text("data/sample/1.in") == files.text("data/secret/2.in") == "1\n"
    for target in (tmp_path / "outside", Path("/etc/passwd"), folder / "nowhere", folder / "../outside"):
        (tmp_path / "outside").write_text("secret")
        link = folder / "data/secret/3.in"
        link.symlink_to(target)
        with pytest.raises(InputError, match=r"twice/data/\w+/3\.in: is a link that leads"):
            open_files(str(folder))
        link.unlink()


def test_what_became_a_link_since_is_not_followed(write: Write, tmp_path: Path) -> None:
    folder = Path(write())
    files = open_files(str(folder))
    (tmp_path / "outside").write_text("secret")
    (folder / "data/secret/1.in").unlink()
    (folder / "data/secret/1.in").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="cannot be read"):
        files.read("data/secret/1.in")


def test_a_name_that_is_no_utf8_is_shown_with_its_bytes(write: Write) -> None:
    folder = write()
    Path(os.fsdecode(os.fsencode(f"{folder}/submissions/accepted/") + b"\xe5.py")).write_text("print(2)\n")
    files = open_files(folder)
    assert files.text("submissions/accepted/\\xe5.py") == "print(2)\n"


def test_pipes_loops_and_depth_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(write())
    os.mkfifo(folder / "data/pipe")
    with pytest.raises(InputError, match="data/pipe: is no file and no folder"):
        open_files(str(folder))
    (folder / "data/pipe").unlink()
    (folder / "data/loop").symlink_to(".")
    with pytest.raises(InputError, match="folders nested more than 32 deep"):
        open_files(str(folder))
    (folder / "data/loop").unlink()
    for level in range(25):  # each has two ways to the next: a few links, and paths without number
        (folder / f"level{level}").mkdir()
        for way in "ab" if level else "":
            (folder / f"level{level - 1}/{way}").symlink_to(f"../level{level}")
    monkeypatch.setattr(module, "MAX_FILES", 500)
    with pytest.raises(InputError, match="more than 500 files"):
        open_files(str(folder))
    shutil.rmtree(folder / "level0")
    monkeypatch.setattr(module, "MAX_FILES", 3)
    with pytest.raises(InputError, match="more than 3 files"):
        open_files(str(folder))


@pytest.mark.parametrize("path", ["nowhere", "/dev/null", "a\0b"])
def test_what_is_no_package_at_all_is_told(path: str) -> None:
    with pytest.raises(InputError):
        open_files(path)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a//b", "a\\..\\x", "./x"])
def test_no_name_leads_out_of_a_zip(name: str) -> None:
    with pytest.raises(InputError, match="is no name within the package"):
        Zip("z.zip", zip_of((name, b"")))


def test_links_encryption_copies_and_strange_compression_are_refused() -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(InputError, match="is a link or a device"):
        Zip("z.zip", zip_of((link, b"/etc/passwd")))
    with pytest.raises(InputError, match="another way than deflate"):
        Zip("z.zip", zip_of(("a", b"x"), compression=zipfile.ZIP_LZMA))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = zip_of(("a", b"x"), ("a", b"y"))
    with pytest.raises(InputError, match="is in the zip twice"):
        Zip("z.zip", twice)
    secret = bytearray(zip_of(("a", b"x")))
    secret[secret.rindex(b"PK\1\2") + 8] |= 1
    with pytest.raises(InputError, match="is encrypted"):
        Zip("z.zip", bytes(secret))


def test_a_bomb_is_never_inflated(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zip_of(("a", bytes(64 << 20)), ("b", b"x"))
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 1 << 20)
    with pytest.raises(InputError, match=r"z\.zip/a: more than 1 MiB"):
        Zip("z.zip", bomb).read("a")
    # One that lies about its size is cut at what it says, and then is not what its checksum says.
    lying = bytearray(bomb)
    at = lying.index(b"PK\1\2")
    struct.pack_into("<L", lying, at + 24, 100)
    with pytest.raises(InputError, match="cannot be read"):
        Zip("z.zip", bytes(lying)).read("a")
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 128 << 20)
    monkeypatch.setattr(module, "MAX_BYTES", 65 << 20)
    files = Zip("z.zip", bomb)
    files.read("a")
    with pytest.raises(InputError, match="the package holds more than 65 MiB"):
        files.read("a")


def test_a_table_of_contents_out_of_proportion_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(zip_of(("a", b"x")))
    monkeypatch.setattr(module, "MAX_FILES", 0)
    with pytest.raises(InputError, match="more than 0 files"):
        Zip("z.zip", bytes(data))
    monkeypatch.undo()
    struct.pack_into("<L", data, data.rindex(b"PK\5\6") + 12, 0xFFFFFFF0)
    with pytest.raises(InputError, match="more than 50000 files"):
        Zip("z.zip", bytes(data))


@given(st.binary(max_size=300), st.integers(0, 200), st.binary(max_size=4))
def test_reading_a_broken_zip_is_an_input_error_or_works(tail: bytes, at: int, change: bytes) -> None:
    whole = zip_of(("problem.yaml", b"name: x\n" * 9), ("d/a.in", b"1"))
    for data in (tail, whole[:at] + change + whole[at + len(change) :], whole[: len(whole) - at], whole + tail):
        with contextlib.suppress(InputError):
            files = Zip("z.zip", data)
            for name in files.names():
                files.text(name)
