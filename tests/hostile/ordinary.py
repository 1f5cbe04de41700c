"""Verifies hostile programs as whatever user runs this; a script for another user than that of the tests.

Arguments: the tier, and names of tables in the modules of programs. Prints a JSON object: "tier", how many were "run",
and for each with a label that is not right for it, what was said ("wrong").
"""

from __future__ import annotations

import json
import sys

from tests.hostile import native_programs, programs, system_calls

from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.worker import Verifier


def _attacks(tables: list[str]) -> list[programs.Attack]:
    modules = (programs, system_calls, native_programs)
    found = [attack for table in tables for module in modules for attack in getattr(module, table, ())]
    return [attack for attack in found if _is_there(attack.language)]


def _is_there(language: str) -> bool:
    try:
        return language == "python" or bool(toolchain(language))
    except Missing:
        return False


def _needs_children(attack: programs.Attack, tier: str) -> bool:
    """Say whether it is about children, which nobody could count in the process tier without a control group."""
    return tier == "process" and attack.limits.get("processes", 0) > 0


def main(tier: str, tables: list[str]) -> None:
    settings = Settings(tier=tier, interpreter=sys.executable)
    verifier = Verifier(settings, [0])
    wrong = []
    attacks = _attacks(tables)
    for attack in attacks:
        result, _ = verifier.verify(parse_sample(attack.record(), settings=settings))
        verifier.tidy()
        if result.verdict not in attack.verdicts and not _needs_children(attack, tier):
            wrong.append([attack.name, result.verdict, result.message])
    verifier.close()
    json.dump({"tier": verifier.tier, "run": len(attacks), "wrong": wrong}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
