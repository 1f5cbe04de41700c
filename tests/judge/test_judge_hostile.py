"""Outputs and values made to cost time or memory, or to forge a verdict."""

from __future__ import annotations

import struct
import subprocess
import threading
import time
from collections.abc import Iterator

import pytest

from scalebox.core.sample import Match
from scalebox.core.values import encode
from scalebox.judge import judge_output, judge_value, output_modes, value_modes
from scalebox.judge.regex import Matcher

#: CPU seconds that one comparison may take here; quadratic ones would take hours.
BOUND_S = 20.0


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < BOUND_S


def packed(tag: bytes, body: bytes, count: int) -> bytes:
    return tag + struct.pack("<I", count) + body


@pytest.mark.parametrize("mode", [mode for mode in output_modes() if mode != "regex"])
@pytest.mark.parametrize("unit", [b"1 ", b"\n", b"a", b"7", b"{", b'{"a":', b"\xff", b"\x00 \n", b"nan ", b"1e9\n"])
def test_a_large_output_is_judged_in_linear_time(mode: str, unit: bytes) -> None:
    output = unit * (2_000_000 // len(unit))
    match = Match(mode=mode, marker="a", ignore_prefixes=("b",))
    assert not judge_output("[1, 2]", output, match).equal


@pytest.mark.parametrize(
    "number",
    [b"1" * 1_000_000, b"." + b"1" * 1_000_000, b"1e" + b"0" * 1_000_000 + b"7", b"1e999999999", b"-1e-999999999"],
)
def test_a_number_of_any_size_costs_little(number: bytes) -> None:
    assert not judge_output("3.5", number, Match(mode="float")).equal
    assert not judge_output("3", number, Match(mode="json")).equal
    assert judge_output(number.decode(), number, Match(mode="float")).equal


@pytest.mark.parametrize("mode", value_modes())
def test_keys_made_to_collide_are_refused(mode: str) -> None:
    prime = (1 << 61) - 1
    keys = b"".join(encode(1 + prime * number) for number in range(400_000))
    for tag in (b"S", b"Z"):
        assert not judge_value(encode({1, 2}), False, packed(tag, keys, 400_000), Match(mode=mode)).equal
    few = encode({1 + prime * number for number in range(1000)})
    assert not judge_value(encode(set(range(1000))), False, few, Match(mode=mode)).equal


@pytest.mark.parametrize("mode", value_modes())
def test_a_value_far_larger_than_expected_is_not_decoded(mode: str) -> None:
    hostile = packed(b"l", b"N" * 2_000_000, 2_000_000)
    found = judge_value(encode([1]), True, hostile, Match(mode=mode))
    assert (found.equal, found.degree) == (False, 1.0)
    assert "too many items" in found.detail


@pytest.mark.parametrize("mode", value_modes())
def test_deep_values_are_differences(mode: str) -> None:
    for depth in (100, 100_000):
        assert not judge_value(encode([[1]]), True, packed(b"l", b"", 1) * depth + b"N", Match(mode=mode)).equal


@pytest.mark.parametrize("mode", value_modes())
def test_large_lists_without_order_take_linear_time(mode: str) -> None:
    rows = [[number, str(number)] for number in range(30_000)]
    found = judge_value(encode(rows), True, encode(rows[::-1]), Match(mode=mode))
    assert found.equal is (mode == "unordered")


def test_a_pattern_that_backtracks_is_a_mismatch_and_the_next_one_works() -> None:
    matcher = Matcher(cpu_seconds=0.2)
    try:
        assert matcher.match("(a+)+b", b"a" * 60) == "out of time"
        assert matcher.match("(a+)+b", b"aab") == "match"
        assert matcher.match("(?:(?:a|b)(?:a|b)?)*c", b"ab" * 20_000_000) in ("out of memory", "out of time")
        assert matcher.match("a", b"b") == "no match"
    finally:
        matcher.close()


def test_a_backtracking_pattern_says_so() -> None:
    found = judge_output("(a+)+b", b"a" * 60, Match(mode="regex"))
    assert "out of time" in found.detail


def _kill_at_work(child: subprocess.Popen[bytes]) -> None:
    clock = (~child.pid << 3) | 2  # of its CPU time
    begun = time.clock_gettime(clock)
    while time.clock_gettime(clock) < begun + 0.05:
        time.sleep(0.01)
    child.kill()


def test_a_matching_process_that_was_killed_between_two_jobs_is_replaced() -> None:
    matcher = Matcher()
    assert matcher.match("a", b"a") == "match"
    assert matcher._child is not None
    matcher._child.kill()
    matcher._child.wait()
    assert matcher.match("a", b"b") == "no match"
    matcher.close()


def test_a_matching_process_that_is_lost_is_no_label() -> None:
    matcher = Matcher(cpu_seconds=60.0)
    assert matcher.match("a", b"a") == "match"
    child = matcher._child
    assert child is not None
    killer = threading.Thread(target=_kill_at_work, args=(child,))
    killer.start()
    with pytest.raises(RuntimeError, match="status -9"):
        matcher.match("(a+)+b", b"a" * 60)
    killer.join()
    assert matcher.match("a", b"a") == "match"
    matcher.close()
    assert matcher._child is None


#: Wrong labels that other verifiers give, as far as they are a matter of comparing.
@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("1\n2\n3", b"1", False),
        ("1\n2\n3", b"1\n2\n3\n4", False),
        ("1\n2\n3", b"", False),
        ("1000000007", b"1000000008", False),
        ("3", b"3 ", True),
        ("1 " * 500_000, b"1 " * 500_000, True),
        ("x" * 150_000, b"x" * 149_999, False),
    ],
)
@pytest.mark.parametrize("mode", ["tokens", "float", "trailing_whitespace", "debug_tolerant", "lines_unordered"])
def test_outputs_that_others_label_wrongly(mode: str, expected: str, actual: bytes, equal: bool) -> None:
    assert judge_output(expected, actual, Match(mode=mode)).equal is equal
