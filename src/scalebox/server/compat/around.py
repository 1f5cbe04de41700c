"""Completions and tests as texts that fit together: what the tests begin and end with decides what the code must have.

MultiPL-E's tests close the function, and in Java the class, that the completion was to leave open; a model's whole
program has closed them itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Texts in which braces are no braces, in languages that have them. What is escaped outside of a text is passed over
#: with its backslash: else each quote of `"\"\"\"…` would begin a text that is read to the end of the line.
_OPAQUE = re.compile(r'\\.|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+\w+[^\n]*\n?", re.MULTILINE)
_GO_PACKAGES = ("testing", "fmt", "math", "reflect", "sort", "strings")
_CPP = "#include <bits/stdc++.h>\n#include <cassert>\nusing namespace std;\n"
_JAVA = "import java.util.*;\nimport java.util.function.*;\nimport java.util.stream.*;\nimport java.math.*;\n"
_PYTHON = """import collections, copy, datetime, functools, hashlib, heapq, itertools, math, re, statistics, string, sys
from collections import *
from typing import *
"""
_MODULES = "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys"
#: What solutions that are methods of a class expect to be there: the modules, and what is in them.
_LEETCODE = "".join(
    f"from {name} import *\n" for name in (*_MODULES.split(), "json", "builtins", "typing")
) + "".join(f"import {name}\n" for name in (*_MODULES.split(), "json"))  # fmt: skip
_NUMPY = re.compile(r"\bnp\.")


def python_imports(completion: str, *, of_class: bool = False) -> str:
    """Return what a completion in Python may use without importing it."""
    numpy = "import numpy\nimport numpy as np\n" if _NUMPY.search(completion) else ""
    return (_LEETCODE if of_class else _PYTHON) + numpy


def head_of(language: str) -> str:
    """Return what stands before a completion in another language."""
    return {"cpp": _CPP, "java": _JAVA, "php": "<?php\n"}.get(language, "")


def fitted(code: str, tests: str, language: str) -> str:
    """Return a whole program's `code` without what the tests have again."""
    if language == "php":
        code = re.sub(r"<\?(?:php)?|\?>\s*\Z", "", code)
    if language == "go":
        return _imported(code, tests)
    plain = _OPAQUE.sub("", tests)
    end, surplus = len(code), plain.count("}") - plain.count("{")
    while end and (code[end - 1].isspace() or (surplus > 0 and code[end - 1] == "}")):
        surplus -= code[end - 1] == "}"
        end -= 1
    return f"{code[:end]}\n"


def _imported(code: str, tests: str) -> str:
    """Return Go code with a package and the imports that the tests use."""
    missing = [name for name in _GO_PACKAGES if f"{name}." in tests and f'"{name}"' not in code]
    imports = "".join(f'import "{name}"\n' for name in missing)
    found = _PACKAGE.search(code)
    if found is None:
        return f"package main\n{imports}{code}\n"
    return f"{code[: found.end()]}\n{imports}{code[found.end() :]}\n"


def cut(text: str, stops: Sequence[str]) -> str:
    """Return a continuation up to the first of the texts in `stops`."""
    return text[: min((text.index(stop) for stop in stops if stop.strip() and stop in text), default=len(text))]
