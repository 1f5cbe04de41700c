"""Programs that cheat tests: every one fails in every kind of test, an honest one with the same tests passes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest
from tests.fidelity.styles import STYLES
from tests.hostile.answers import ANSWERS, HONEST, PLACES, VERDICTS
from tests.hostile.cheats import Cheat
from tests.hostile.cheats_ends import ENDS
from tests.hostile.cheats_names import NAMES
from tests.hostile.cheats_process import PROCESS
from tests.hostile.cheats_state import STATE
from tests.hostile.cheats_values import VALUES
from tests.hostile.conftest import Target
from tests.hostile.outside import comes_true, differences, look, ours

from scalebox import ScaleBoxClient, Settings, VerificationResult
from scalebox.core.verdicts import DOUBTFUL
from scalebox.execute.tested import MAX_WALLS

CHEATS = (*ENDS, *NAMES, *VALUES, *PROCESS, *STATE)
_LIMITS = {"cpu_s": 2.0, "wall_s": 15.0, "memory_mb": 300}
_QUICK = [cheat for number, cheat in enumerate(CHEATS) if number % 12 == 0]


def _sample(cheat: Cheat, style: str, code: str) -> dict[str, Any]:
    fields = STYLES[style](cheat.tests, "f") | dict(cheat.fields)
    return {"id": f"{cheat.name}-{style}", "code": code, **fields, "limits": _LIMITS | fields.get("limits", {})}


def _shown(result: VerificationResult) -> list[str]:
    return [result.message, *(f"{case.id} {case.verdict}: {case.detail} {case.stderr[-200:]}" for case in result.cases)]


def _check(target: Target, cheat: Cheat, style: str) -> None:
    target.take_over()
    target.verify(_sample(cheat, style, cheat.code))  # which may need another jail, such as one with numpy
    before, agents = look(), set(ours())
    result = target.verify(_sample(cheat, style, cheat.code))
    assert result.verdict in cheat.verdicts, (result.verdict, _shown(result))
    # Such a verdict masks the reward: a program that gets one for itself escapes its failure.
    assert not DOUBTFUL & {case.verdict for case in result.cases}, _shown(result)
    assert result.integrity == "separate"
    after = target.verify(_sample(cheat, style, cheat.honest))
    assert after.verdict == "passed", _shown(after)
    assert look() == before, differences(before, look())
    assert comes_true(lambda: len(ours()) <= max(len(agents), 1)), "processes are left"


@pytest.mark.parametrize("cheat", _QUICK, ids=lambda cheat: cheat.name)
def test_quick_ones(target: Target, cheat: Cheat) -> None:
    _check(target, cheat, cheat.styles[0])


@pytest.mark.hostile
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", sorted({style for cheat in CHEATS for style in cheat.styles}))
def test_cheats_fail_and_honest_programs_pass_the_same_tests(style: str) -> None:
    cheats = {cheat.name: cheat for cheat in CHEATS if style in cheat.styles}
    results = _verify(_sample(cheat, style, cheat.code) | {"id": name} for name, cheat in cheats.items())
    assert _wrong(results, {name: cheat.verdicts for name, cheat in cheats.items()}) == []
    results = _verify(_sample(cheat, style, cheat.honest) | {"id": name} for name, cheat in cheats.items())
    assert _wrong(results, dict.fromkeys(cheats, frozenset({"passed"}))) == []


@pytest.mark.hostile
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", ["asserts", "unittest_class", "pytest_functions"])
def test_no_answer_judges_itself(style: str) -> None:
    limits = {"limits": _LIMITS | {"cpu_s": 1.0}}
    tests = {place.name: STYLES[style](place.tests, "f") | limits for place in PLACES}
    results = _verify({"id": name, "code": HONEST, **fields} for name, fields in tests.items())
    assert _wrong(results, dict.fromkeys(tests, frozenset({"passed"}))) == []
    samples = {
        f"{answer} at {place}": {"code": code, **fields}
        for place, fields in tests.items()
        for answer, code in ANSWERS.items()
    }
    results = _verify({"id": name, **sample} for name, sample in samples.items())
    assert _wrong(results, dict.fromkeys(samples, VERDICTS)) == []


def _verify(samples: Iterable[dict[str, Any]]) -> list[VerificationResult]:
    """Return the results of a batch; check that nothing is left behind."""
    before = look()
    with ScaleBoxClient(settings=Settings(workers=2)) as client:
        results = client.fetch(client.submit_batch(list(samples)))
    assert comes_true(lambda: look()[1:] == before[1:]), differences(before, look())
    return results


def _wrong(results: Iterable[VerificationResult], right: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
    return [
        (result.id, str(result.verdict), result.integrity, *_shown(result)[:3])
        for result in results
        if result.verdict not in right[result.id]
        or DOUBTFUL & {case.verdict for case in result.cases}
        or result.integrity != "separate"
    ]


@pytest.mark.hostile
@pytest.mark.parametrize("style", ["one_assert", "harness", "pytest_functions"])
def test_sleeping_in_every_call_does_not_hold_a_worker(target: Target, style: str) -> None:
    tests = [f"assert f({n}) == {n * n}" for n in range(8)]
    sample = {"id": "sleeper", "code": "import time\ndef f(n):\n    time.sleep(60)\n", **STYLES[style](tests, "f")}
    result = target.verify(sample | {"limits": {"wall_s": 3.0}})
    # On a busy machine nobody can say whether it slept or was kept waiting.
    assert {case.verdict for case in result.cases} in ({"time_out"}, {"unknown"}), _shown(result)
    assert len(result.cases) == 8
    assert result.timings.run_s < MAX_WALLS * 3.0 + 2.0


def test_there_are_enough_of_them() -> None:
    assert len({cheat.name for cheat in CHEATS}) == len(CHEATS) > 250
    assert len(ANSWERS) * len(PLACES) > 2_000
