"""Recording: what a case says of itself, that the run goes on, bounds, and what the worker reads of it all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execute.separate.stub import run, statuses

from scalebox.core import values
from scalebox.execute.separate import cases, frames
from scalebox.execute.separate.show import exception, shown

SOLUTION = """
class Odd(Exception):
    pass
def f(x):
    if x == 99:
        raise ValueError("no such thing")
    if x == 98:
        raise AssertionError("mine")
    if x == 97:
        raise SystemExit(0)
    if x == 96:
        raise KeyboardInterrupt
    return x + 1
def same(x):
    return x
def swallow(function, *arguments):
    try:
        return function(*arguments)
    except BaseException:
        return None
"""


def only(test: str, **options: Any) -> frames.Case:
    report = run(test, SOLUTION, **options)
    assert len(report.cases) == 1, report
    return report.cases[0]


@pytest.mark.parametrize(
    ("test", "detail"),
    [
        ("assert f(1) == 4", "f(1) == 4: left 2, right 4"),
        ("assert f(1) == 4, 'why'", "f(1) == 4: left 2, right 4: why"),
        ("assert f(1) == 4, [1, f(2)]", "f(1) == 4: left 2, right 4: [1, 3]"),
        ("assert not f(0)", "not f(0): f(0) = 1"),
        ("assert f(-1)", "f(-1): f(-1) = 0"),
        ("assert f(1) < f(2) < 1", "f(1) < f(2) < 1: f(1) = 2, f(2) = 3"),
        ("assert f(1) == 2 and f(2) == 2", "f(1) == 2 and f(2) == 2: f(1) = 2, f(2) = 3"),
        ("assert f(-1) or f(1) == 3", "f(-1) or f(1) == 3: f(-1) = 0, f(1) = 2"),
        ("assert abs(f(1) - 4) < 1e-6", "abs(f(1) - 4) < 1e-6: left 2, right 1e-06, f(1) = 2"),
        ("assert isinstance(f(1), str)", "isinstance(f(1), str): f(1) = 2"),
        ("assert same([1, 2]) == [1, 3]", "same([1, 2]) == [1, 3]: left [1, 2], right [1, 3]"),
        ("assert f(1) == 'é'", "f(1) == 'é': left 2, right 'é'"),
        ("assert same('é') == 'ü' or f(0) == 2", "same('é') == 'ü' or f(0) == 2: same('é') = 'é', f(0) = 1"),
        ("assert (y := f(1)) == 3", "(y := f(1)) == 3: left 2, right 3"),
        ("assert same(int) is str", "same(int) is str"),
        ("assert all(f(i) == 1 for i in [0, 1])", "all(f(i) == 1 for i in [0, 1])"),
        ("assert f(\n    1\n) == 3", "f( …: left 2, right 3"),
    ],
)
def test_a_false_assertion_says_what_differed(test: str, detail: str) -> None:
    case = only(test)
    assert (case.status, case.detail) == ("failed", detail)
    assert case.text == test


@pytest.mark.parametrize(
    ("test", "detail"),
    [
        ("assert f(99) == 1", "f(99) == 1: the program raised ValueError: no such thing"),
        ("assert f(98) == 1", "f(98) == 1: the program raised AssertionError: mine"),
        ("assert f(97) == 1", "f(97) == 1: the program raised SystemExit: 0"),
        ("assert f(96) == 1", "f(96) == 1: the program raised KeyboardInterrupt"),
        ("assert f(1)[0] == 1", "f(1)[0] == 1: TypeError: 'int' object is not subscriptable"),
        ("assert nothing(1) == 1", "nothing(1) == 1: the program defines no 'nothing'"),
        ("assert f(1) == 3, f(99)", "f(1) == 3: the program raised ValueError: no such thing"),
    ],
)
def test_an_exception_within_an_assertion_is_an_error(test: str, detail: str) -> None:
    case = only(test)
    assert (case.status, case.detail) == ("error", detail)


def test_the_run_goes_on_after_what_failed() -> None:
    report = run("assert f(1) == 3\nassert f(99)\nassert f(1) == 2\nfor i in range(3): assert f(i) != 2\n", SOLUTION)
    assert statuses(report) == ["failed", "error", "passed", "passed", "failed", "passed"]
    assert [case.name for case in report.cases] == ["0", "1", "2", "3", "4", "5"]
    assert report.reason == "done"


def test_an_exception_outside_of_checks_ends_the_item() -> None:
    report = run("assert f(1) == 2\nx = f(99)\nassert x\nassert f(2)\n", SOLUTION)
    assert statuses(report) == ["passed", "error", "unreached", "unreached"]
    assert report.cases[1].detail == "the program raised ValueError: no such thing"
    assert report.cases[1].text == "x = f(99)"
    assert report.cases[2].text == "assert x"
    assert report.reason == "stopped"


def test_a_failing_helper_does_not_end_its_caller() -> None:
    test = "def helper(x, y):\n    assert f(x) == y\n    return 7\n"
    test += "for i in range(3):\n    z = helper(i, 2)\nassert z == 7\n"
    assert statuses(run(test, SOLUTION)) == ["failed", "passed", "failed", "passed"]


def test_what_the_solution_calls_fails_even_if_the_solution_swallows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "_PACKAGE", "solution")
    test = (
        "def back(x):\n    assert x > 5\n    return x\nassert swallow(back, 1) is None\nassert swallow(back, 6) == 6\n"
    )
    report = run(test, SOLUTION)
    assert statuses(report) == ["failed", "passed", "passed", "passed"]
    passed_on = SOLUTION.replace("except BaseException:\n        return None", "except KeyError: pass")
    report = run(test, passed_on)
    assert statuses(report) == ["failed", "passed", "passed"]  # the same failure is not recorded twice


def test_checks_that_are_no_asserts() -> None:
    test = """
