"""One sample under way on the work side: its program is run and judged test by test, and its result grows."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from scalebox.core.errors import SandboxError
from scalebox.core.limits import MIB
from scalebox.core.result import CaseResult, Stage, VerificationResult
from scalebox.core.sample import CallTest, JudgeProgram, ProgramTest, PytestTest, Sample, StdinTest, Test
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict, worst
from scalebox.core.wire import Again
from scalebox.execute.afresh import controlled, found_of, has_failed
from scalebox.execute.doubt import Doubts
from scalebox.execute.interactive import transcript
from scalebox.execute.judges import Judge, Unbuilt
from scalebox.execute.label import denied_text, label, label_build
from scalebox.execute.native import Native
from scalebox.execute.programs import WHY_SHARED
from scalebox.execute.programs.assembled import Assembled
from scalebox.execute.programs.ended import TOKEN_BYTES, judged_at_end
from scalebox.execute.programs.jest import suite_cases
from scalebox.execute.reported import Labelled
from scalebox.execute.runs import Lost, Program, share, value_of
from scalebox.execute.tested import Part, Run, Tested
from scalebox.execute.text import shown
from scalebox.interactive import interview
from scalebox.judge import Difference, judge_output, judge_value
from scalebox.judge.answer import Question
from scalebox.judge.by_program import Judged, judge_by_program
from scalebox.languages.toolchain import Missing
from scalebox.sandbox.outcome import Build, Frame, Outcome

_T = TypeVar("_T", StdinTest, CallTest)

#: Most outputs, and bytes of them, that wait to be judged by a program.
_MOST_WAITING, _MOST_HELD = 64, 16 * MIB


class Verification:
    """One sample under way, and its result as it grows."""

    def __init__(
        self, sample: Sample, settings: Settings, prefixes: tuple[str, ...], tier: str, again: Again | None = None
    ) -> None:
        """With `again`, only what a first run left in doubt is run, and what that left out."""
        self.sample = sample
        #: Has a judge program stand ready; raises Unbuilt, Missing, SandboxError.
        self.judge: Callable[[JudgeProgram], Judge] | None = None
        self._no_judge: Judged | None = None
        #: Whether no other run would find the judge, either.
        self._no_tools = False
        self.settings = settings
        self._text_limit = settings.text_limit if sample.text_limit is None else sample.text_limit
        self.prefixes = prefixes
        self.tier = tier
        self.code = ""
        self.message = ""
        self.stage: Stage = "judge"
        self.denied: list[str] = []
        #: What was refused without having been asked about: seen in how programs ended.
        self._seen: dict[int, list[str]] = {}
        self.integrity_reason = ""
        self.build_s = self.run_s = self.judge_s = 0.0
        self.doubts = Doubts(sample, again)
        #: The cases of each test that was run, by the place of the test; one of its own for outputs and calls.
        self.cases: dict[int, list[CaseResult]] = self.doubts.certain()
        if again is not None:
            first = again.result
            self.denied, self.integrity_reason = list(first.denied), first.integrity_reason
            self.build_s, self.run_s, self.judge_s = (
                first.timings.build_s, first.timings.run_s, first.timings.judge_s,
            )  # fmt: skip

    # -- stages -----------------------------------------------------------------------------------------------

    def run(self, program: Program) -> None:
        build = program.build()
        self.build_s += build.seconds
        if not build.ok:
            self.failed("build", label_build(build), build.message, doubtful=build.starved)
            return
        try:
            if isinstance(self.sample.tests[0], StdinTest):
                self._run_stdin(program)
            else:
                self._run_calls(program, build)
        except Lost as lost:
            self.failed("execute", Verdict.INTERNAL_ERROR, str(lost))

    def _run_stdin(self, program: Program) -> None:
        if self.sample.interactor is not None:
            self._run_interactive(program, self.sample.interactor)
            return
        if self.sample.checker is not None:
            self._run_checked(program, self.sample.checker)
            return
        tests = self._left(StdinTest)
        for (index, test), (outcome, attempts) in zip(tests, self._timed(program, tests), strict=False):
            case = self._judged(test, outcome, attempts, self._judge_stdin(test, outcome))
            self._put(index, [case], outcome.doubt)
            if self.stopped():
                return

    def _left(self, kind: type[_T]) -> list[tuple[int, _T]]:
        """Return the tests of this kind that have no case yet, with their places."""
        return [
            (index, test)
            for index, test in enumerate(self.sample.tests)
            if isinstance(test, kind) and index not in self.cases
        ]

    def _put(self, index: int, cases: list[CaseResult], doubt: str = "") -> None:
        """Take the cases of a test into the result; `doubt` says why the machine may be to blame for failures."""
        settled = self.cases[index] = self.doubts.settled(index, cases, doubt)
        # Named before a second run is told of: what is refused goes by one name.
        pairs = zip(cases, settled, strict=True)
        self._seen[index] = [case.detail for case, now in pairs if now.verdict == Verdict.RESOURCE_DENIED]

    def _run_interactive(self, program: Program, interactor: JudgeProgram) -> None:
        """Have the program talk to the task's, one test after another. Raises Missing, SandboxError."""
        assert self.judge is not None
        try:
            judge = self.judge(interactor)
        except Missing as missing:
            self.failed("build", Verdict.UNKNOWN, f"the interactor's {missing}")
            return
        except Unbuilt as problem:
            self.failed("build", problem.verdict, str(problem))
            return
        for index, test in self._left(StdinTest):
            begun = time.perf_counter()
            talk, judged = interview(program, judge, test, keep_bytes=self.settings.transcript_limit)
            self.run_s += time.perf_counter() - begun
            judgement = judged.verdict, judged.detail, judged.difference
            case = self._judged(test, talk.found.solution, talk.attempts, judgement)
            case.score, case.transcript = judged.score, transcript(talk.found)
            both = talk.found.solution.doubt or talk.found.interactor.doubt
            self._put(index, [case], both)
            if self.stopped():
                return

    def _run_checked(self, program: Program, checker: JudgeProgram) -> None:
        """Run the tests, and have the outputs of those that ended cleanly judged by a program, many at a time."""
        tests = self._left(StdinTest)
        waiting: list[tuple[int, StdinTest, Outcome, int]] = []
        for (index, test), (outcome, attempts) in zip(tests, self._timed(program, tests), strict=False):
            verdict, detail = label(outcome, self.sample.limits)
            if verdict is None:
                waiting.append((index, test, outcome, attempts))
            else:
                self._put(index, [self._judged(test, outcome, attempts, (verdict, detail, 1.0))], outcome.doubt)
            held = sum(len(outcome.stdout) for _, _, outcome, _ in waiting)
            if self.sample.early_stop or len(waiting) >= _MOST_WAITING or held > _MOST_HELD:
                self._check(checker, waiting)
                waiting = []
            if self.stopped():
                return
        self._check(checker, waiting)

    def _check(self, checker: JudgeProgram, waiting: Sequence[tuple[int, StdinTest, Outcome, int]]) -> None:
        if not waiting:
            return
        begun = time.perf_counter()
        questions = [
            Question(
                input=test.stdin.encode("utf-8", "surrogatepass"), output=outcome.stdout, weight=test.weight,
                answer=test.stdout.encode("utf-8", "surrogatepass"), args=checker.args,
            )
            for _, test, outcome, _ in waiting
        ]  # fmt: skip
        found = self._ask(checker, questions)
        self.judge_s += time.perf_counter() - begun
        for (index, test, outcome, attempts), judged in zip(waiting, found, strict=True):
            case = self._judged(test, outcome, attempts, (judged.verdict, judged.detail, judged.difference))
            case.score = judged.score
            late = judged.detail if judged.verdict == Verdict.UNKNOWN and not self._no_tools else ""
            self._put(index, [case], outcome.doubt or late)

    def _ask(self, checker: JudgeProgram, questions: Sequence[Question]) -> list[Judged]:
        """Have outputs judged; a judge that cannot be had labels nobody, and is not tried again."""
        if self._no_judge is None:
            assert self.judge is not None
            try:
                return judge_by_program(self.judge(checker), checker.protocol, questions)
            except Missing as missing:
                self._no_tools = True
                self._no_judge = Judged(Verdict.UNKNOWN, f"the checker's {missing}")
            except Unbuilt as problem:
                self._no_judge = Judged(problem.verdict, str(problem))
            except (Lost, SandboxError) as error:
                self._no_judge = Judged(Verdict.INTERNAL_ERROR, str(error))
        return [self._no_judge] * len(questions)

    def _run_calls(self, program: Program, build: Build) -> None:
        numbered = self._left(CallTest)
        first = self.doubts.again is None
        shared = first and build.stateless and self.settings.share_state_free and len(numbered) > 1
        if shared:
            self._run_shared(program, numbered)
        again = self._left(CallTest)
        for (index, test), (outcome, attempts) in zip(again, self._timed(program, again), strict=False):
            judgement = self._judge_call(index, test, outcome)
            self._put(index, [self._judged(test, outcome, attempts + shared, judgement)], outcome.doubt)
            if self.stopped():
                return

    def _run_shared(self, program: Program, numbered: list[tuple[int, CallTest]]) -> None:
        """Settle the calls that are right in a shared process; all others are for processes of their own."""
        begun, judged = time.perf_counter(), self.judge_s
        for index, frame, outcome in share(program, numbered, self._accept):
            if frame is not None and outcome is not None:
                self.cases[index] = [_passed(numbered[index][1], frame, outcome)]
        self.run_s += time.perf_counter() - begun - (self.judge_s - judged)

    def run_program(self, index: int, test: ProgramTest | PytestTest, program: Native, made: Assembled) -> None:
        """Build and run one program with tests around the code, which has passed if their end was reached."""
        self.integrity_reason = WHY_SHARED
        if made.problem:
            self._not_built(index, test, Verdict.COMPILE_ERROR, made.problem)
            return
        build = program.build()
        self.build_s += build.seconds
        if not build.ok:
            self._not_built(index, test, label_build(build), _placed(build, made), doubtful=build.starved)
            return
        begun, token = time.perf_counter(), secrets.token_hex(TOKEN_BYTES // 2).encode()
        try:
            outcome, attempts = program.run_to_end(token)
        except Lost as lost:
            self._not_built(index, test, Verdict.INTERNAL_ERROR, str(lost))
            return
        finally:
            self.run_s += time.perf_counter() - begun
        if isinstance(test, ProgramTest):
            judgement = judged_at_end(outcome, token, self.sample.limits, made.failed)
            self._put(index, [self._judged(test, outcome, attempts, judgement)], outcome.doubt)
            return
        cases = suite_cases(outcome, token, self.sample.limits, test)
        judged = [
            self._judged(test, outcome, attempts, (case.verdict, case.detail, float(has_failed(case))))
            for case in cases
        ]
        named = [
            msgspec.structs.replace(one, id=f"{test.id}.{case.name}", test=test.id)
            for one, case in zip(judged, cases, strict=True)
        ]
        self._put(index, named, outcome.doubt)

    def _not_built(self, index: int, test: Test, verdict: Verdict, message: str, *, doubtful: bool = False) -> None:
        self.stage = "build"
        case = CaseResult(id=test.id, verdict=verdict, difference=1.0, detail=message)
        self._put(index, [case], message if doubtful else "")

    def test(self, tested: Tested, parts: list[Part]) -> None:
        """Run tests that are code, those first that run apart from the solution."""
        if not self._built(tested.build()):
            return
        together = []
        for number, part in enumerate(parts):
            if part.place in self.cases:
                continue
            fault, why = tested.fault_of(number), tested.why_shared(number)
            if fault:
                detail = f"the test is no Python: {fault}"
                self.cases[part.place] = [
                    CaseResult(id=part.test.id, verdict=Verdict.INTERNAL_ERROR, difference=1.0, detail=detail)
                ]
            elif why:
                together.append((number, why))
            elif not self.stopped():
                self._run_test(tested, number, part)
        if together and not self.stopped() and self._built(tested.build(together=True)):
            self.integrity_reason = together[0][1]
            for number, _ in together:
                if not self.stopped():
                    self._run_test(tested, number, parts[number])

    def _built(self, build: Build) -> bool:
        """Take note of a build; return whether there is something to run."""
        self.build_s += build.seconds
        failed = build if not build.ok or build.tests is None else build.tests
        if failed.ok:
            return True
        ours = failed is not build and not failed.starved  # tests that are no program
        verdict = Verdict.INTERNAL_ERROR if ours else label_build(failed)
        self.failed("build", verdict, failed.message, doubtful=failed.starved)
        return False

    def _run_test(self, tested: Tested, number: int, part: Part) -> None:
        begun = time.perf_counter()
        try:
            run, found = found_of(tested, number, part, self.sample.limits)
        except Lost as lost:
            self.failed("execute", Verdict.INTERNAL_ERROR, str(lost))
            return
        finally:
            self.run_s += time.perf_counter() - begun
        self.denied += run.solution.denied
        if isinstance(part.test, PytestTest) and part.test.mutant_control and not any(map(has_failed, found)):
            found = controlled(tested, number, found)
        # What the program printed is told once, where people look for it.
        printed = next((at for at, case in enumerate(found) if has_failed(case)), 0)
        self._put(
            part.place, [self._tested(part, case, run, at == printed) for at, case in enumerate(found)], run.doubt
        )

    def _tested(self, part: Part, case: Labelled, run: Run, printed: bool) -> CaseResult:
        limit, test_id = self._text_limit, part.test.id
        return CaseResult(
            id=f"{test_id}.{case.name}" if case.name else test_id,
            test=test_id if case.name else "",
            verdict=case.verdict,
            cpu_s=case.cpu_s,
            wall_s=case.wall_s,
            memory_bytes=run.solution.memory_bytes,
            attempts=run.runs,
            stdout=shown(run.solution.stdout if printed else b"", limit, self.prefixes),
            stderr=shown(run.solution.stderr if printed else b"", limit, self.prefixes),
            difference=0.0 if case.verdict == Verdict.PASSED else 1.0,
            detail=shown(case.detail.encode("utf-8", "replace"), limit, self.prefixes),
            text=case.text,
        )

    def stopped(self) -> bool:
        return self.sample.early_stop and any(
            case.verdict != Verdict.PASSED for cases in self.cases.values() for case in cases
        )

    def _timed(
        self, program: Program, tests: Sequence[tuple[int, StdinTest | CallTest]]
    ) -> Iterator[tuple[Outcome, int]]:
        """Run the tests, counting the time that the runs take and not that of judging them."""
        runs = program.outcomes(tests, alone=self.sample.early_stop)
        while True:
            begun = time.perf_counter()
            done = next(runs, None)
            self.run_s += time.perf_counter() - begun
            if done is None:
                return
            yield done

    # -- judging ----------------------------------------------------------------------------------------------

    def _accept(self, index: int, data: bytes) -> bool:
        test = self.sample.tests[index]
        assert isinstance(test, CallTest)
        verdict, _, _ = self._verdict(Verdict.ASSERT_FAIL, judge_value, test.expect, test.expect_json, data)
        return verdict == Verdict.PASSED

    def _judge_stdin(self, test: StdinTest, outcome: Outcome) -> tuple[Verdict, str, float]:
        verdict, detail = label(outcome, self.sample.limits)
        if verdict is not None:
            return verdict, detail, 1.0
        return self._verdict(Verdict.OUTPUT_MISMATCH, judge_output, test.stdout, outcome.stdout)

    def _judge_call(self, index: int, test: CallTest, outcome: Outcome) -> tuple[Verdict, str, float]:
        verdict, detail = label(outcome, self.sample.limits)
        if verdict is not None:
            return verdict, detail, 1.0
        value, problem = value_of(outcome, index)
        if value is None:
            over = "output limit" in problem
            return (Verdict.OUTPUT_EXCEED if over else Verdict.RUNTIME_ERROR), problem, 1.0
        return self._verdict(Verdict.ASSERT_FAIL, judge_value, test.expect, test.expect_json, value)

    def _verdict(
        self, otherwise: Verdict, judge: Callable[..., Difference], *what: object
    ) -> tuple[Verdict, str, float]:
        """Compare; a judge that cannot is the task's fault or ours, and labels nobody."""
        try:
            difference = self._compared(judge, *what)
        except Exception as error:
            return Verdict.INTERNAL_ERROR, f"the expected value cannot be judged: {error!r}", 1.0
        return (Verdict.PASSED, "", 0.0) if difference.equal else (otherwise, difference.detail, difference.degree)

    def _compared(self, judge: Callable[..., Difference], *what: object) -> Difference:
        begun = time.perf_counter()
        try:
            return judge(*what, self.sample.match)
        finally:
            self.judge_s += time.perf_counter() - begun

    def _judged(self, test: Test, outcome: Outcome, attempts: int, judgement: tuple[Verdict, str, float]) -> CaseResult:
        verdict, detail, degree = judgement
        if outcome.denied:
            self.denied += dict.fromkeys(outcome.denied)
            if verdict in (Verdict.OUTPUT_MISMATCH, Verdict.ASSERT_FAIL, Verdict.RUNTIME_ERROR):
                verdict, detail = Verdict.RESOURCE_DENIED, denied_text(outcome)
        limit = self._text_limit
        return CaseResult(
            id=test.id,
            verdict=verdict,
            cpu_s=outcome.cpu_s,
            wall_s=outcome.wall_s,
            memory_bytes=outcome.memory_bytes,
            attempts=attempts,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            stdout=shown(outcome.stdout, limit, self.prefixes),
            stderr=shown(outcome.stderr, limit, self.prefixes),
            difference=degree,
            detail=shown(detail.encode("utf-8", "replace"), limit, self.prefixes),
        )

    # -- the result -------------------------------------------------------------------------------------------

    def failed(self, stage: Stage, verdict: Verdict, message: str, *, doubtful: bool = False) -> VerificationResult:
        """Give every case that has none yet this verdict; `doubtful` says that the machine was to blame."""
        message = shown(message.encode("utf-8", "replace"), self._text_limit, self.prefixes)
        self.stage, self.message = stage, message
        for index, test in enumerate(self.sample.tests):
            if index not in self.cases:
                case = CaseResult(id=test.id, verdict=verdict, difference=1.0, detail=message)
                self._put(index, [case], message if doubtful else "")
        return self.result()

    def result(self) -> VerificationResult:
        cases = [
            case
            for index, test in enumerate(self.sample.tests)
            for case in self.cases.get(index) or [CaseResult(id=test.id, verdict=Verdict.NOT_RUN, attempts=0)]
        ]
        verdict = worst(case.verdict for case in cases)
        denied = self.denied or [name for _, seen in sorted(self._seen.items()) for name in seen]
        result = VerificationResult(
            id=self.sample.id,
            problem_id=self.sample.problem_id,
            verdict=verdict,
            partial=len(self.cases) < len(self.sample.tests),
            stage=self.stage,
            tier=self.tier,
            integrity="shared" if self.integrity_reason else "separate",
            integrity_reason=self.integrity_reason,
            code=self.code,
            message=self.message or _message(cases),
            cases=cases,
            denied=list(dict.fromkeys(denied)),
            risk=_risk(verdict, denied),
        )
        result.timings.build_s, result.timings.run_s, result.timings.judge_s = self.build_s, self.run_s, self.judge_s
        return result


def _placed(build: Build, made: Assembled) -> str:
    """Return what a compiler said, with the line of the code that it is about."""
    said = build.message.removeprefix(f"line {build.line}: ")
    return f"{made.where(build.line)}{said}" if build.line else said


def _passed(test: CallTest, frame: Frame, outcome: Outcome) -> CaseResult:
    """Return the result of a call that was right in a shared process."""
    return CaseResult(
        id=test.id, verdict=Verdict.PASSED, cpu_s=frame.cpu_s, wall_s=frame.wall_s,
        memory_bytes=outcome.memory_bytes, exit_code=0,
    )  # fmt: skip


def _message(cases: list[CaseResult]) -> str:
    first = next((case for case in cases if case.verdict not in (Verdict.PASSED, Verdict.NOT_RUN)), None)
    return f"case {first.id}: {first.detail}" if first is not None else ""


def _risk(verdict: Verdict, denied: list[str]) -> Literal["none", "medium", "high"]:
    if verdict == Verdict.RESOURCE_DENIED:
        return "high"
    return "medium" if denied else "none"
