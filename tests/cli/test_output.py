"""Where results go."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from scalebox.cli.output import Output
from scalebox.core.errors import InputError, ScaleBoxError


@pytest.mark.parametrize(
    ("name", "unpack"),
    [
        ("out.jsonl", bytes),
        ("out.jsonl.gz", gzip.decompress),
        ("out.jsonl.zst", lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()),
    ],
)
def test_lines_are_kept_even_if_the_run_fails(tmp_path: Path, name: str, unpack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / name

    def run() -> None:
        with Output(str(path)) as output:
            output.write(b"a\n")
            output.write(b"b\n")
            raise RuntimeError("later")

    with pytest.raises(RuntimeError, match="later"):
        run()
    assert unpack(path.read_bytes()) == b"a\nb\n"


def test_lines_are_handed_to_the_system_at_once(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with Output(str(path)) as output:
        output.write(b"a\n")
        assert path.read_bytes() == b"a\n"


def test_nowhere() -> None:
    with Output(None) as output:
        output.write(b"a\n")


@pytest.mark.parametrize("path", ["/nowhere/out", ".", "a\0b", ""])
def test_a_path_that_cannot_be_written(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        Output(path)


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(InputError, match="would be overwritten"):
        Output(str(link), ["/nowhere", str(path)])
    assert path.read_bytes() == b"x"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_and_not_a_traceback() -> None:
    with pytest.raises(ScaleBoxError, match="/dev/full: cannot be written: No space left"), Output("/dev/full") as out:
        out.write(b"a\n")
