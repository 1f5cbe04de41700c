"""The share of tests that pass, where a judge's score counts for the part that it gives."""

from __future__ import annotations

from scalebox.reward._facts import Facts


def shape(facts: Facts) -> dict[str, float]:
    """Return the weight of all cases, each times its score ÷ the weight of all."""
    return {"score": facts.score}
