"""Functions of one side look on the other as their own would: parameters, documentation, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import Solution

SOURCE = """
import functools, inspect

def parameters(f): return str(inspect.signature(f))
def count(f): return f.__code__.co_argcount
def about(f): return (f.__name__, f.__qualname__, f.__doc__)
def hints(f): return {name: kind for name, kind in f.__annotations__.items()}
def call(f, /, *args, **kwargs): return f(*args, **kwargs)
def defaults(f): return [f.__defaults__, f.__kwdefaults__]
def bound(f, /, *args, **kwargs):
    made = inspect.signature(f).bind(*args, **kwargs)
    made.apply_defaults()
    return f(*made.args, **made.kwargs)

def wrapped(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs): return f(*args, **kwargs)
    return wrapper

def counted(f):
    def wrapper(*args):
        wrapper.calls = getattr(wrapper, "calls", 0) + 1
        return f(*args)
    return wrapper

def counts_itself(x):
    "Doubles."
    if not hasattr(counts_itself, "calls"):
        counts_itself.calls = 0
    counts_itself.calls += 1
    return 2 * x

def recursive(n):
    "Counts down."
    return 0 if n == 0 else recursive(n - 1)

class Wrapper:
    "A wrapper."
    def __init__(self, f): functools.update_wrapper(self, f)

class Power:
    def __init__(self, base): self.base = base
    def __pow__(self, exponent, modulus=None): return pow(self.base, exponent.base, modulus)
"""


@pytest.fixture(scope="module")
def sol() -> Iterator[Solution]:
    with solution(SOURCE) as made:
        yield made


class Thing:
    def method(self, a: int, b: str = "x") -> tuple[Any, ...]:
        """Return both."""
        return a, b


plain: Any = lambda a, b: (a, b)  # noqa: E731 - its parameters are what matters


def rich(a, /, b, c=3, d=4, *rest, e, f=6, **more):  # type: ignore[no-untyped-def]
    return a, b, c, d, rest, e, f, more


def test_the_program_sees_the_parameters_of_the_tests_functions(sol: Solution) -> None:
    parameters, count = sol.get("parameters"), sol.get("count")
    assert parameters(plain) == "(a, b)"
    assert parameters(lambda: 0) == "()"
    assert parameters(rich) == "(a, /, b, c=..., d=..., *rest, e, f=..., **more)"
    assert parameters(Thing().method) == "(a: 'int', b: 'str' = ...) -> 'tuple[Any, ...]'"
    assert [count(f) for f in (plain, rich, lambda: 0, lambda x: x)] == [2, 4, 0, 1]


@pytest.mark.parametrize("how", ["call", "bound"])
def test_calls_keep_the_defaults_of_the_tests_functions(sol: Solution, how: str) -> None:
    call = sol.get(how)
    assert call(rich, 1, 2, e=5) == (1, 2, 3, 4, (), 5, 6, {})
    assert call(rich, 1, 2, 30, 40, 50, 60, e=5, f=7, g=8) == (1, 2, 30, 40, (50, 60), 5, 7, {"g": 8})
    assert call(rich, 1, b=2, d=40, e=5) == (1, 2, 3, 40, (), 5, 6, {})
    assert call(Thing().method, 1) == (1, "x")
    assert call(Thing().method, b="y", a=1) == (1, "y")
    with pytest.raises(TypeError, match=r"missing (1|a) required"):
        call(plain, 1)


def test_no_default_is_told(sol: Solution) -> None:
    def expects(x: int, secret: int = 42, *, other: str = "hidden") -> tuple[int, int, str]:
        return x, secret, other

    assert "42" not in str(sol.get("defaults")(expects))
    assert "hidden" not in str(sol.get("defaults")(expects))
    assert "42" not in sol.get("parameters")(expects)


def test_wrappers_keep_names_and_documentation(sol: Solution) -> None:
    def greet(name: str) -> str:
        """Greets."""
        return "hello " + name

    made = sol.get("wrapped")(greet)
    assert made("you") == "hello you"
    assert (made.__name__, made.__doc__) == ("greet", "Greets.")
    assert made.__wrapped__ is greet
    assert sol.get("about")(greet)[2] == "Greets."
    instance = sol.get("Wrapper")(greet)
    assert (instance.__name__, instance.__doc__) == ("greet", "Greets.")
    assert sol.get("Wrapper").__doc__ == "A wrapper."


def test_annotations_that_both_sides_know(sol: Solution) -> None:
    def typed() -> None:
        pass

    typed.__annotations__ = {"a": int, "b": Thing, "c": "later", "return": None}
    assert sol.get("hints")(typed) == {"a": int, "c": "later", "return": None}


def test_attributes_that_a_function_gives_itself(sol: Solution) -> None:
    made = sol.get("counted")(lambda x: x + 1)
    assert (made(1), made(2)) == (2, 3)
    assert made.calls == 2
    made.calls = 10
    made(1)
    assert made.calls == 11
    itself = sol.get("counts_itself")
    assert itself(3) == 6
    assert (itself.calls, itself.__name__, itself.__doc__) == (1, "counts_itself", "Doubles.")


def test_functions_without_attributes_stay_functions(sol: Solution) -> None:
    recursive = sol.get("recursive")
    assert type(recursive) is type(plain)
    assert (recursive(3), recursive.__doc__) == (0, "Counts down.")


def test_powers_take_a_modulus(sol: Solution) -> None:
    seven, two = sol.get("Power")(7), sol.get("Power")(2)
    assert pow(seven, two, 5) == 4
    assert seven**two == 49
