"""Hostile programs through one worker: each gets a right label, changes nothing outside, and spoils no later sample."""

from __future__ import annotations

import pytest
from tests.hostile.check import check_attack
from tests.hostile.conftest import Target
from tests.hostile.outside import comes_true, look
from tests.hostile.programs import ATTACKS, QUICK, Attack

from scalebox import ScaleBoxClient, Settings

_SAMPLE = [attack for number, attack in enumerate(QUICK) if number % 6 == 0]


@pytest.mark.parametrize("attack", _SAMPLE, ids=lambda attack: attack.name)
def test_quick_ones(target: Target, attack: Attack) -> None:
    check_attack(target, attack)


@pytest.mark.hostile
@pytest.mark.parametrize(
    "attack", [attack for attack in ATTACKS if attack not in _SAMPLE], ids=lambda attack: attack.name
)
def test_all_others(target: Target, attack: Attack) -> None:
    check_attack(target, attack)


@pytest.mark.hostile
def test_all_at_once_through_a_client() -> None:
    before = look()
    with ScaleBoxClient(settings=Settings(workers=2)) as client:
        results = client.fetch(client.submit_batch([attack.record() for attack in ATTACKS]), timeout=280)
    wrong = {
        result.id: (result.verdict.value, result.message)
        for attack, result in zip(ATTACKS, results, strict=True)
        if result.verdict not in attack.verdicts
    }
    assert wrong == {}
    assert [result.id for result in results] == [attack.record()["id"] for attack in ATTACKS]
    assert comes_true(lambda: look()[1:] == before[1:])


def test_there_are_enough_of_them() -> None:
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) > 120
