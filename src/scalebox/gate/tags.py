"""The names that models write after a code fence, by language."""

from __future__ import annotations

import re

_ALIASES = {
    "python": "python python2 python3 py py2 py3 ipython ipython3 sage cython pypy pypy3",
    "cpp": "cpp c++ cxx cc h++ hpp c++11 c++14 c++17 c++20 c++23",
    "c": "c h c99 c11",
    "csharp": "csharp c# cs dotnet",
    "java": "java",
    "kotlin": "kotlin kt kts",
    "scala": "scala",
    "rust": "rust rs",
    "go": "go golang",
    "javascript": "javascript js jsx node nodejs mjs",
    "typescript": "typescript ts tsx",
    "ruby": "ruby rb",
    "php": "php",
    "bash": "bash sh shell zsh console shell-session",
    "lua": "lua",
    "perl": "perl pl",
    "r": "r",
    "julia": "julia jl",
    "swift": "swift",
    "d": "d dlang",
    "haskell": "haskell hs",
    "sql": "sql sqlite mysql postgresql",
    "verilog": "verilog systemverilog v sv",
    "racket": "racket rkt scheme lisp",
    "lean": "lean lean4",
    # Not languages that a sample can be in, but words that say "this is not the solution".
    "text": "markdown md json yaml yml toml xml html css diff patch output stdout stdin input csv math latex "
    "mermaid pycon",
}

#: Words that say nothing: such a block counts as untagged.
_EMPTY = frozenset(["code", "text", "txt", "plaintext", "plain", "none", "solution", "answer"])

_LANGUAGE = {alias: language for language, aliases in _ALIASES.items() for alias in aliases.split()}
_WORD = re.compile(r"[{.\s]*([A-Za-z][\w+#-]*)")
_FILE = re.compile(r"[\w./-]{0,200}\.([A-Za-z]{1,4})\b")


def language_of(info: str) -> str | None:
    """Return the language that a fence's info string names: "" for none, None for a word that is no language.

    Understands `python`, `Python 3`, `{python}`, `{.python .lines}`, `python title=x`, `python:main.py`, `main.py`.
    """
    info = info[:300].strip().lower()
    word = _WORD.match(info)
    if word is None:
        return "" if not info else None
    name = word.group(1)
    if name in _EMPTY and not info[word.end() :].startswith("."):
        return ""
    if name in _LANGUAGE:
        return _LANGUAGE[name]
    file = _FILE.match(info)
    return _LANGUAGE.get(file.group(1)) if file else None


def canonical(language: str) -> str:
    """Return the name under which `language_of` reports this language."""
    return _LANGUAGE.get(language.lower(), language.lower())
