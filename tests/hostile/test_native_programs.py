"""Hostile programs in C, C++, Java, JavaScript, Bash, Go and Rust, each alone in a jail that others use after it."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.hostile.check import check_attack
from tests.hostile.conftest import Target
from tests.hostile.native_programs import NATIVE
from tests.hostile.programs import ATTACKS, Attack
from tests.hostile.system_calls import RIGHT, SYSTEM_CALLS

from scalebox.languages.toolchain import Missing, toolchain

_ALL = (*SYSTEM_CALLS, *NATIVE)
_QUICK = [attack for number, attack in enumerate(SYSTEM_CALLS) if number % 10 == 0]


def check(target: Target, attack: Attack) -> None:
    """Check an attack, where its language is to be had."""
    try:
        toolchain(attack.language)
    except Missing as missing:
        pytest.skip(str(missing))
    check_attack(target, attack)


@pytest.mark.parametrize("attack", _QUICK, ids=lambda attack: attack.name)
def test_quick_ones(target: Target, attack: Attack) -> None:
    check(target, attack)


@pytest.mark.hostile
@pytest.mark.parametrize("attack", [attack for attack in _ALL if attack not in _QUICK], ids=lambda attack: attack.name)
def test_all_others(target: Target, attack: Attack) -> None:
    check(target, attack)


@pytest.mark.parametrize("attack", RIGHT[:4], ids=lambda attack: attack.name)
def test_who_is_refused_something_and_is_right_has_passed_and_is_remembered(target: Target, attack: Attack) -> None:
    result = target.verify(attack.record())
    assert (result.verdict, result.risk) == ("passed", "medium")


def test_there_are_enough_of_them_in_every_language() -> None:
    names = [attack.name for attack in (*ATTACKS, *_ALL)]
    assert len(set(names)) == len(names) > 350
    languages = Counter(attack.language for attack in _ALL)
    assert languages["c"] > 150
    assert all(languages[name] >= 15 for name in ("java", "javascript", "bash"))
    assert languages["cpp"] >= 9
