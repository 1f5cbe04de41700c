"""Fingerprints over programs of others: no mutant that does something else is taken for another; edits are."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterator

import pytest
from tests.conftest import ThirdParty
from tests.fidelity.behaviour import NOTHING, behaviours
from tests.fidelity.mutants_names import confused
from tests.gate.programs_edited import EDITS, renamed

from scalebox.core.sample import AssertTest, Sample
from scalebox.gate.fingerprint import fingerprint
from scalebox.languages import python

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

SETS = ("mbpp", "cruxeval", "humaneval")
#: Edits that change nothing of any program at all (those that turn texts of programs over may).
HARMLESS = ("comments at the end", "formatting", "docstrings", "imports", "locals")
_VERSION = python.interpreter().version


def _form(source: str, tests: str = "") -> bytes:
    """Return a program's fingerprint, b"" for one that is not kept, as where its tests draw random numbers."""
    return fingerprint(Sample(id="", tests=(AssertTest(id="0", source=tests),)), source, _VERSION).form


def _programs(third_party: ThirdParty) -> Iterator[tuple[str, str]]:
    """Yield (program, tests) of all that the cache would keep."""
    for name in SETS:
        for record in third_party(f"function/{name}.jsonl.zst"):
            source = record["prefix"] + record["candidates"][0]["code"]
            if _form(source, record["suffix"]):
                ending = f"\ncheck({record['entry_point']})" if "entry_point" in record else ""
                yield source, record["suffix"] + ending


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_no_mutant_that_does_something_else_is_a_hit(third_party: ThirdParty) -> None:
    made = differ = alike = 0
    wrong = []
    for source, tests in _programs(third_party):
        plain = ast.unparse(ast.parse(source))
        group = [plain, *(mutant for mutant in dict.fromkeys(confused(source)) if mutant != plain)]
        did = behaviours(group, tests)
        by_form: dict[bytes, dict[str, str]] = defaultdict(dict)
        for program, what in zip(group, did, strict=True):
            made += program is not plain
            differ += NOTHING not in (what, did[0]) and what != did[0]
            # Its locals renamed, it must still not be confused with any other mutant.
            for form in {_form(program), _form(renamed(program))} - {b""}:
                by_form[form][what] = program
        for behaviour in by_form.values():
            behaviour.pop(NOTHING, None)
            alike += 1
            if len(behaviour) > 1:
                wrong.append("\n--- and ---\n".join(behaviour.values()))
    print(f"{made} mutants, {differ} shown to differ, {alike} fingerprints, {len(wrong)} wrong hits")
    assert not wrong, wrong[0]
    assert made >= 20_000
    assert differ >= 10_000


def _with_comment(source: str) -> str:
    return source.rstrip() + "  # done\n"


def _with_docstrings(source: str) -> str:
    return EDITS["docstrings"](ast.unparse(ast.parse(source)))


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_nine_in_ten_edits_that_change_nothing_are_hits(third_party: ThirdParty) -> None:
    edits = {**EDITS, "comments at the end": _with_comment, "docstrings": _with_docstrings}
    hits = {name: [0, 0] for name in HARMLESS}
    for source, _ in _programs(third_party):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in HARMLESS:
                edited = edits[name](source)
                hits[name][0] += _form(edited) == _form(source)
                hits[name][1] += 1
    print({name: f"{hit} of {count}" for name, (hit, count) in hits.items()})
    total = [sum(pair[at] for pair in hits.values()) for at in (0, 1)]
    assert total[0] >= 0.9 * total[1]
