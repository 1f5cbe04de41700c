"""Line by line, without debug lines, blank lines and white space at the ends of lines."""

from __future__ import annotations

from collections.abc import Iterator

from scalebox.core.sample import Match
from scalebox.judge.difference import EQUAL, Difference
from scalebox.judge.text import bare_lines, compare_lines, to_bytes

OPTIONS = ("ignore_prefixes",)


def compare(expected: str, actual: bytes, match: Match) -> Difference:
    """Compare, in order, the lines that are not blank and begin with none of `ignore_prefixes`."""
    wanted = to_bytes(expected)
    prefixes = tuple(to_bytes(prefix) for prefix in match.ignore_prefixes)

    def kept_lines(data: bytes) -> Iterator[bytes]:
        return (line for line in bare_lines(data) if line and not line.startswith(prefixes))

    return EQUAL if wanted == actual else compare_lines(wanted, actual, kept_lines, "kept line")
