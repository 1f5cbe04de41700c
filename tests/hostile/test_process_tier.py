"""The same hostile programs in the process tier, but for its shortfalls, by name."""

from __future__ import annotations

import pytest
from tests.hostile.check import check_attack
from tests.hostile.conftest import Target
from tests.hostile.programs import ATTACKS, Attack
from tests.hostile.system_calls import SYSTEM_CALLS

#: What the process tier does not promise: each file is bounded, their sum and their number are not.
_NAMESPACE_ALONE = {"memory-in-scratch-files", "very-many-files", "disk"}


@pytest.mark.hostile
@pytest.mark.parametrize(
    "attack",
    [attack for attack in (*ATTACKS, *SYSTEM_CALLS) if attack.name not in _NAMESPACE_ALONE],
    ids=lambda attack: attack.name,
)
def test_the_process_tier(process_target: Target, attack: Attack) -> None:
    check_attack(process_target, attack)


def test_the_shortfalls_are_programs_that_there_are() -> None:
    assert {attack.name for attack in ATTACKS} >= _NAMESPACE_ALONE
