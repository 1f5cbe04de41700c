"""1 if every test passes, else 0."""

from __future__ import annotations

from scalebox.reward._facts import Facts


def shape(facts: Facts) -> dict[str, float]:
    """Return 1 if every case passed, else 0."""
    return {"all_or_nothing": float(facts.all_passed)}
