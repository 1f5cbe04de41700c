"""Packages written to a folder, from their files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Write = Callable[..., str]

#: A Kattis package that is as small as can be.
KATTIS: dict[str, str] = {
    "problem.yaml": "name: Twice\n",
    "data/secret/1.in": "1\n",
    "data/secret/1.ans": "2\n",
    "submissions/accepted/a.py": "print(2 * int(input()))\n",
}
#: The same for DMOJ.
DMOJ: dict[str, str] = {
    "init.yml": "test_cases:\n- {in: 1.in, out: 1.out, points: 5}\n",
    "1.in": "1\n",
    "1.out": "2\n",
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a package: files by name, over those of `base`; None leaves one out. Return its folder, or its zip."""

    def write(
        files: Mapping[str, str | bytes | None] = {}, base: Mapping[str, str] = KATTIS, *, zipped: bool = False
    ) -> str:
        together = {name: text for name, text in {**base, **files}.items() if text is not None}
        if zipped:
            with zipfile.ZipFile(tmp_path / "twice.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for name, text in together.items():
                    archive.writestr(name, text)
            return str(tmp_path / "twice.zip")
        for name, text in together.items():
            path = tmp_path / "twice" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(tmp_path / "twice")

    return write
