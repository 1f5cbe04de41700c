"""Hostile and honest samples, mixed by a seed, each with the verdicts that are right for it."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from tests.hostile.programs import HONEST_FUNCTION, HONEST_SCRIPT, QUICK, Attack

_HONEST = (
    Attack("honest-script", "stdin", frozenset({"passed"}), HONEST_SCRIPT, {}),
    Attack("honest-function", "call", frozenset({"passed"}), HONEST_FUNCTION, {}),
    Attack("wrong-script", "stdin", frozenset({"output_mismatch"}), "print(8)\n", {}),
    Attack("wrong-function", "call", frozenset({"assert_fail"}), "def f(n):\n    return 8\n", {}),
)


class Mixed(NamedTuple):
    """Records in the input format, and the verdicts that each id may get."""

    records: list[dict[str, Any]]
    right: dict[str, frozenset[str]]

    def wrong(self, verdicts: dict[str, str]) -> dict[str, str]:
        """Return the verdicts that are not right, by id."""
        return {name: verdict for name, verdict in verdicts.items() if verdict not in self.right[name]}


def mix(count: int, seed: int, *, hostile: float = 0.3) -> Mixed:
    """Return `count` samples, no two the same, of which about a share of `hostile` attack."""
    chosen = random.Random(seed)  # noqa: S311 - which samples, not a secret
    records, right = [], {}
    for number in range(count):
        attack = chosen.choice(QUICK if chosen.random() < hostile else _HONEST)
        record = attack.record(number)
        record["code"] += f"# {seed} {number}\n"
        records.append(record)
        right[record["id"]] = attack.verdicts
    return Mixed(records, right)
