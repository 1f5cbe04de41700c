"""TypeScript: as JavaScript, which it becomes before it is run."""

from __future__ import annotations

from scalebox.execute.programs import javascript
from scalebox.execute.programs.assembled import Assembled
from scalebox.languages.language import Language


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program; its compiler takes no offence at the calls of ours."""
    return javascript.assemble(language, prefix, code, suffix, lead="// @ts-ignore\n")
