"""What a package says of its submissions, in the judges' abbreviations, and whether that is what came out.

AC accepted, WA wrong answer, RTE run-time error, TLE time limit exceeded, MLE memory limit, OLE output limit, CE
compile error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from scalebox.core.verdicts import DOUBTFUL, Verdict

FAILURES = frozenset({"WA", "RTE", "TLE", "MLE", "OLE", "CE"})
ANY = FAILURES | {"AC"}

#: What contest systems call our verdicts. Those that know four outcomes count memory as a run-time error, and too much
#: output as that or as a wrong answer.
_CALLED: Mapping[Verdict, frozenset[str]] = {
    Verdict.PASSED: frozenset({"AC"}),
    Verdict.OUTPUT_MISMATCH: frozenset({"WA"}),
    Verdict.ASSERT_FAIL: frozenset({"WA"}),
    Verdict.RUNTIME_ERROR: frozenset({"RTE"}),
    Verdict.RESOURCE_DENIED: frozenset({"RTE", "WA"}),
    Verdict.TIME_OUT: frozenset({"TLE"}),
    Verdict.MEMORY_EXCEED: frozenset({"MLE", "RTE"}),
    Verdict.OUTPUT_EXCEED: frozenset({"OLE", "RTE", "WA"}),
    Verdict.COMPILE_ERROR: frozenset({"CE"}),
}

_ANNOTATION = re.compile(r"@EXPECTED_RESULTS@:[ \t]*([A-Za-z_\-, \t]+)")
#: How annotations spell the outcomes, without hyphens and underscores.
_SPELLINGS = {
    "CORRECT": "AC", "ACCEPTED": "AC", "WRONGANSWER": "WA", "NOOUTPUT": "WA", "TIMELIMIT": "TLE",
    "TIMELIMITEXCEEDED": "TLE", "RUNERROR": "RTE", "RUNTIMEERROR": "RTE", "COMPILERERROR": "CE", "MEMORYLIMIT": "MLE",
    "OUTPUTLIMIT": "OLE",
}  # fmt: skip


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """Each case that counts has an outcome of `permitted`, and each set of `required` holds the outcome of some case.

    With `first_only` what counts is the first case that fails, as in judging that stops there; else all cases do.
    """

    permitted: frozenset[str]
    required: tuple[frozenset[str], ...] = ()
    first_only: bool = False

    def met(self, verdicts: Sequence[Verdict]) -> bool | None:
        """Say whether this is what came out of the cases, in their order; None where that is in doubt."""
        seen: Sequence[Verdict] = [verdict for verdict in verdicts if verdict is not Verdict.NOT_RUN]
        if self.first_only:
            seen = [verdict for verdict in seen if verdict is not Verdict.PASSED][:1] or seen[:1]
        called = [_CALLED[verdict] for verdict in seen if verdict not in DOUBTFUL]
        if not all(outcomes & self.permitted for outcomes in called):
            return False
        if not seen or any(verdict in DOUBTFUL for verdict in seen):
            return None
        return all(any(outcomes & required for outcomes in called) for required in self.required)

    def __and__(self, other: Expectation) -> Expectation:
        """Return the expectation that both are met."""
        permitted = self.permitted & other.permitted
        return Expectation(permitted=permitted, required=self.required + other.required)

    def __str__(self) -> str:
        outcomes = min(self.required, key=len, default=self.permitted)
        if outcomes >= FAILURES:
            return "any" if "AC" in outcomes else "rejected"
        return "|".join(sorted(outcomes))


def one_of(*outcomes: str) -> Expectation:
    """Return the expectation that judging ends with one of these outcomes, where it stops at the first failure."""
    return Expectation(permitted=frozenset(outcomes), first_only=True)


def all_within(*outcomes: str) -> Expectation:
    """Return the expectation that some case fails in one of these ways, and none in another."""
    return Expectation(permitted=frozenset({"AC", *outcomes}), required=(frozenset(outcomes),))


def some_case(*outcomes: str) -> Expectation:
    """Return the expectation that some case has one of these outcomes, whatever the others have."""
    return Expectation(permitted=ANY, required=(frozenset(outcomes),))


REJECTED = some_case(*FAILURES)
ACCEPTED = Expectation(permitted=frozenset({"AC"}))

#: What the folder of a submission says, where judging stops at the first failure (the format's oldest version).
LEGACY = {
    "accepted": ACCEPTED,
    "wrong_answer": one_of("WA"),
    "time_limit_exceeded": one_of("TLE"),
    "run_time_error": one_of("RTE"),
    "partially_accepted": REJECTED,
    "rejected": REJECTED,
}
#: The same in a problem with scores, in which groups of tests are judged whatever others came to.
LEGACY_SCORING = LEGACY | {
    "wrong_answer": some_case("WA"),
    "time_limit_exceeded": some_case("TLE"),
    "run_time_error": some_case("RTE"),
}
#: The same in the format's version of 2023-07.
DRAFT = {
    "accepted": ACCEPTED,
    "wrong_answer": all_within("WA"),
    "time_limit_exceeded": all_within("TLE"),
    "run_time_error": all_within("RTE"),
    "brute_force": Expectation(permitted=frozenset({"AC", "RTE", "TLE"}), required=(frozenset({"RTE", "TLE"}),)),
    "partially_accepted": REJECTED,
    "rejected": REJECTED,
}


def annotated(source: str) -> Expectation | str | None:
    """Return what a source's @EXPECTED_RESULTS@ says, None without one; of a word that is not known, the word."""
    found = _ANNOTATION.search(source)
    if found is None:
        return None
    outcomes = set()
    for word in found[1].split(","):
        spelling = word.strip()
        outcome = _SPELLINGS.get(spelling.upper().replace("-", "").replace("_", ""))
        if outcome is None:
            return spelling[:64]
        outcomes.add(outcome)
    return one_of(*outcomes)
