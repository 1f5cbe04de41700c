"""What follows the last marker, token by token."""

from __future__ import annotations

from scalebox.core.sample import Match
from scalebox.judge.difference import Difference, differs
from scalebox.judge.text import compare_tokens, to_bytes

OPTIONS = ("marker",)


def compare(expected: str, actual: bytes, match: Match) -> Difference:
    """Compare what follows the last `marker` with the expected output, or with what follows the marker in that."""
    marker = to_bytes(match.marker)
    at = actual.rfind(marker)
    if at < 0:
        return differs(1.0, f"no marker {match.marker[:80]!r} in the output")
    return compare_tokens(to_bytes(expected).rpartition(marker)[2], actual[at + len(marker) :])
