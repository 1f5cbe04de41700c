"""HumanEval+ inputs as function calls: canonicals agree with a plain Python case by case, and so do their mutants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import literals
from tests.fidelity.conftest import Verify
from tests.fidelity.labels import check, wrong
from tests.fidelity.mutants import mutants
from tests.fidelity.reference import evaluate

from scalebox import VerificationResult
from scalebox.core.literals import MAX_CHARACTERS

pytestmark = pytest.mark.fidelity

_ABS, _REL = 1e-6, 1e-7  # as the data's own assertion() compares floats
_MUTANT_INPUTS, _MUTANTS_TRIED, _MUTANTS_AT_ONCE, _MUTANTS_KEPT = 40, 24, 6, 3
_MUTANT_VALUE = 1 << 20  # characters; longer ones take minutes and show nothing more
_FAILED = ("assert_fail", "runtime_error")
_FLOAT = {"mode": "float", "abs": _ABS, "rel": _REL}


class Problem(NamedTuple):
    """A problem: its canonical solution, the source text of each tuple of arguments, and the canonical's values."""

    id: str
    code: str
    entry: str
    arguments: list[str]
    values: list[str]
    published: list[str] | None

    def carried(self) -> list[int]:
        """Return the indices of the cases whose value is no longer than a literal may be."""
        return [index for index, value in enumerate(self.values) if len(value) <= MAX_CHARACTERS]

    def sample(self, name: str, code: str, indices: Sequence[int]) -> dict[str, Any]:
        """Return `code` with the inputs at `indices`, expecting the canonical's values."""
        values = [self.values[index] for index in indices]
        return {
            "id": name,
            "code": code,
            "match": _FLOAT if any(_holds_float(_value(value)) for value in values) else {"mode": "value"},
            "limits": {"cpu_s": 20.0, "wall_s": 120.0},
            "tests": [
                {"call": self.entry, "args_repr": self.arguments[index], "expect_repr": value}
                for index, value in zip(indices, values, strict=True)
            ],
        }


def _problem(record: dict[str, Any]) -> Problem:
    code = record["prefix"] + record["candidates"][0]["code"]
    inputs = literals.assigned(record["suffix"], "inputs")
    assert inputs is not None
    # The name `inf` is the only one in the inputs that is no literal.
    given = eval(inputs, {"__builtins__": {}, "inf": math.inf})  # noqa: S307 - the data's own literals
    arguments = [repr(tuple(arguments)) for arguments in given]
    (values,) = evaluate([code], record["entry_point"], arguments)
    assert values is not None, record["id"]
    published = literals.assigned(record["suffix"], "results")
    results = None if published is None else [repr(value) for value in _value(published)]
    return Problem(record["id"], code, record["entry_point"], arguments, values, results)


def _value(text: str) -> Any:
    return eval(text, {"__builtins__": {}, "inf": math.inf, "nan": math.nan})  # noqa: S307 - a repr of plain data


def _holds_float(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_float, value))
    return isinstance(value, float)


def _same(got: str, expected: str) -> bool:
    """Return whether two values, as `repr` or "!error", are equal as the data's own assertion() compares them."""
    if got.startswith("!") or expected.startswith("!"):
        return False
    try:
        return _close(_value(got), _value(expected))
    except (NameError, SyntaxError):  # the repr of an object: no plain data, so never equal
        return False


def _close(got: Any, expected: Any) -> bool:
    if isinstance(got, float) or isinstance(expected, float):
        numbers = isinstance(got, (int, float)) and isinstance(expected, (int, float))
        return numbers and (got == expected or abs(got - expected) <= max(_ABS, _REL * abs(expected)))
    if isinstance(got, (list, tuple)) and type(got) is type(expected) and len(got) == len(expected):
        return all(map(_close, got, expected))
    return bool(got == expected)


@pytest.fixture(scope="module")
def problems(third_party: ThirdParty) -> list[Problem]:
    """Return all problems, with the values of their canonicals from a plain Python."""
    records = list(third_party("function/humanevalplus.jsonl.zst"))
    assert len(records) == 82
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_problem, records))


def test_the_reference_agrees_with_the_published_values(problems: list[Problem]) -> None:
    errors = [
        f"{problem.id}{arguments}: {got} here, {published} published"[:400]
        for problem in problems
        # 32 asks for any root of a polynomial: its published values are roots, not the canonical's.
        if problem.published is not None and problem.entry != "find_zero"
        for arguments, got, published in zip(problem.arguments, problem.values, problem.published, strict=True)
        if not _same(got, published)
    ]
    check(errors, sum(len(problem.published or ()) for problem in problems), "HumanEval+ published values")


def test_every_canonical_passes_every_case(verify: Verify, problems: list[Problem]) -> None:
    results = verify([problem.sample(problem.id, problem.code, problem.carried()) for problem in problems])
    left_out = {problem.id: len(problem.values) - len(problem.carried()) for problem in problems}
    print("left out, a value longer than a literal may be:", {name: count for name, count in left_out.items() if count})
    errors = [wrong(result, "passed") for result in results.values() if result.verdict != "passed"]
    check(errors, sum(len(result.cases) for result in results.values()), "HumanEval+ cases of canonicals")


class Mutant(NamedTuple):
    """A mutant's sample, and whether each of its cases must pass."""

    sample: dict[str, Any]
    passes: list[bool]


def _mutants(problem: Problem) -> list[Mutant]:
    """Return mutants of a problem that end in time and change a value, preferring those that change few."""
    carried = [index for index in problem.carried() if len(problem.values[index]) <= _MUTANT_VALUE]
    indices = carried[:: max(1, len(carried) // _MUTANT_INPUTS)]
    codes = mutants(problem.code)
    found: list[Mutant] = []
    for first in range(0, _MUTANTS_TRIED, _MUTANTS_AT_ONCE):
        if len(found) >= _MUTANTS_KEPT:
            break
        some = list(itertools.islice(codes, _MUTANTS_AT_ONCE))
        answers = evaluate(some, problem.entry, [problem.arguments[index] for index in indices], seconds=1)
        changed = []
        for number, (code, values) in enumerate(zip(some, answers, strict=True), first):
            passes = _agreement(problem, indices, values)
            if not all(passes):
                changed.append(Mutant(problem.sample(f"{problem.id}#{number}", code, indices), passes))
        found += sorted(changed, key=lambda mutant: -sum(mutant.passes))
    return found[:_MUTANTS_KEPT]


def _agreement(problem: Problem, indices: Sequence[int], values: list[str] | None) -> list[bool]:
    """Return, input by input, whether values are the canonical's; nothing for a program that did not end."""
    if values is None:
        return []
    return [_same(got, problem.values[index]) for index, got in zip(indices, values, strict=True)]


def test_every_mutant_fails_exactly_where_it_changes_a_value(verify: Verify, problems: list[Problem]) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(_mutants, problems))
    barren = [problem.id for problem, some in zip(problems, found, strict=True) if not some]
    assert not barren, f"no mutant changes a value of {barren}"
    chosen = [mutant for some in found for mutant in some]
    results = verify([mutant.sample for mutant in chosen])
    errors = [error for mutant in chosen for error in _errors(results[mutant.sample["id"]], mutant.passes)]
    check(errors, sum(len(mutant.passes) for mutant in chosen), "HumanEval+ cases of mutants")


def _errors(result: VerificationResult, passes: list[bool]) -> Iterator[str]:
    for case, must_pass in zip(result.cases, passes, strict=True):
        if case.verdict not in (("passed",) if must_pass else _FAILED):
            yield wrong(result, "passed" if must_pass else " or ".join(_FAILED), [case])