import pytest
def equal(a, b):
    if a != b:
        raise AssertionError(f"{a} is not {b}")
equal(f(1), 2)
equal(f(1), 3)
with pytest.raises(ValueError):
    f(99)
with pytest.raises(ValueError):
    f(1)
with pytest.raises(KeyError):
    f(99)
try:
    f(99)
except ValueError:
    pass
else:
    raise AssertionError("no error")
try:
    f(1)
except ValueError:
    pass
else:
    raise AssertionError("no error")
if f(1) != 2:
    raise ValueError("not 2")
"""
    report = run(test, SOLUTION)
    assert statuses(report) == ["passed", "failed", "passed", "failed", "error", "passed", "failed", "passed"]
    assert report.cases[1].detail == "AssertionError: 2 is not 3"
    assert report.cases[1].text == "equal(f(1), 3)"
    assert report.cases[3].text == "with pytest.raises(ValueError):"


def test_skipping_is_not_passing() -> None:
    report = run("import pytest, unittest\nif f(1):\n    pytest.skip('why')\nassert f(1)\n", SOLUTION)
    assert statuses(report) == ["skipped", "unreached"]
    report = run("import unittest\ndef g():\n    raise unittest.SkipTest('x')\ng()\nassert f(1)\n", SOLUTION)
    assert statuses(report) == ["skipped", "passed"]


def test_beyond_the_bound_cases_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "MAX_CASES", 10)
    test = "for i in range({0}): assert f(i) != {1}\n"
    assert statuses(run(test.format(10, -1), SOLUTION)) == ["passed"] * 10
    report = run(test.format(30, -1), SOLUTION)
    assert statuses(report) == ["passed"] * 10
    assert report.cases[-1].text == "and 21 more"
    report = run(test.format(30, 25), SOLUTION)
    assert statuses(report) == ["passed"] * 9 + ["failed"]
    assert report.cases[-1].detail == "f(i) != 25: left 25, right 25"


def test_runs_that_only_a_failure_ends_have_an_end() -> None:
    report = run("i = 0\nwhile True:\n    i = same(i) + 1\n    assert i < 3\n", SOLUTION)
    assert report.reason == "stopped"
    assert statuses(report) == ["passed"] * 2 + ["failed"] * (cases.MAX_FAILURES + 1)
    report = run("def g():\n    assert g()\n    assert g()\ng()\nassert f(1) == 2\n", SOLUTION)
    assert report.reason == "task"  # its own recursion, and the solution was not used
    report = run("f(1)\ndef g():\n    assert g()\n    assert g()\nx = g()\n", SOLUTION)
    assert (report.reason, statuses(report)[0]) == ("stopped", "error")


def test_many_failures_with_large_values_stay_small() -> None:
    start = time.process_time()
    test = "big = list(range(1_000_000))\nfor i in range(3000): assert same(big) == [i], 'x' * 50_000\n"
    report = run(test, SOLUTION)
    assert statuses(report) == ["failed"] * 3000
    assert sum(len(case.detail) + len(case.text) for case in report.cases) < 300_000
    assert all(len(case.detail) <= 1200 for case in report.cases)
    assert report.cases[0].detail.startswith("same(big) == [i]: left [0, 1, 2, ")
    assert time.process_time() - start < 30


def test_values_are_let_go_of() -> None:
    test = """
