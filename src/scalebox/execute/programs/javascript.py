"""JavaScript: a file of ours is loaded before the program, keeps what judges as it was, and waits for the end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec

from scalebox.execute.programs.assembled import Assembled, blanked, first_outside, joined, label_of, words
from scalebox.languages.language import Language

RUNNER = "scalebox_end.js"
_SUPPORT = Path(__file__).with_name("support")
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`', re.DOTALL
)
#: What a program finds without declaring it, and tests judge by.
_GLOBALS = frozenset(
    "console Math JSON Object Array Number String Boolean Map Set Symbol Error TypeError RegExp Date Promise BigInt "
    "require process globalThis isNaN isFinite parseInt parseFloat NaN Infinity undefined".split()
)
_FUNCTION = re.compile(r"^(?:async\s+)?function\s*\*?\s*([A-Za-z_$][\w$]*)", re.MULTILINE)
_EXITS = re.compile(r"\bprocess\s*\.\s*exit\s*\(")
#: Tests that may put something in the place of what the language has, such as a `sort` that must not be called.
ALTERS = re.compile(
    r"\bprototype\b|\bdefineProperty\b|\b(?:Math|JSON|Object|Array|Number|Promise)\s*\.\s*\w+\s*=(?![=>])"
)
FAILED = r"AssertionError|Assertion failed"


def assemble(language: Language, prefix: str, code: str, suffix: str, lead: str = "") -> Assembled:
    """Return the program, with a call of ours before its tests and behind them; `lead` stands above each."""
    name = label_of(prefix, code, suffix)
    plain = blanked(suffix, OPAQUE)
    at = first_outside(suffix, OPAQUE)
    used = sorted(_GLOBALS & words(plain) - _declared(plain))
    functions = sorted(set(_FUNCTION.findall(plain[at:])))
    begin = f"{lead}globalThis.{name}({{{', '.join(used)}}}, [{', '.join(functions)}]);\n"
    end = f"\n;{lead and chr(10) + lead}globalThis.{name}();\n"
    text = suffix[:at] + ("\n" if at else "") + ";" * (not lead) + begin + suffix[at:] + end
    runner = "\n".join((_SUPPORT / file).read_text("utf-8") for file in ("guard.js", RUNNER))
    fixed = {"name": name, "exits": bool(_EXITS.search(plain)), "holds": not ALTERS.search(plain)}
    beside = {RUNNER: f"const SCALEBOX = {json.dumps(fixed)};\n{runner}".encode()}
    *options, program = language.run
    changed = msgspec.structs.replace(language, run=(*options, "--require", f"{{program}}/{RUNNER}", program))
    return joined(changed, prefix, code, text, beside=beside, failed=FAILED)


def _declared(text: str) -> set[str]:
    """Return the names that the tests themselves declare: then they mean those."""
    return set(re.findall(r"\b(?:var|let|const|function|class)\s+([A-Za-z_$][\w$]*)", text))
