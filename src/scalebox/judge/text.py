"""Tokens and lines of outputs that may be large, hostile and no text at all.

Outputs are compared as bytes. White space is what `bytes.split` takes for it: space, tab, newline,
carriage return, vertical tab and form feed. Large outputs are split a block at a time: a hundred
megabytes of one-letter tokens would take gigabytes as one list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, count, islice, starmap, zip_longest
from operator import ne
from typing import TypeVar

from scalebox.judge.difference import EQUAL, Difference, differs, show_text

_BLOCK_BYTES = 1 << 18
_SPACE = re.compile(rb"\s")
_TOKEN = re.compile(rb"\S+")

_Item = TypeVar("_Item")
Differ = Callable[[bytes | None, bytes | None], bool]


def to_bytes(text: str) -> bytes:
    """Return an expected text as the bytes that a program prints for it; lone surrogates are passed."""
    return text.encode("utf-8", "surrogatepass")


def fold_case(data: bytes) -> bytes:
    """Return `data` without case, by Unicode's rules; bytes that are no UTF-8 stay as they are."""
    if data.isascii():
        return data.lower()
    return data.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")


def tokens(data: bytes) -> Iterator[bytes]:
    """Yield what white space separates."""
    return chain.from_iterable(block for _, block in _token_blocks(data))


def lines(data: bytes) -> Iterator[bytes]:
    """Yield what newlines separate: one more than there are newlines."""
    return chain.from_iterable(_line_blocks(data))


def bare_lines(data: bytes) -> Iterator[bytes]:
    """Yield lines without white space at their ends, up to the last that is not blank."""
    data = data.rstrip()
    return map(bytes.rstrip, lines(data)) if data else iter(())


def compare_tokens(expected: bytes, actual: bytes, differ: Differ = ne) -> Difference:
    """Compare token by token, in order; the degree is the share of positions that differ."""
    first, degree = _compare_in_order(tokens(expected), tokens(actual), differ)
    if first < 0:
        return EQUAL
    wanted, got = _find_token(expected, first), _find_token(actual, first)
    line, number, _ = wanted or got or (0, 0, b"")
    return differs(degree, f"line {line}, token {number}: {_contrast(wanted and wanted[2], got and got[2])}")


def compare_tokens_by_line(expected: bytes, actual: bytes, differ: Differ = ne) -> Difference:
    """Compare token by token, where the same tokens must be on a line too; blank lines play no part."""
    first, degree = _compare_in_order(_line_lengths(expected), _line_lengths(actual), ne)
    if first < 0:
        return compare_tokens(expected, actual, differ)
    wanted, got = (next(islice(_line_lengths(data), first, None), 0) for data in (expected, actual))
    return differs(degree, f"line {first + 1} of those not blank: expected {wanted} tokens, got {got}")


def _line_lengths(data: bytes) -> Iterator[int]:
    """Yield the number of tokens on each line that has any."""
    return filter(None, (sum(len(part) for _, part in _token_blocks(line)) for line in lines(data)))


def compare_lines(
    expected: bytes, actual: bytes, split: Callable[[bytes], Iterable[bytes]], noun: str = "line"
) -> Difference:
    """Compare what `split` yields, in order; the degree is the share of positions that differ."""
    first, degree = _compare_in_order(split(expected), split(actual), ne)
    if first < 0:
        return EQUAL
    wanted = next(islice(split(expected), first, None), None)
    got = next(islice(split(actual), first, None), None)
    return differs(degree, f"{noun} {first + 1}: {_contrast(wanted, got)}")


def compare_counts(expected: Iterable[bytes], actual: Iterable[bytes], noun: str) -> Difference:
    """Compare as multisets; the degree is the share of the larger one that has no partner in the other."""
    left = Counter(expected)
    wanted = left.total()
    matched, number, stranger = 0, 0, (0, b"")
    # Only what is expected is in the table, so its size is ours to bound.
    for number, item in enumerate(actual, 1):
        if left.get(item, 0) > 0:
            left[item] -= 1
            matched += 1
        elif not stranger[0]:
            stranger = number, item
    longest = max(wanted, number)
    if matched == longest:
        return EQUAL
    if stranger[0]:
        detail = f"{noun} {stranger[0]}: {show_text(stranger[1])} is not expected, or not so often"
    else:
        missing = next(item for item, times in left.items() if times > 0)
        detail = f"expected {wanted} {noun}s, got {number}: {show_text(missing)} is missing"
    return differs(1 - matched / longest, detail)


def _contrast(wanted: bytes | None, got: bytes | None) -> str:
    if wanted is None:
        return f"expected the end, got {show_text(got or b'')}"
    if got is None:
        return f"expected {show_text(wanted)}, got the end"
    start = _parting(wanted, got)
    if not start:
        return f"expected {show_text(wanted)}, got {show_text(got)}"
    return f"expected {show_text(wanted[start:])}, got {show_text(got[start:])} from column {start + 1} on"


def _parting(wanted: bytes, got: bytes) -> int:
    """Return where two long texts part, less some context; 0 where both can be shown from their beginning."""
    low, high = 0, min(len(wanted), len(got))
    while low < high:
        middle = (low + high + 1) // 2
        if wanted[low:middle] == got[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low - 10 if low > 30 else 0


def _compare_in_order(
    expected: Iterable[_Item], actual: Iterable[_Item], differ: Callable[[_Item | None, _Item | None], bool]
) -> tuple[int, float]:
    """Return the first position that differs (-1 if none) and the share of those that do."""
    flags = starmap(differ, zip_longest(expected, actual))
    first = next(compress(count(), flags), -1)
    if first < 0:
        return -1, 0.0
    # `flags` has been used up to and with the first difference; a byte for each position after it.
    rest = bytes(flags)
    return first, (1 + len(rest) - rest.count(0)) / (first + 1 + len(rest))


def _token_blocks(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (offset, tokens) of successive parts of `data`, cut at white space."""
    start = 0
    while start < len(data):
        space = _SPACE.search(data, start + _BLOCK_BYTES) if len(data) - start > _BLOCK_BYTES else None
        end = space.end() if space else len(data)
        yield start, data[start:end].split()
        start = end


def _line_blocks(data: bytes) -> Iterator[list[bytes]]:
    start = 0
    while (end := data.find(b"\n", start + _BLOCK_BYTES)) >= 0:
        yield data[start:end].split(b"\n")
        start = end + 1
    yield data[start:].split(b"\n")


def _find_token(data: bytes, index: int) -> tuple[int, int, bytes] | None:
    """Return (line, number in that line, token), both from 1, of the token at `index`; None past the last."""
    for start, block in _token_blocks(data):
        if index < len(block):
            found = next(islice(_TOKEN.finditer(data, start), index, None))
            line_start = data.rfind(b"\n", 0, found.start()) + 1
            before = sum(len(part) for _, part in _token_blocks(data[line_start : found.start()]))
            return data.count(b"\n", 0, found.start()) + 1, before + 1, found.group()
        index -= len(block)
    return None
