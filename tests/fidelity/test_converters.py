"""The converters of third-party records: what they read as a call, and what they refuse."""

from __future__ import annotations

import ast

import pytest
from tests.fidelity import kattis, literals, plain, styles
from tests.fidelity.mutants import mutants
from tests.fidelity.reference import evaluate

from scalebox.core.settings import Settings
from scalebox.parse import parse_sample


@pytest.mark.parametrize(
    ("source", "name", "args", "expect"),
    [
        ("assert f(1, 2) == 3", "f", "(1, 2,)", "3"),
        ("assert f() == (1,)", "f", "()", "(1,)"),
        ("assert 3 == f([1, -2])", "f", "([1, -2],)", "3"),
        ("assert f(2 ** 31) == -(2 ** 31)", "f", "(2147483648,)", "-2147483648"),
        ("assert f('a') is None", "f", "('a',)", "None"),
        ("assert f({1: {2}}) is True", "f", "({1: {2}},)", "True"),
        ("assert not f(0)", "f", "(0,)", "False"),
        ("assert f(0)", "f", "(0,)", "True"),
    ],
)
def test_asserts_become_calls(source: str, name: str, args: str, expect: str) -> None:
    (call,) = literals.calls_of(source)
    assert (call.name, ast.literal_eval(call.args), call.expect) == (name, ast.literal_eval(args), expect)


def test_tolerances_and_keywords_are_kept() -> None:
    close, named = literals.calls_of("assert abs(f(1) - 0.5) < 1e-3\nassert f(1, x=[2]) == 3")
    assert close.tolerance == 1e-3
    assert named.test()["kwargs"] == {"x": [2]}
    assert literals.match_for([close]) == {"mode": "float", "abs": 1e-3, "rel": 0.0}
    with pytest.raises(literals.NotACall):
        literals.match_for([close, named])


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        "assert f(y) == 1",
        "assert f(1) == g(1)",
        "assert f(1) < 2",
        "assert a.f(1) == 2",
        "assert f(*[1]) == 1",
    ],
)
def test_what_no_call_can_express_is_refused(source: str) -> None:
    with pytest.raises(literals.NotACall):
        literals.calls_of(source)


def test_every_mutant_differs_in_one_place() -> None:
    source = "def f(x):\n    return x + 1 if x > 0 and x != 2 else True"
    found = list(mutants(source))
    assert len(set(found)) == len(found) == 9
    assert ast.unparse(ast.parse(source)) not in found


def test_the_reference_tells_values_from_failures() -> None:
    programs = ["def f(x): return 10 // x", "def f(x):\n    while x: pass", "raise ValueError"]
    assert evaluate(programs, "f", ["(2,)", "(0,)"], seconds=1) == [["5", "!ZeroDivisionError"], None, None]


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ([], {"mode": "tokens_ignore_case"}),
        (["case_sensitive"], {"mode": "tokens"}),
        (["case_sensitive", "space_change_sensitive"], {"mode": "exact"}),
        (["float_tolerance", "1e-6"], {"mode": "float", "abs": 1e-6, "rel": 1e-6, "ignore_case": True}),
        (["float_absolute_tolerance", "0.1"], {"mode": "float", "abs": 0.1, "rel": 0.0, "ignore_case": True}),
    ],
)
def test_flags_of_the_default_validator(args: list[str], match: dict[str, object]) -> None:
    assert kattis.match_for(args) == match


@pytest.mark.parametrize("args", [["space_change_sensitive"], ["--strict"]])
def test_flags_that_no_mode_expresses(args: list[str]) -> None:
    with pytest.raises(ValueError, match=r"mode|flag"):
        kattis.match_for(args)


_TESTS = [
    "assert f(3) == 9",
    "import math\nassert math.isclose(f(0.5), 0.25)",
    "x = 4\nassert not f(x) != 16, 'square'",
]


@pytest.mark.parametrize("style", styles.STYLES)
def test_every_style_tells_a_right_program_from_a_wrong_one(style: str) -> None:
    fields = styles.STYLES[style](_TESTS, "f")
    right = {"id": style, "code": "def f(n):\n    return n * n\n"} | fields
    wrong = {"id": style, "code": "def f(n):\n    return n * n if n < 4 else 17\n"} | fields
    assert parse_sample(right, settings=Settings()).tests
    assert plain.passes(right)
    assert not plain.passes(wrong)


def test_names_that_a_test_takes_from_the_program() -> None:
    source = "import os.path as p\nfrom a import b\ndef g(x, *y): return f(x, y, p, b, len)\nfor i in K.m(): assert i"
    assert styles.free_names(source) == {"f", "K"}
