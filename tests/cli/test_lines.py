"""Input files of any kind as bounded lines."""

from __future__ import annotations

import builtins
import errno
import gzip
import io
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from scalebox.cli.lines import Line, Lines
from scalebox.core.limits import MIB

Write = Callable[..., str]


def _read(*paths: str, limit: int = MIB) -> list[Line]:
    return list(Lines(paths, limit))


def _only_error(path: str, limit: int = MIB) -> str:
    (line,) = _read(path, limit=limit)
    assert line.error is not None
    return str(line.error)


def test_lines_are_numbered_and_blank_ones_skipped(write: Write) -> None:
    path = write(b"a\n\n  \r\nb\r\nc")
    assert [(line.number, line.data) for line in _read(path)] == [(1, b"a\n"), (4, b"b\r\n"), (5, b"c")]


def _compressors() -> dict[str, Callable[[bytes], bytes]]:
    zstd = zstandard.ZstdCompressor().compress
    return {
        "plain": bytes,
        "gzip": gzip.compress,
        "gzip, two members": lambda data: gzip.compress(data[:3]) + gzip.compress(data[3:]),
        "zstd": zstd,
        "zstd, two frames": lambda data: zstd(data[:3]) + zstd(data[3:]),
        "zstd, size unknown": lambda data: zstandard.ZstdCompressor().compressobj().compress(data) or _stream(data),
    }


def _stream(data: bytes) -> bytes:
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(data)
    return out.getvalue()


@pytest.mark.parametrize("compress", _compressors().values(), ids=_compressors())
def test_compression_is_told_by_content(write: Write, compress: Callable[[bytes], bytes]) -> None:
    data = b"".join(b"line %d\n" % number for number in range(5000))
    path = write(compress(data), "named.anything")
    assert [line.data for line in _read(path)] == data.splitlines(keepends=True)


def test_a_line_that_is_too_long_costs_itself_alone(write: Write) -> None:
    path = write(b"a\n" + b"x" * (3 * MIB) + b"\nb\n")
    first, long, last = _read(path)
    assert (first.data, last.data, last.number) == (b"a\n", b"b\n", 3)
    assert str(long.error) == f"{path}:2: longer than the 1 MiB of a line (raise the setting max_line_mb)"


def test_a_line_as_long_as_the_limit(write: Write) -> None:
    assert [len(line.data) for line in _read(write(b"x" * 9 + b"\n" + b"y" * 10), limit=10)] == [10, 10]


def test_a_long_line_is_never_held(write: Write) -> None:
    path = write(zstandard.compress(b"x" * (64 * MIB)))
    tracemalloc.start()
    try:
        assert "longer" in _only_error(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds no samples (one JSON object on each line)"),
        (b"\n \n", "holds no samples (one JSON object on each line)"),
        (b"\x7fELF\0\0\0", "is binary or UTF-16 (give JSON Lines in UTF-8)"),
        ('{"id": "a"}\n'.encode("utf-16"), "is binary or UTF-16 (give JSON Lines in UTF-8)"),
        (gzip.compress(b"", mtime=0), "holds no samples (one JSON object on each line)"),
    ],
)
def test_files_that_hold_no_lines(write: Write, content: bytes, problem: str) -> None:
    path = write(content)
    assert _only_error(path) == f"{path}: {problem}"


def test_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.jsonl")
    assert _only_error(str(tmp_path)) == f"{tmp_path}: cannot be read: Is a directory"
    assert _only_error(missing) == f"{missing}: cannot be read: No such file or directory"
    assert "NUL" in _only_error("a\0b")


def test_a_file_without_permission(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    path = write(b"x")
    monkeypatch.setattr(builtins, "open", refuse)  # root may read everything: its mode would not do
    assert _only_error(path) == f"{path}: cannot be read: Permission denied"


@pytest.mark.parametrize("broken", ["cut", "flipped"])
@pytest.mark.parametrize("compress", [gzip.compress, lambda data: zstandard.ZstdCompressor().compress(data)])
def test_broken_compressed_data(write: Write, compress: Callable[[bytes], bytes], broken: str) -> None:
    data = os.urandom(200_000).hex().encode() + b"\n"
    packed = bytearray(compress(data))
    if broken == "cut":
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2] ^= 0xFF
        packed[-4:] = b"\0\0\0\0"
    read = _read(write(bytes(packed)))
    assert read[-1].error is not None or read[0].data != data
    assert all(line.data != data for line in read)


def test_one_bad_file_does_not_stop_the_others(write: Write) -> None:
    good, bad = write(b"a\n", "good"), write(b"", "bad")
    read = _read(bad, good, "/nowhere", good)
    assert [line.data for line in read if line.error is None] == [b"a\n", b"a\n"]
    assert len(read) == 4


def test_how_far_the_reading_is(write: Write) -> None:
    first, second = write(b"x" * 100_000 + b"\n" + b"y" * 99_998 + b"\n", "1"), write(b"z\n" * 100_000, "2")
    lines = Lines([first, second], MIB)
    shares = [lines.fraction()]
    shares += [lines.fraction() for _ in lines]
    assert all(share is not None for share in shares)
    assert shares == sorted(shares, key=float)  # type: ignore[arg-type]  # none is None
    assert shares[0] == 0.0
    assert lines.fraction() == 1.0


def test_a_pipe_has_no_known_size() -> None:
    read, write = os.pipe()
    os.write(write, b"a\n")
    os.close(write)
    try:
        lines = Lines([f"/dev/fd/{read}"], MIB)
        assert [line.data for line in lines] == [b"a\n"]
        assert lines.fraction() is None
    finally:
        os.close(read)
