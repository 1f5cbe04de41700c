"""The share of tests that pass."""

from __future__ import annotations

from scalebox.reward._facts import Facts


def shape(facts: Facts) -> dict[str, float]:
    """Return the weight of passed cases ÷ the weight of all."""
    return {"pass_rate": facts.pass_rate}
