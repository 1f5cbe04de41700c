"""Protocols of judge programs: what is asked, what an end means, and whose fault a failure is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core import values
from scalebox.core.judging import JudgeEnd, JudgeRun
from scalebox.core.sample import Protocol
from scalebox.core.verdicts import Verdict
from scalebox.judge.answer import Question, scored
from scalebox.judge.by_program import Judged, judge_by_program, module_of

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
QUESTION = Question(input=b"in", output=b"out", answer=b"answer", args=("-x", "y"))
encode: Any = values.encode


class Scripted:
    """A runner whose judge ends as told, by the output that it is asked about."""

    def __init__(self, protocol: Protocol, ends: dict[bytes, JudgeEnd]) -> None:
        self._protocol = protocol
        self._ends = ends
        self.asked: list[list[bytes]] = []

    def run(self, runs: Sequence[JudgeRun]) -> list[JudgeEnd]:
        outputs = [self._output(run) for run in runs]
        self.asked.append(outputs)
        return [self._ends[output] for output in outputs]

    def _output(self, run: JudgeRun) -> bytes:
        if run.arguments is not None:
            args, _ = values.decode(run.arguments, 100)
            return bytes(args[1].encode())
        return {"testlib": run.files.get("output"), "icpc": run.stdin}.get(self._protocol) or run.files["answer.txt"]


def judged(protocol: Protocol, output: JudgeEnd, jury: JudgeEnd | None = None, weight: float = 1.0) -> Judged:
    runner = Scripted(protocol, {b"out": output} | ({b"answer": jury} if jury is not None else {}))
    (found,) = judge_by_program(runner, protocol, [msgspec.structs.replace(QUESTION, weight=weight)])
    assert runner.asked == [[b"out"], [b"answer"]][: 2 if jury is not None else 1]
    return found


def exits(code: int, stderr: str = "", **files: str) -> JudgeEnd:
    named = {f"feedback/{name}.txt": text.encode() for name, text in files.items()}
    return JudgeEnd(exit_code=code, stderr=stderr.encode(), files=named)


def returns(value: object) -> JudgeEnd:
    return JudgeEnd(exit_code=0, value=encode(value))


def test_what_each_protocol_asks() -> None:
    asked = {protocol: module_of(protocol).ask(QUESTION) for protocol in PROTOCOLS}
    assert asked["testlib"] == JudgeRun(
        argv=("input", "output", "answer", "-x", "y"), files={"input": b"in", "output": b"out", "answer": b"answer"}
    )
    assert asked["icpc"].argv == ("input", "answer", "feedback/", "-x", "y")
    assert (asked["icpc"].files, asked["icpc"].stdin) == ({"input": b"in", "answer": b"answer"}, b"out")
    assert asked["exit_code"] == JudgeRun(
        argv=("-x", "y"), files={"stdin.txt": b"in", "stdout.txt": b"answer", "answer.txt": b"out"}
    )
    assert values.decode(asked["python"].arguments, 100) == (("in", "out", "answer", "-x", "y"), {})


PASSED, MISMATCH = Verdict.PASSED, Verdict.OUTPUT_MISMATCH

#: Protocol, how the judge ends, weight of the test → verdict, difference, score, what the detail says.
ANSWERS: list[tuple[Protocol, JudgeEnd, float, Verdict, float, float | None, str]] = [
    ("testlib", exits(0, "ok 3 tokens\n"), 1.0, PASSED, 0.0, None, "ok 3 tokens"),
    ("testlib", exits(1, "wrong answer x\n"), 1.0, MISMATCH, 1.0, None, "wrong answer x"),
    ("testlib", exits(2, "wrong output format x"), 1.0, MISMATCH, 1.0, None, "wrong output format"),
    ("testlib", exits(4), 1.0, MISMATCH, 1.0, None, "rejects"),
    ("testlib", exits(8, "unexpected eof"), 1.0, MISMATCH, 1.0, None, "unexpected eof"),
    ("testlib", exits(7, "points 0.25 so so\n"), 1.0, MISMATCH, 0.75, 0.25, "points 0.25"),
    ("testlib", exits(7, "points 25 so so\n"), 100.0, MISMATCH, 0.75, 0.25, "points 25"),
    ("testlib", exits(7, "points 1\n"), 1.0, PASSED, 0.0, 1.0, ""),
    ("testlib", exits(7, "points 100\nSee file to check exit message\n"), 100.0, PASSED, 0.0, 1.0, ""),
    ("testlib", exits(7, "points 0\n"), 1.0, MISMATCH, 1.0, 0.0, ""),
    ("testlib", exits(0, "partially correct (0) hm\n"), 1.0, MISMATCH, 1.0, None, "partially correct"),
    ("testlib", exits(66, "partially correct (66) hm\n"), 1.0, MISMATCH, 1.0, None, "partially correct"),
    ("icpc", exits(42), 1.0, PASSED, 0.0, None, ""),
    ("icpc", exits(42, judgemessage="well", teammessage="team"), 1.0, PASSED, 0.0, None, "well"),
    ("icpc", exits(43, teammessage="so not"), 1.0, MISMATCH, 1.0, None, "so not"),
    ("icpc", exits(43, score="1"), 1.0, MISMATCH, 1.0, None, "rejects"),
    ("icpc", exits(42, score="0.5\n"), 1.0, MISMATCH, 0.5, 0.5, "score 0.5"),
    ("icpc", exits(42, score="50"), 100.0, MISMATCH, 0.5, 0.5, ""),
    ("icpc", exits(42, score="1.0"), 1.0, PASSED, 0.0, 1.0, ""),
    ("exit_code", exits(0), 1.0, PASSED, 0.0, None, ""),
    ("exit_code", exits(1, "why not"), 1.0, MISMATCH, 1.0, None, "why not"),
    ("exit_code", exits(255), 1.0, MISMATCH, 1.0, None, "rejects"),
    ("python", returns(True), 1.0, PASSED, 0.0, None, ""),
    ("python", returns(False), 1.0, MISMATCH, 1.0, None, "rejects"),
    ("python", returns(0.5), 1.0, MISMATCH, 0.5, 0.5, "score 0.5"),
    ("python", returns(0.5), 7.0, MISMATCH, 0.5, 0.5, ""),
    ("python", returns(1.0), 1.0, PASSED, 0.0, 1.0, ""),
    ("python", returns(1), 1.0, PASSED, 0.0, 1.0, ""),
    ("python", returns(0), 1.0, MISMATCH, 1.0, 0.0, ""),
]


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer(case: tuple[Protocol, JudgeEnd, float, Verdict, float, float | None, str]) -> None:
    protocol, end, weight, *expected, detail = case
    found = judged(protocol, end, weight=weight)
    assert [found.verdict, found.difference, found.score] == expected
    assert detail in found.detail


#: What is no answer.
FAULTS: list[tuple[Protocol, JudgeEnd]] = [
    *((protocol, JudgeEnd(fault="killed by SIGSEGV", stderr=b"\xff")) for protocol in PROTOCOLS),
    ("testlib", exits(3, "FAIL jury has no answer")),
    ("testlib", exits(5)),
    ("testlib", exits(42)),
    ("testlib", exits(7)),
    ("testlib", exits(7, "points 2\n")),
    ("testlib", exits(7, "points -1\n")),
    ("testlib", exits(7, "points 1\npoints 0\n")),
    ("testlib", exits(7, "points points_info=3\n")),
    ("testlib", exits(7, "xpoints 1\n")),
    ("icpc", exits(0)),
    ("icpc", exits(1)),
    ("icpc", exits(42, score="")),
    ("icpc", exits(42, score="much")),
    ("icpc", exits(42, score="2")),
    ("icpc", exits(42, score="1e400")),
    ("icpc", exits(42, score="nan")),
    ("icpc", exits(42, score="1 1")),
    ("icpc", exits(42, score="9" * 10_000)),
    ("python", exits(0)),
    ("python", JudgeEnd(exit_code=0, value=b"\xff")),
    *(("python", returns(value)) for value in (None, "True", 2, -1, 10**400, math.nan, math.inf, [True], b"1")),
]


@pytest.mark.parametrize(("protocol", "end"), FAULTS)
def test_whose_fault_a_failure_is(protocol: Protocol, end: JudgeEnd) -> None:
    accepts = {"icpc": exits(42), "python": returns(True)}.get(protocol, exits(0))
    rejects = {"icpc": exits(43), "python": returns(False)}.get(protocol, exits(1))
    mismatch = judged(protocol, end, accepts)
    assert (mismatch.verdict, mismatch.difference, mismatch.score) == (Verdict.OUTPUT_MISMATCH, 1.0, None)
    for jury in (rejects, end):
        found = judged(protocol, end, jury)
        assert found.verdict == Verdict.INTERNAL_ERROR
        assert "the task's judge failed" in found.detail


@pytest.mark.parametrize("doubt", [Verdict.UNKNOWN, Verdict.INTERNAL_ERROR])
def test_a_run_in_doubt_labels_nobody(doubt: Verdict) -> None:
    lost = JudgeEnd(fault="the sandbox was lost", doubt=doubt)
    assert judged("icpc", lost).verdict == doubt
    assert judged("icpc", exits(1), lost).verdict == doubt


_ENDS = st.builds(
    JudgeEnd,
    exit_code=st.none() | st.integers(-1, 300),
    fault=st.just("") | st.text(),
    stdout=st.binary(),
    stderr=st.binary() | st.just(b"points 1\n"),
    files=st.dictionaries(st.sampled_from(["feedback/score.txt", "feedback/judgemessage.txt"]), st.binary()),
    value=st.none() | st.binary() | st.just(encode(True)),
)


@given(protocol=st.sampled_from(PROTOCOLS), output=_ENDS, jury=_ENDS, weight=st.floats(1e-6, 1e6))
def test_whatever_a_judge_leaves_is_read_in_bounds(
    protocol: Protocol, output: JudgeEnd, jury: JudgeEnd, weight: float
) -> None:
    question = msgspec.structs.replace(QUESTION, weight=weight)
    (found,) = judge_by_program(Scripted(protocol, {b"out": output, b"answer": jury}), protocol, [question])
    passed = found.verdict == Verdict.PASSED
    assert passed == (found.difference == 0.0)
    assert 0.0 <= found.difference <= 1.0
    assert found.score is None or found.difference == 1.0 - found.score
    assert len(found.detail) < 5000
    if passed:
        assert not output.fault
        assert protocol == "python" or output.exit_code in {"icpc": {42}, "testlib": {0, 7}}.get(protocol, {0})


@given(points=st.floats(0, 1), weight=st.floats(1e-3, 1e3))
def test_a_score_is_the_share_of_the_weight(points: float, weight: float) -> None:
    answer = scored(repr(points * weight).encode(), weight, "")
    assert answer.kind == "accepted"
    assert answer.score == pytest.approx(points, abs=1e-8)
