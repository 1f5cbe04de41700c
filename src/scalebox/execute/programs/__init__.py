"""Programs with tests of their own around them (prefix + code + suffix), one file for each family of languages.

Tests and code share a process here, so all that can be promised is that a run counts only if its end was reached: what
ScaleBox adds takes a token from descriptor 3 at the start, and sends it back when the last of the tests has ended.
A file for a language has one function, `assemble(language, prefix, code, suffix) -> Assembled`.
"""

from __future__ import annotations

import importlib

from scalebox.core.sample import ProgramTest
from scalebox.execute.programs.assembled import Assembled
from scalebox.languages.language import Language

#: Why such a result says `integrity: shared`.
WHY_SHARED = "the tests are compiled into the program"


def assemble(language: Language, test: ProgramTest, code: str) -> Assembled:
    """Return the program that a test makes of the code, with what tells that its end was reached."""
    module = importlib.import_module(f"scalebox.execute.programs.{language.programs}")
    made: Assembled = module.assemble(language, test.prefix, code, test.suffix)
    return made
