"""Programs that do the same have one fingerprint; ones that do not, or might see how they are written, never have."""

from __future__ import annotations

import ast
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fidelity.mutants import mutants
from tests.gate.programs_edited import EDITS, PROGRAMS, renamed

from scalebox.core.sample import AssertTest, CallTest, ProgramTest, Sample
from scalebox.gate.fingerprint import Fingerprint, fingerprint
from scalebox.languages import python

VERSION = python.interpreter().version
CALL = CallTest(id="0", call="f", arguments=b"", expect=b"")


def of(source: str, language: str = "python", **fields: object) -> Fingerprint:
    sample = Sample(**({"id": "s", "tests": (CALL,), "language": language} | fields))  # type: ignore[arg-type]
    return fingerprint(sample, source, VERSION)


def same(one: str, other: str, language: str = "python", **fields: object) -> bool:
    """Return whether the result of one would be given to the other."""
    first, second = of(one, language, **fields), of(other, language, **fields)
    return not first.reason and not second.reason and first.form == second.form


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_edit_that_changes_nothing_is_a_hit(program: str, edit: str) -> None:
    edited = EDITS[edit](program)
    assert edited != program
    assert same(program, edited)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_mutant_is_never_a_hit(program: str) -> None:
    made = list(mutants(program))
    assert len(made) > 1
    assert not [mutant for mutant in made if same(program, mutant)]


def test_a_mutant_is_not_a_hit_after_renaming_either() -> None:
    for program in PROGRAMS:
        assert not [mutant for mutant in mutants(program) if same(program, renamed(mutant))]


_NAMES = st.sampled_from("abcde")


@given(st.lists(_NAMES, min_size=6, max_size=6), st.lists(_NAMES, min_size=6, max_size=6))
def test_two_functions_are_one_only_if_a_renaming_leads_from_one_to_the_other(one: list[str], two: list[str]) -> None:
    template = "def f(v):\n    {} = v\n    {} = {} = v + 1\n    return [{} for {} in (v,)], lambda: {}\n"
    first, second = template.format(*one), template.format(*two)
    if same(first, second):
        assert _behaviour(first) == _behaviour(second)


def _behaviour(source: str) -> object:
    made: dict[str, object] = {}
    exec(source, made)  # noqa: S102 - the template above
    try:
        listed, function = made["f"](3)  # type: ignore[operator]
        return listed, function()
    except NameError:
        return "NameError"