import gc, weakref
class T:
    pass
t = T()
seen = weakref.ref(t)
assert t == t and f(1) == 2
assert not (t != t)
assert t is None
del t
gc.collect()
assert seen() is None
"""
    assert statuses(run(test, SOLUTION)) == ["passed", "passed", "failed", "passed"]


# Frames and board.


@pytest.fixture
def out() -> Iterator[tuple[frames.Frames, Any, Any]]:
    with tempfile.TemporaryFile(buffering=0) as file, tempfile.TemporaryFile(buffering=0) as memory:
        memory.truncate(frames.BOARD_BYTES)
        yield frames.Frames(file.fileno(), memory.fileno()), file, memory


def read(file: Any, memory: Any) -> frames.Report:
    return frames.report(os.pread(file.fileno(), 1 << 24, 0), os.pread(memory.fileno(), 1 << 24, 0))


SITES = [("assert", "assert a"), ("assert", "assert b"), ("never", "assert False"), ("assert", "assert c"), ("", "s")]


def test_what_was_cut_short_shows_all_that_had_passed_and_what_was_running(out: Any) -> None:
    writer, file, memory = out
    writer.sites(SITES)
    for number in range(5):
        writer.seen[0] = 1
        writer.board[3] = 1
        writer.passed(number, 0, 1000, writer.board[1] + 1)
    writer.board[3] = 2
    report = read(file, memory)
    assert report.reason == ""
    assert statuses(report) == ["passed"] * 5 + ["running", "unreached"]
    assert report.cases[5] == frames.Case("5", "running", "", "assert b")
    assert report.cases[6] == frames.Case("6", "unreached", "", "assert c")
    writer.case("5", "failed", "detail", "assert b", 10, 5)
    assert statuses(read(file, memory)) == ["passed"] * 5 + ["failed", "running", "unreached", "unreached"]
    assert frames.report(b"", b"") == frames.Report([frames.Case("0", "running")], "", "")


def test_named_cases_that_did_not_run_are_told(out: Any) -> None:
    writer, file, memory = out
    writer.put("expected", ["A.a", "A.b", "A.c"])
    writer.put("began", "A.a")
    writer.case("A.a", "passed", "", "", 5)
    writer.put("began", "A.b")
    report = read(file, memory)
    assert [(case.name, case.status) for case in report.cases] == [
        ("A.a", "passed"), ("A.b", "running"), ("A.c", "unreached"),
    ]  # fmt: skip


def test_times_are_those_of_the_case() -> None:
    test = "import time\nassert f(1)\ntime.sleep(0.05)\nassert f(1)\nassert f(1)\nend = time.process_time() + 0.05\n"
    test += "while time.process_time() < end: pass\nassert f(2)\nassert f(1) == 3\n"
    report = run(test, SOLUTION, board=True)
    walls = [case.wall_s for case in report.cases]
    assert walls[1] >= 0.05 > walls[2]
    assert report.cases[1].cpu_s < 0.045 <= report.cases[3].cpu_s


@given(st.binary(max_size=200), st.binary(max_size=100))
def test_reading_is_total_on_any_bytes(data: bytes, board: bytes) -> None:
    assert frames.report(data, board).reason == ""


PARTS = st.sampled_from(
    ["sites", "passed", "case", "expected", "began", "ended", "other", "", "error", "0", "1", 7, -1]
)
VALUE = st.recursive(
    PARTS | st.none() | st.floats() | st.integers(), lambda inner: st.lists(inner, max_size=5) | st.tuples(inner, inner)
)


@given(st.lists(st.lists(VALUE, max_size=7).map(tuple) | VALUE, max_size=6))
def test_reading_is_total_on_any_frames(parts: list[Any]) -> None:
    encoded = [values.encode(part) for part in parts]
    data = b"".join(len(part).to_bytes(4, "little") + part for part in encoded)
    report = frames.report(data)
    assert all(isinstance(case, frames.Case) and case.status != "" for case in report.cases)


def test_an_ended_frame_counts_only_if_all_before_it_is_well_formed() -> None:
    def frame(*part: Any) -> bytes:
        data = values.encode(part)
        return len(data).to_bytes(4, "little") + data

    good = frame("passed", 0, [0], [1], 0.0)
    assert frames.report(good + frame("ended", "done", "", [])).reason == "done"
    end = frame("ended", "done", "", [])
    assert frames.report(good + frame("case", "1", "splendid", "", "", 0.0, 0.0) + end).reason == ""
    assert frames.report(good + b"\0\0\0\0" + end).reason == ""
    assert frames.report(end[:-1]).reason == ""


# Texts.


class Hostile:
    def __repr__(self) -> str:
        raise ValueError("hidden")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, (2,), {3}, {"a": b"c"}], "[1, (2,), {3}, {'a': b'c'}]"),
        ((), "()"),
        (set(), "set()"),
        (frozenset(), "frozenset()"),
        (frozenset([1]), "frozenset({1})"),
        ({}, "{}"),
        ("a" * 300, "'" + "a" * 198 + "…"),
        (list(range(1000)), None),
        ([[[[[[[[1]]]]]]]], "[[[[[[[...]]]]]]]"),
        (1 << 5000, "<int of 5001 bits>"),
        (Hostile(), "<Hostile object, whose repr raised ValueError>"),
        ([Hostile()], "[<Hostile object, whose repr raised ValueError>]"),
    ],
)
def test_values_are_shown_as_repr_does_but_short(value: Any, text: str | None) -> None:
    assert len(shown(value)) <= 200
    assert shown(value) == (text or repr(value)[:199] + "…")


PLAIN = st.integers() | st.text() | st.none()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_short_values_are_shown_exactly(value: Any) -> None:
    text = repr(value)
    assert shown(value, 100_000) == text or "..." in shown(value, 100_000)


def test_a_cyclic_value_is_shown() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert shown(loop).startswith("[1, [1, [1, ")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("a"), "ValueError: a"),
        (ValueError(), "ValueError"),
        (ValueError("a", 1), "ValueError: ('a', 1)"),
        (KeyError("a"), "KeyError: 'a'"),
        (ValueError("a" * 400), "ValueError: " + "a" * 287 + "…"),
        (OSError(2, "No such file"), "FileNotFoundError: [Errno 2] No such file"),
    ],
)
def test_exceptions_are_shown_as_the_last_line_of_a_traceback(error: BaseException, text: str) -> None:
    assert exception(error) == text


def test_hooks_of_other_threads_do_no_harm() -> None:
    test = """
import threading
def work():
    for i in range(90):
        assert f(i) == i + 1
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    assert set(statuses(run(test, SOLUTION))) == {"passed"}
