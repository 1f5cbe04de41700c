"""From the run of a program that holds its own tests to a label."""

from __future__ import annotations

import re

from scalebox.core.limits import Limits
from scalebox.core.verdicts import Verdict
from scalebox.execute.label import label
from scalebox.sandbox.outcome import Outcome

#: Characters of the token that a program has to send back at its end; the files of this folder have the number too.
TOKEN_BYTES = 16


def judged_at_end(outcome: Outcome, token: bytes, limits: Limits, failed: str) -> tuple[Verdict, str, float]:
    """Return verdict, reason and degree of difference: passed only with the token, exit code 0 and no signal.

    What is printed decides nothing but which failure it is: `failed` finds a failed assertion on standard error.
    """
    verdict, detail = label(outcome, limits)
    if verdict is None and outcome.echo == token:
        return Verdict.PASSED, "", 0.0
    if verdict in (None, Verdict.RUNTIME_ERROR):
        found = re.search(failed, (outcome.stderr + b"\n" + outcome.stdout).decode("utf-8", "replace"))
        if found is not None:
            return Verdict.ASSERT_FAIL, _line_around(outcome, found.group()) or detail, 1.0
    return verdict or Verdict.RUNTIME_ERROR, detail or "the program ended before its tests did", 1.0


def _line_around(outcome: Outcome, words: str) -> str:
    """Return the line that has these words."""
    text = (outcome.stderr + b"\n" + outcome.stdout).decode("utf-8", "replace")
    first = words.partition("\n")[0]
    return next((line.strip()[:300] for line in text.splitlines() if first in line), "")