#: Programs in which the name `secret`, a line number or a docstring can be seen, in one way each.
LOOKS = {
    "locals": "print(locals())",
    "vars": "print(vars())",
    "dir": "print(dir())",
    "globals": "print(globals())",
    "exec": "exec('print(secret)')",
    "eval": "print(eval('secret'))",
    "debug format": "print(f'{secret=}')",
    "exception text": "\n    try: print(secret, later); later = 1\n    except Exception as e: print(e)",
    "frame": "import sys; print(sys._getframe().f_locals)",
    "traceback": "import traceback; traceback.print_stack()",
    "exc_info": "import sys; print(sys.exc_info())",
    "inspect": "import inspect; print(inspect.currentframe())",
    "code": "print(f.__code__.co_varnames)",
    "code by pattern": "\n    match f:\n        case type(__code__=c):\n            print(c)",
    "getattr": "print(getattr(f, '__co' + 'de__'))",
    "format": "print('{0.__code__.co_varnames}'.format(f))",
    "format made at run time": "print(('{0.__co' + 'de__}').format(f))",
    "doc": "print(f.__doc__)",
    "file": "print(open(__file__).read())",
    "pickle": "import pickle; pickle.dumps(f)",
    "warnings": "import warnings; warnings.warn('x')",
    "logging": "import logging; logging.error('x')",
    "stderr": "import sys, io; sys.stderr = io.StringIO()",
    "generator": "print((secret for _ in ()).gi_frame)",
    "modules": "import sys; print(sys.modules['__main__'])",
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_program_that_sees_how_it_is_written_is_not_taken_for_another(look: str) -> None:
    program = f"def f(x):\n    'doc'\n    secret = x\n    {LOOKS[look]}\n    return secret\n"
    ast.parse(program)
    assert not same(program, program.replace("secret", "renamed"))
    assert not same(program, program.replace("'doc'", "'other'")) or "__doc__" not in program


#: Pairs that differ in a name that means something.
MEANINGFUL = {
    "argument": ("def f(a):\n    return a", "def f(b):\n    return b"),
    "keyword": ("def f(x):\n    return dict(a=x)", "def f(x):\n    return dict(b=x)"),
    "global": ("total = 1\ndef f(x):\n    return x", "sum_ = 1\ndef f(x):\n    return x"),
    "declared global": ("def f(x):\n    global a\n    a = x", "def f(x):\n    global b\n    b = x"),
    "class attribute": ("class A:\n    a = 1", "class A:\n    b = 1"),
    "slots": ("class A:\n    __slots__ = ('a',)", "class A:\n    __slots__ = ('b',)"),
    "field": ("from dataclasses import dataclass\n@dataclass\nclass A:\n    a: int",
              "from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int"),
    "function": ("def f(x):\n    def g(): pass\n    return g", "def f(x):\n    def h(): pass\n    return h"),
    "nonlocal or not": ("def f(x):\n    a = 1\n    def g():\n        nonlocal a\n        a = x\n    g()\n    return a",
                        "def f(x):\n    a = 1\n    def g():\n        b = x\n        b = x\n    g()\n    return a"),
    "shadowed by a comprehension": ("def f(x):\n    a = x\n    b = [a for a in (1,)]\n    return a",
                                    "def f(x):\n    a = x\n    b = [c for c in (1,)]\n    return b"),
    "pattern": ("def f(x):\n    match x:\n        case {'a': y}: return y",
                "def f(x):\n    match x:\n        case {'b': y}: return y"),
    "name in a class body": ("def f(x):\n    a = 1\n    class A:\n        y = a\n    return A",
                             "def f(x):\n    b = 1\n    class A:\n        y = b\n    return A"),
    "swapped": ("def f(x):\n    a = 1\n    b = x\n    return a - b",
                "def f(x):\n    a = 1\n    b = x\n    return b - a"),
    "order of constants": ("def f(x):\n    return (1, 2)", "def f(x):\n    return (2, 1)"),
    "type of a constant": ("def f(x):\n    return 1", "def f(x):\n    return True"),
    "float or int": ("def f(x):\n    return 1.0", "def f(x):\n    return 1"),
    "sign of zero": ("def f(x):\n    return 0.0", "def f(x):\n    return -0.0"),
    "order of imports of one name": ("from math import floor as g\nfrom math import ceil as g",
                                     "from math import ceil as g\nfrom math import floor as g"),
}  # fmt: skip


@pytest.mark.parametrize("pair", MEANINGFUL)
def test_a_name_that_means_something_counts(pair: str) -> None:
    one, other = MEANINGFUL[pair]
    assert not of(one).reason
    assert not same(one, other)


#: What keeps a program out of the cache.
VARIES = {
    "imports time": "import time",
    "imports random": "import random",
    "imports os": "import os",
    "imports threading": "import threading",
    "imports helper": "import helper",
    "takes time": "import queue\nprint(queue.time.time())",
    "takes threading": "from queue import threading",
    "takes os": "import contextlib as c\nd = c\nprint(d.os.getpid())",
    "depends on addresses": "print(id(3))",
    "reads the clock": "import datetime\nprint(datetime.datetime.now())",
    "reads files or its environment": "print(open('x').read())",
    "may go through a set": "class A: pass\nprint({A(), A()})",
    "never written": "import numpy as np\nprint(np.empty(3))",
    "cannot be compiled": "def f(:",
}


@pytest.mark.parametrize("reason", VARIES)
def test_a_program_that_may_vary_is_not_kept(reason: str) -> None:
    assert reason in of(VARIES[reason]).reason


@pytest.mark.parametrize(
    "source", ["import sys\nprint(open(0).read())", "print('{:>3}'.format(4))", "class A(object): pass"]
)
def test_what_always_does_the_same_is_kept(source: str) -> None:
    assert of(source).reason == ""


def test_tests_that_see_an_exceptions_text_see_local_names() -> None:
    one, other = "def f(x):\n    a = x\n    return a", "def f(x):\n    b = x\n    return b"
    assert same(one, other, tests=(AssertTest(id="0", source="assert f(1) == 1"),))
    seeing = AssertTest(id="0", source="try:\n    f()\nexcept Exception as e:\n    assert 'a' not in str(e)")
    assert not same(one, other, tests=(seeing,))
    assert of(one, tests=(AssertTest(id="0", source="import inspect"),)).reason


def test_code_between_two_texts_is_only_its_text() -> None:
    around = (ProgramTest(id="0", suffix=" + 1"),)
    assert not same("x = 1", "x = 1  # no", tests=around)
    assert same("x = 1", "x = 1", tests=around)


def test_what_takes_long_to_compile_is_not_compiled() -> None:
    nested = (
        "".join("    " * depth + "try: pass\n" + "    " * depth + "finally:\n" for depth in range(12))
        + "    " * 12
        + "pass"
    )
    assert of(nested).reason
    assert of("x = 1\n" * 20_000).reason


# --- other languages -------------------------------------------------------------------------------

C = """#include <stdio.h>
#define TWO 2
int main(void) {
  int a; /* in */ scanf("%d", &a);
  printf("%d\\n", a * TWO);
}
"""
SAME = {
    "c": (C, C.replace("/* in */", "// a line\n").replace("  int", "\n\tint")),
    "cpp": (C, "/* head\n */\n" + C),
    "java": ("class A {\n  int f() { return 1; } // x\n}", "class A { int f() {\n return 1; } /* y\n */ }"),
    "go": ("package main\nfunc main() {\n\tprintln(1) // x\n}", "package main\nfunc main() {\n    println(1)\n\n}"),
}
DIFFERENT = {
    "directive that a comment carries on": ("c", "#define X /* \n */ 1\nint a = X;", "#define X\n1\nint a = X;"),
    "directive behind a comment": ("c", "/* c */ #define A\nint x;", "/* c */ #define A int x;"),
    "comment that is none": ("c", 'char *s = "/* a */";', 'char *s = "/* b */";'),
    "character": ("c", "int a = '\"'; /* x */ int b;", "int a = '\"'; /* x */ int c;"),
    "digits": ("cpp", "int a = 1'000; int b = 2'000;", "int a = 1'000; int b = 2'001;"),
    "macro that is spread": ("c", "#define S(x) #x\nchar *s = S(a+b);", "#define S(x) #x\nchar *s = S(a + b);"),
    "line number": ("c", "int a = __LINE__;", "\nint a = __LINE__;"),
    "raw string": ("cpp", 'auto s = R"(a  b)";', 'auto s = R"(a b)";'),
    "line that goes on": ("c", "// a \\\nint x;\nint y;", "// a\nint x;\nint y;"),
    "line end in Go": ("go", "func f() int {\n\treturn\n\t1\n}", "func f() int {\n\treturn 1\n}"),
    "line end in a comment in Go": ("go", "func f() int { return /*\n*/ 1 }", "func f() int { return /* */ 1 }"),
    "escape in Java": ("java", "// \\u000a int x;\nint y;", "// none\nint y;"),
    "text block": ("java", 'String s = """\n a\n""";', 'String s = """\n  a\n""";'),
    "script": ("javascript", "function f() { return 1 }", "function f() { return 1 } // x"),
}  # fmt: skip


@pytest.mark.parametrize("language", SAME)
def test_comments_and_white_space_do_not_count(language: str) -> None:
    one, other = SAME[language]
    assert of(one, language).kind == "tokens"
    assert same(one, other, language)


@pytest.mark.parametrize("case", DIFFERENT)
def test_comments_and_white_space_that_count(case: str) -> None:
    language, one, other = DIFFERENT[case]
    assert not same(one, other, language)


def test_a_language_of_which_nothing_is_known_is_not_kept() -> None:
    assert of("print(1)", "perl").reason
    assert of("for k := range m { go f() }", "go").reason


_TEXTS = st.text(alphabet="a1/*\n #", max_size=20)


@given(_TEXTS, _TEXTS)
def test_two_texts_without_strings_are_one_only_with_the_same_words(one: str, other: str) -> None:
    for language in ("c", "java", "go"):
        if same(one, other, language) and one != other:
            assert _words(one) == _words(other)


def _words(text: str) -> list[str]:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL).split()


def test_all_pairs_of_programs_differ() -> None:
    assert not [pair for pair in itertools.combinations(PROGRAMS, 2) if same(*pair)]
