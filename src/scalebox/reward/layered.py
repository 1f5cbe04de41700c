"""A little for form, a little more for code that compiles, most for tests that pass: 1.5 in all."""

from __future__ import annotations

from scalebox.reward._facts import Facts

#: Never more than the tests can give, or a policy would learn to format.
_FORMAT = {"fenced": 0.2, "incomplete_fenced": 0.1, "bare": 0.0, "code": 0.2, "empty": 0.0}
_COMPILED = 0.3


def shape(facts: Facts) -> dict[str, float]:
    """Return `format` (0 to 0.2), `compile` (0 or 0.3) and `tests` (0 to 1)."""
    return {
        "format": _FORMAT[facts.extracted],
        "compile": _COMPILED if facts.compiled else 0.0,
        "tests": facts.pass_rate,
    }
