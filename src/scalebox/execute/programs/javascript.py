"""JavaScript: a file of ours is loaded before the program, keeps what judges as it was, and waits for the end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from scalebox.execute.programs.assembled import (
    Assembled,
    blanked,
    closed,
    first_outside,
    joined,
    label_of,
    words,
)
from scalebox.languages.language import Language

RUNNER = "scalebox_end.js"
_SUPPORT = Path(__file__).with_name("support")
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`', re.DOTALL
)
#: What a program finds without declaring it, and tests judge by.
_GLOBALS = frozenset(
    "console Math JSON Object Array Number String Boolean Map Set Symbol Error TypeError RegExp Date Promise BigInt "
    "require process globalThis isNaN isFinite parseInt parseFloat NaN Infinity undefined setTimeout setInterval "
    "setImmediate queueMicrotask structuredClone Function Reflect Proxy Intl RangeError SyntaxError ReferenceError "
    "WeakMap WeakSet Buffer".split()
)
_FUNCTION = re.compile(r"^(?:async\s+)?function\s*\*?\s*([A-Za-z_$][\w$]*)", re.MULTILINE)
_EXITS = re.compile(r"\bprocess\s*\.\s*exit\s*\(")
#: An asynchronous function up to its parameters, or to its body if it is an arrow of one bare parameter; no generator.
_ASYNC = re.compile(
    r"\basync\b(?:[ \t]+function\b)?\s*(?:[A-Za-z_$][\w$]*\s*)?(?:<[^<>()]*>\s*)?\("
    r"|\basync\s+[A-Za-z_$][\w$]*\s*=>\s*\{"
)
#: What stands between parameters and body: a type, an arrow.
_BODY = re.compile(r"\s*(?::\s*[\w$.<>\[\]| ,]+?)?\s*(?:=>)?\s*\{")
_THEN = re.compile(r"\.\s*(?:then|catch|finally)\b")
_AWAIT = re.compile(r"\bawait\b")
_PATTERN = re.compile(
    r"(?:(?<=[(,=:\[!&|?{};\n])|\breturn\b|^)[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/"
)
#: Tests that may put something in the place of what the language has, such as a `sort` that must not be called.
ALTERS = re.compile(
    r"\bprototype\b|\bdefineProperty\b"
    r"|\b(?:Math|JSON|Object|Array|Number|Promise|Date|String|Symbol|globalThis|global)\s*\.\s*\w+\s*=(?![=>])"
    r"|(?<![\w.])(?:(?:set|clear)(?:Timeout|Interval|Immediate)|Date|Math|JSON|Promise)\s*=(?![=>])"
)
FAILED = r"AssertionError|Assertion failed"


def assemble(language: Language, prefix: str, code: str, suffix: str, lead: str = "") -> Assembled:
    """Return the program, with a call of ours before its tests and behind them; `lead` stands above each."""
    name = label_of(prefix, code, suffix)
    plain = blanked(suffix, OPAQUE)
    at = first_outside(suffix, OPAQUE)
    used = sorted(_GLOBALS & words(plain) - _declared(plain))
    functions = sorted(set(_FUNCTION.findall(plain[at:])))
    ours = f"{'(globalThis as any)' if lead else 'globalThis'}.{name}"
    marked = _marked(suffix[at:], plain[at:], ours)
    begin = f"{lead}globalThis.{name}({{{', '.join(used)}}}, [{', '.join(functions)}]);\n"
    end = f"\n;{lead and chr(10)}{begin}"
    text = suffix[:at] + ("\n" if at else "") + ";" * (not lead) + begin + marked + end
    runner = "\n".join((_SUPPORT / file).read_text("utf-8") for file in ("guard.js", RUNNER))
    fixed = {"name": name, "holds": not ALTERS.search(plain), "thens": bool(_THEN.search(plain))}
    beside = {RUNNER: f"const SCALEBOX = {json.dumps(fixed)};\n{runner}".encode()}
    *options, program = language.run
    changed = msgspec.structs.replace(language, run=(*options, "--require", f"{{program}}/{RUNNER}", program))
    return joined(changed, prefix, code, text, beside=beside, failed=FAILED)


def _marked(tests: str, plain: str, ours: str) -> str:
    """Return the tests with a note of each asynchronous function that was entered and left, and of their own exits.

    Who waits for what never comes is not told by node: its events are over, and the exit code is 0.
    """
    notes = [(found.start(), found.end(), f"{ours}.exit(") for found in _EXITS.finditer(plain)]
    for first, last in _waiting(plain):
        notes += [(first, first, f" {ours}.enter(); try {{"), (last, last, f"}} finally {{ {ours}.leave(); }} ")]
    for start, end, note in sorted(notes, reverse=True):
        tests = tests[:start] + note + tests[end:]
    return tests


def _waiting(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where the bodies of asynchronous functions that wait begin and end."""
    plain = blanked(plain, _PATTERN)
    if closed(f"({plain})", 0) != len(plain) + 2:
        return  # what cannot be read is left as it is
    for found in _ASYNC.finditer(plain):
        at = found.end()
        if plain[at - 1] == "(":
            at = closed(plain, at - 1)
            arrow = _BODY.match(plain, at)
            if arrow is None:
                continue
            at = arrow.end()
        last = closed(plain, at - 1) - 1
        if last > at and _AWAIT.search(plain, at, last):
            yield at, last


def _declared(text: str) -> set[str]:
    """Return the names that the tests themselves declare: then they mean those."""
    return set(re.findall(r"\b(?:var|let|const|function|class)\s+([A-Za-z_$][\w$]*)", text))
