"""Runs of tests that are code: a solution and its tests in two processes, or in one where they cannot be told apart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from scalebox.core.limits import MIB
from scalebox.core.sample import AssertTest, HarnessTest, ProgramTest, PytestTest, Sample
from scalebox.execute.runs import Lost, build_surely, seed_of
from scalebox.execute.separate.frames import Case, Report, report
from scalebox.execute.separate.program import split_program, whole
from scalebox.execute.separate.sabotage import KINDS
from scalebox.sandbox import answers
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.outcome import Build, Outcome
from scalebox.sandbox.pair import MOST_COPIES, RUN_WALLS, PairOutcome

CodeTest = AssertTest | HarnessTest | ProgramTest | PytestTest

#: So often the tests are run again for the cases behind one that ended the run; then those share its fate. They do
#: so too once the runs have taken the wall time of a case: or a program could hold its worker for long.
_STRIKES = 3
#: What tests cannot have, whatever the solution does. Other refusals may hang on what the solution returned.
_NOT_FOR_TESTS = ("process creation", "network")
#: Upper bound for the runs of one test, in wall limits: quick ones, one more, one that counts, both perhaps repeated.
MAX_WALLS = 1 + 4 * RUN_WALLS


class Run(NamedTuple):
    """What the runs of one test came to. `ends` has, by case name, the run that a case was cut off in.

    `whole`: it had all the copies of the solution that it was to have. `refused`: what the tests themselves asked for,
    apart from the solution, that no text of a test can have here. `doubt`: why failures may be the fault of a busy
    machine. `allowed_cpu_s`: how much CPU time a case may have taken.
    """

    report: Report
    ends: dict[str, Outcome]
    solution: Outcome
    runs: int
    whole: bool = True
    refused: tuple[str, ...] = ()
    doubt: str = ""
    allowed_cpu_s: float = 0.0


class Part(NamedTuple):
    """One test as the jail takes it: the source of the solution, and what its process of tests is told."""

    place: int
    test: CodeTest
    solution: str
    kind: str
    source: str


def parts_of(sample: Sample, source: str) -> list[Part]:
    """Return the sample's tests, with the solution that each is for: a program's prefix is a part of it."""
    parts = []
    for index, test in enumerate(sample.tests):
        if isinstance(test, AssertTest):
            parts.append(Part(index, test, source, "assert", test.source))
        elif isinstance(test, HarnessTest):
            parts.append(Part(index, test, source, "harness", test.source))
        elif isinstance(test, PytestTest):
            parts.append(Part(index, test, source, "pytest", ""))
        elif isinstance(test, ProgramTest):
            split = split_program(test.prefix, source, test.suffix)
            solution, tests = split or (whole(test.prefix, source, test.suffix), "")
            parts.append(Part(index, test, solution, "program" if split else "script", tests))
    return parts


class Tested:
    """The tests of a sample that are for the same solution, in a jail."""

    def __init__(self, jail: Jail, sample: Sample, parts: list[Part]) -> None:
        self._jail = jail
        self._sample = sample
        self._parts = parts
        self._source = parts[0].solution.encode("utf-8", "surrogatepass")
        self._build = Build(ok=False)
        self._together = False
        self._variant = ""
        self._copies = 1

    def build(self, *, together: bool = False, variant: str = "") -> Build:
        """Build both, once more where the first was lost.

        `together` is for a run in one process; `variant` names a kind of sabotage (separate/sabotage.py).
        """
        self._together, self._variant = together, variant
        self._build = build_surely(self._jail, self._open)
        return self._build

    def _open(self) -> Build:
        items = [
            {"kind": part.kind, "source": part.source, "files": dict(getattr(part.test, "files", {}))}
            for part in self._parts
        ]
        tests = {
            "items": items,
            "setup": self._sample.setup,
            "modules": self.modules,
            "program": self._source if self._together else None,
        }
        return self._jail.open(self._source, self._sample.limits, [], tests, self._variant)

    @property
    def modules(self) -> list[str]:
        """The names by which tests may import the solution."""
        names = {"solution", self._sample.main, *self._sample.solution_files}
        return sorted(name.removesuffix(".py").replace("/", ".") for name in names if name.endswith(".py"))

    def fault_of(self, number: int) -> str:
        """Return why a test is no Python, "" where it is: the task's fault."""
        return self._fact("failed", number)

    def why_shared(self, number: int) -> str:
        """Return why a test has to run in one process with the solution, "" where it has not."""
        if self._parts[number].kind == "script":
            return "the program is one text"
        return self._fact("shared", number)

    def _fact(self, name: str, number: int) -> str:
        facts = self._build.tests.facts.get(name) if self._build.tests is not None else None
        return str(facts.get(str(number), ""))[:300] if isinstance(facts, dict) else ""

    def count_of(self, number: int) -> int:
        """Return the number of assertions that a test is written with, at least 1."""
        counts = self._build.tests.facts.get("cases") if self._build.tests is not None else None
        count = counts[number] if isinstance(counts, list) and number < len(counts) else 1
        return max(1, count) if type(count) is int else 1

    def passes_sabotaged(self, number: int) -> str:
        """Return which sabotaged copy of the solution passes a test too, "" where all are rejected."""
        for kind in KINDS:
            build = self.build(variant=kind)
            if build.ok and build.tests is not None and build.tests.ok:
                found = self.run(number).report
                if found.reason == "done" and all(case.status == "passed" for case in found.cases):
                    return kind
        return ""

    def may_count_calls(self, number: int) -> bool:
        """Return whether a test that the solution has passed says nothing yet of a function of its arguments.

        That is what such a test wants: and a solution that is not proved to keep no state may know the calls' order.
        """
        facts = self._build.tests.facts.get("one_function") if self._build.tests is not None else None
        return isinstance(facts, list) and number in facts and not self._build.stateless and not self._together

    def run_afresh(self, number: int) -> Run:
        """Run a test with a fresh copy of the solution for each of its first calls."""
        self._copies = MOST_COPIES
        try:
            return self.run(number)
        finally:
            self._copies = 1

    def run_alone(self, number: int, name: str, others: list[str]) -> Run | None:
        """Run one numbered case of a test, passing over the others; return None where it was not reached."""
        outcome = self._once(number, others, -1)
        found = report(outcome.frames, outcome.board)
        cases = [case for case in found.cases if case.name == name and case.status not in ("unreached", "over")]
        ends = {name: _end_of(outcome, by_itself=found.reason == "")}
        if not cases:
            return None
        found = found._replace(cases=cases)
        return Run(found, ends, outcome.solution, 1, doubt=outcome.doubt, allowed_cpu_s=outcome.allowed_cpu_s)

    # -- runs -------------------------------------------------------------------------------------------------

    def run(self, number: int) -> Run:
        """Run a test, again for what lies behind a case that ended the run, and once more where that was lost.

        In the end the cases that are left are counted only, for it is the test that says how many there are.
        """
        ends: dict[str, Outcome] = {}
        cut: dict[str, Case] = {}
        skip_from, runs, begun, doubt = -1, 0, time.monotonic(), ""
        while True:
            outcome = self._once(number, list(cut), skip_from)
            runs += 1
            if outcome.cause == "lost":
                self._jail.stop()
                outcome = self._once(number, list(cut), skip_from)
                runs += 1
            doubt = doubt or outcome.doubt
            found = report(outcome.frames, outcome.board)
            cases = [_kept(case, cut) for case in found.cases]
            running = next((case for case in cases if case.status == "running" and case.name not in cut), None)
            if running is not None:
                ends[running.name] = _end_of(outcome, by_itself=found.reason == "")
                cut[running.name] = running
            result = Run(
                found._replace(cases=cases), ends, outcome.solution, runs, not outcome.broken, self._refused(outcome),
                doubt, outcome.allowed_cpu_s,
            )  # fmt: skip
            if running is None or skip_from >= 0 or self._together or outcome.broken:
                return result
            if len(cut) > _STRIKES or time.monotonic() - begun >= self._sample.limits.wall_s:
                if not running.name.isdigit():
                    return result
                skip_from = int(running.name)

    def _refused(self, outcome: PairOutcome) -> tuple[str, ...]:
        """Return what was refused to the process of the tests, if nothing of the solution runs in it."""
        return () if self._together else tuple(what for what in outcome.tests.denied if what.startswith(_NOT_FOR_TESTS))

    def _once(self, number: int, skip: list[str], skip_from: int) -> PairOutcome:
        if not self._jail.opened:
            again = self.build(together=self._together, variant=self._variant)
            if not again.ok or again.tests is None or not again.tests.ok:
                raise Lost("the program could not be built again")
        order = {"seed": seed_of(self._parts[number].test.id), "files": self._files()}
        solution = {**order, "role": "wait" if self._together else "serve"}
        tests: dict[str, Any] = {**order, "files": {}, "item": self._item(number, skip, skip_from)}
        if self._together:
            tests |= {"role": "test together", "gated": True}
        else:
            tests |= {"role": "test", "secret": True}
        return self._jail.run_pair(solution, tests, int(self._sample.limits.output_mb * MIB), self._copies)

    def _files(self) -> dict[str, bytes]:
        return {
            name: text.encode("utf-8", "surrogatepass")
            for name, text in self._sample.solution_files.items()
            if name != self._sample.main
        }

    def _item(self, number: int, skip: list[str], skip_from: int) -> dict[str, Any]:
        part = self._parts[number]
        item: dict[str, Any] = {
            "index": number,
            "kind": part.kind,
            "entry_points": list(self._sample.entry_points),
            "modules": self.modules,
            "skip": skip,
            "skip_from": skip_from,
            "copies": self._copies,
            "solution_parent": answers.count(self._build.facts.get("pid"), 1 << 31),
        }
        if isinstance(part.test, PytestTest):
            item |= {"files": dict(part.test.files), "required": list(part.test.required)}
        return item


