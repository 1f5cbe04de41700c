"""Builds: hostile sources, what is kept of them, and who may share it."""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.languages.conftest import Verify
from tests.languages.programs import ALL

from scalebox.core import values
from scalebox.execute.builds import Builds, key_of, places_in
from scalebox.languages.registry import languages

FILES = {"main": b"\x7fELF", "classes/A.class": b"\xca\xfe"}


def pack(files: dict[str, bytes]) -> bytes:
    """Return files as a jail hands them out."""
    index = values.encode({name: len(content) for name, content in files.items()})
    return struct.pack("<I", len(index)) + index + b"".join(files.values())


PACKED = pack(FILES)


def put(builds: Builds, key: str, data: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        builds.put(key, file.fileno())


def get(builds: Builds, key: str) -> dict[str, bytes] | None:
    built = builds.get(key)
    if built is None:
        return None
    with contextlib.closing(built):
        return {name: os.pread(built.fd, size, at) for name, (at, size) in built.places.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "builds"


def test_what_was_put_is_got(folder: Path) -> None:
    builds = Builds(str(folder), 1 << 20)
    assert get(builds, "key") is None
    put(builds, "key", PACKED)
    assert get(builds, "key") == FILES
    assert get(Builds(str(folder), 1 << 20), "key") == FILES


@given(cut=st.integers(0, len(PACKED) + 48), flip=st.integers(0, 255))
def test_a_torn_or_altered_entry_is_never_used(tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int) -> None:
    folder = tmp_path_factory.mktemp("builds")
    builds = Builds(str(folder), 1 << 20)
    put(builds, "key", PACKED)
    data = (folder / "key").read_bytes()
    changed = bytearray(data[:cut])
    if changed:
        changed[-1] ^= flip
    (folder / "key").write_bytes(changed)
    assert get(builds, "key") == (FILES if bytes(changed) == data else None)
    assert (folder / "key").exists() == (bytes(changed) == data)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", pack({"../x": b""}), pack({"/x": b""}), pack({"a//b": b""}), pack({}), PACKED + b"x", PACKED[:-1],
        *(struct.pack("<I", len(index)) + index for index in map(values.encode, ({"x": -1}, {"x": "1"}, [1], {1: 0}))),
        struct.pack("<I", 0xFFFFFFFF) + b"x",
    ],
)  # fmt: skip
def test_what_is_no_set_of_files_is_none(data: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        assert places_in(file.fileno()) is None


def test_the_size_is_bounded_and_the_least_used_go_first(folder: Path) -> None:
    builds = Builds(str(folder), 10_000)
    packed = pack({"main": bytes(2000)})
    for number in range(8):
        put(builds, str(number), packed)
        os.utime(folder / str(number), (number, number))
        if number >= 1:
            get(builds, "0")  # in use, so it stays
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 10_000
    assert get(builds, "0") is not None
    assert get(builds, "7") is not None
    assert get(builds, "2") is None
    put(builds, "huge", pack({"main": bytes(20_000)}))
    assert get(builds, "huge") is None


def test_many_writers_and_readers_never_see_half_an_entry(folder: Path) -> None:
    builds = Builds(str(folder), 1 << 20)
    files = {"main": os.urandom(50_000)}
    packed = pack(files)
    wrong = []

    def work() -> None:
        for _ in range(50):
            put(builds, "key", packed)
            if get(builds, "key") != files:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert [path.name for path in folder.iterdir()] == ["key"]


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    builds = Builds(str(folder), 1 << 20)
    put(builds, "key", PACKED)
    assert get(builds, "key") is None
    assert list(folder.iterdir()) == []


def test_no_folder_and_no_room_keep_nothing(tmp_path: Path) -> None:
    for builds in (Builds("", 1 << 20), Builds(str(tmp_path / "none"), 0), Builds("/proc/nowhere", 1 << 20)):
        put(builds, "key", PACKED)
        assert get(builds, "key") is None


def test_whatever_a_build_depends_on_changes_its_key() -> None:
    keys = {
        key_of("c", "12", [["gcc", "-O2"]], {"a.c": b"x"}),
        key_of("cpp", "12", [["gcc", "-O2"]], {"a.c": b"x"}),
        key_of("c", "13", [["gcc", "-O2"]], {"a.c": b"x"}),
        key_of("c", "12", [["gcc", "-O3"]], {"a.c": b"x"}),
        key_of("c", "12", [["gcc"], ["-O2"]], {"a.c": b"x"}),
        key_of("c", "12", [["gcc", "-O2"]], {"b.c": b"x"}),
        key_of("c", "12", [["gcc", "-O2"]], {"a.c": b"y"}),
    }
    assert len(keys) == 7


def test_a_second_build_of_the_same_source_is_none(verify: Verify, cache: Path) -> None:
    code = f"{ALL['c'].exits}// {os.urandom(8).hex()}\n"
    before = set((cache / "builds").glob("*"))
    assert verify("c", code).verdict == "runtime_error"
    (path,) = set((cache / "builds").glob("*")) - before
    written, whole = path.stat().st_ino, path.read_bytes()
    assert verify("c", code).verdict == "runtime_error"
    assert path.stat().st_ino == written
    path.write_bytes(whole[:-1])
    assert verify("c", code).verdict == "runtime_error"
    assert len(path.read_bytes()) == len(whole)


#: Language, source, and part of the message. None of them may pass, or cost more than its own sample.
HOSTILE = {
    "a device": ("c", '#include "/dev/random"\nint main() {}\n', ""),
    "itself": ("c", '#include "solution.c"\n', ""),
    "a secret": ("c", '#include "/etc/shadow"\nint main() {}\n', ""),
    "a giant array": ("c", "char x[1L << 40] = {1};\nint main() {}\n", ""),
    "much data": ("c", "char x[1L << 30] = {1};\nint main() {}\n", ""),
    "a macro bomb": ("c", "".join(f"#define A{n + 1} A{n} A{n}\n" for n in range(40)) + "int main() { A40 }\n", ""),
    "a template bomb": (
        "cpp", "template<class T, int N> struct A { A<A<T, N>, N + 1> x; };\nint main() { A<int, 0> a; }\n", "",
    ),
    "an endless constant": ("cpp", "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
                            "constexpr int x = f(60);\nint main() {}\n", ""),
    "an included secret": ("rust", 'fn main() { print!("{:?}", include_bytes!("/etc/shadow")); }\n', "line 1"),
    "a secret of the host": ("rust", 'fn main() { print!("{:?}", include_str!("/proc/1/environ")); }\n', "line 1"),
    "nothing at all": ("java", "\n// nothing\n", ""),
    "another name": ("java", "public class ../../x { }\n", ""),
    "code at build time": ("perl", "BEGIN { exit 1 }\n", ""),
    "sleep at build time": ("perl", "BEGIN { sleep 1000 }\n", "took more than"),
}  # fmt: skip


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("language", "source", "said"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_source_is_a_compile_error(verify: Verify, language: str, source: str, said: str) -> None:
    result = verify(language, source, build_s=3.0, build_memory_mb=512)
    assert result.verdict == "compile_error", result.message
    assert said in result.message
    assert 0 < len(result.message) < 2000
    assert "root:" not in result.message
    test = languages()["c"].self_test
    assert verify("c", test.program, (test.stdin, test.stdout)).verdict == "passed"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", ["c", "perl"])
def test_cases_leave_nothing_to_each_other(verify: Verify, language: str) -> None:
    result = verify(language, ALL[language].looks, *[("", "clean\n")] * 4)
    assert [case.stdout.strip() for case in result.cases] == ["clean"] * 4
    assert result.verdict == "passed"
