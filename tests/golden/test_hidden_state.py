"""Programs that keep state in unlikely places: each call must still find it as the program's start left it."""

from __future__ import annotations

import ast

from tests.golden.table import call, read_programs

from scalebox import ScaleBoxClient

CALLS = 4


def _head(head: str) -> tuple[str, object]:
    """Return the function that keeps state, and what its first call returns: so every call must."""
    name, first = head.split()
    return name, ast.literal_eval(first)


PROGRAMS = [(code, *_head(head)) for head, code in read_programs("hidden_state")]


def test_no_call_finds_what_another_left(client: ScaleBoxClient) -> None:
    samples = [
        {"id": str(number), "code": code, "tests": [call(name, expect=first)] * CALLS}
        for number, (code, name, first) in enumerate(PROGRAMS)
    ]
    results = client.fetch(client.submit_batch(samples))
    wrong = [f"{result.code!r}: {result.message}" for result in results if result.verdict != "passed"]
    assert not wrong, "\n".join(wrong)


def test_no_call_passes_with_the_state_of_another(client: ScaleBoxClient) -> None:
    counting = [(code, name, first) for code, name, first in PROGRAMS if type(first) is int]
    samples = [
        {"id": str(number), "code": code, "tests": [call(name, expect=first + step) for step in range(CALLS)]}
        for number, (code, name, first) in enumerate(counting)
    ]
    results = client.fetch(client.submit_batch(samples))
    wrong = [result.code for result in results if any(case.verdict == "passed" for case in result.cases[1:])]
    assert not wrong, "\n".join(wrong)