def _kept(case: Case, cut: dict[str, Case]) -> Case:
    """Return a case of a later run with what an earlier one has found of it."""
    if case.name in cut:
        return cut[case.name]
    return case._replace(status="unreached") if case.status == "over" else case


def _end_of(outcome: PairOutcome, *, by_itself: bool) -> Outcome:
    """Return how the case that was running came to its end, as an outcome that can be labelled.

    `by_itself` says that the process of the tests ended without a word, and not the solution's before it.
    """
    if outcome.cause != "exited":
        end = Outcome(
            cause=outcome.cause, cpu_s=outcome.cpu_s, wall_s=outcome.wall_s, waited_s=outcome.waited_s,
            doubt=outcome.doubt,
        )  # fmt: skip
    else:
        ended = outcome.tests if by_itself else outcome.solution
        end = Outcome(exit_code=ended.exit_code, signal=ended.signal, fault=ended.fault)
    end.denied = outcome.solution.denied
    end.memory_bytes = outcome.solution.memory_bytes
    return end


def groups_of(parts: list[Part]) -> Iterator[list[Part]]:
    """Yield the parts that share a solution, in order."""
    group: list[Part] = []
    for part in parts:
        if group and part.solution != group[0].solution:
            yield group
            group = []
        group.append(part)
    if group:
        yield group
