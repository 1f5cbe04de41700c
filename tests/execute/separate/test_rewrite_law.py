"""The law of rewriting: a test has a case that did not pass exactly if plain Python would have raised.

Random small tests run both ways. Where nothing fails, both make the same calls with the same arguments in the same
order, and leave the same variables.
"""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.execute.separate import stub

from scalebox.execute.separate import frames

SOLUTION = """
calls = []
def f(x):
    calls.append(x)
    if x == 99:
        raise ValueError("no")
    if x == 98:
        raise AssertionError("the solution's own")
    return x + 1
def apply(function, *arguments):
    try:
        return function(*arguments)
    except KeyError:
        return None
class Odd(Exception):
    pass
"""
HEAD = """
import contextlib, pytest, unittest
class Wrong(AssertionError): pass
class Other(ValueError): pass
def expect_equal(a, b):
    if a != b:
        raise AssertionError(f"{a} != {b}")
def outcome(function):
    try:
        function()
    except AssertionError:
        return "failed"
    return "fine"
seen = f(0)
"""
TRUE = [
    "f(1) == 2", "f(2) > f(1)", "not f(-1)", "f(1) and f(2) == 3", "f(-1) or f(1) == 2", "(seen := f(3)) == 4",
    "f(4) in [f(4)]", "all(f(i) == i + 1 for i in range(3))", "abs(f(1) - 2) < 1e-6", "(f(1), 0)", "True",
    "f(5) is not None", "isinstance(f(6), int)", "f(f(1)) == 3", "[f(i) for i in (1, 2)] == [2, 3]",
    "f(1) == 2 if f(0) else f(9)", "locals().get('seen') is not None or f(7) == 8", "1 < f(1) < f(2) < 9",
    "f(2) == 3 and not f(-1) and f(1) != f(2)", "outcome(lambda: expect_equal(f(1), 3)) == 'failed'",
    "len({*[f(1), f(1)]}) == 1", "f'{f(1)}' == '2'",
]  # fmt: skip
FALSE = ["f(1) == 3", "f(2) > f(1) > f(3)", "not f(0)", "f(99)", "f(98)", "False", "isinstance(f(6), str)", "missing"]
HANDLERS = [
    "ValueError", "AssertionError", "Exception", "", "(KeyError, ValueError)", "(OSError, AssertionError) as error",
    "Wrong", "Other", "BaseException as error", "LookupError", "unittest.SkipTest", "Odd",
]  # fmt: skip
MANAGERS = [
    "contextlib.suppress(AssertionError)", "contextlib.suppress(ValueError)", "contextlib.nullcontext()",
    "pytest.raises(ValueError)", "pytest.raises(AssertionError)", "pytest.raises(Exception) as info",
    "unittest.TestCase().assertRaises(ValueError)", "contextlib.nullcontext(), contextlib.suppress(Exception)",
]  # fmt: skip
SIMPLE = [
    "f(1)", "f(99)", "expect_equal(f(1), 2)", "expect_equal(f(1), 3)", "raise ValueError('plain')", "raise Wrong('x')",
    "seen = f(2)", "if f(1) != 2: raise ValueError", "if f(1) == 2: raise AssertionError", "apply(f, 3)", "pass",
    "assert outcome(lambda: f(98)) == 'failed', f'said {seen}'", "unittest.TestCase().assertEqual(f(1), 2)",
    "unittest.TestCase().assertEqual(f(1), 3, 'unequal')", "assert f(1) == 3; assert f(2) == 3",
]  # fmt: skip


def indented(block: list[str]) -> list[str]:
    return ["    " + line for line in block]


@st.composite
def statement(draw: st.DrawFn, depth: int, inside: bool) -> list[str]:
    """Return one statement as lines; `inside` of a function it may return."""
    kinds = ["assert"] * 5 + ["simple"] * 3
    if depth:
        kinds += ["if", "for", "try", "try", "with", "with", "function", "function", "generator", "class", "finally"]
    kind = draw(st.sampled_from(kinds + (["return"] if inside else [])))
    if kind == "assert":
        message = draw(st.sampled_from(["", "", ", 'why'", ", f'{seen}'", ", f(8)", ", f(99)"]))
        return [f"assert {draw(st.sampled_from(TRUE * 2 + FALSE))}{message}"]
    if kind == "simple":
        return [draw(st.sampled_from(SIMPLE))]
    if kind == "return":
        return ["return " + draw(st.sampled_from(["1", "f(1)", "0"]))]
    below = block(depth - 1, inside)
    if kind == "if":
        return [f"if {draw(st.sampled_from(TRUE + FALSE))}:", *indented(draw(below)), "else:", *indented(draw(below))]
    if kind == "for":
        return ["for i in range(2):", *indented(draw(below))]
    if kind == "with":
        return [f"with {draw(st.sampled_from(MANAGERS))}:", *indented(draw(below))]
    if kind == "class":
        return ["class Local:", *indented(draw(block(depth - 1, False)))]
    if kind == "function":
        return draw(function(depth))
    if kind == "generator":
        lines = ["def gen():", *indented(draw(below if inside else block(depth - 1, True))), "    yield 1"]
        return [*lines, draw(st.sampled_from(["list(gen())", "seen = sum(gen())", "for i in gen(): pass"]))]
    handler = draw(st.sampled_from(HANDLERS))
    lines = ["try:", *indented(draw(below))]
    if kind == "finally":
        return [*lines, "finally:", *indented(draw(below))]
    lines += [f"except {handler}:", *indented(draw(below))]
    return lines + (["else:", *indented(draw(below))] if draw(st.booleans()) else [])


@st.composite
def function(draw: st.DrawFn, depth: int) -> list[str]:
    # No function can call one of the same name from within: recursion that goes on after an error takes forever.
    name = draw(st.sampled_from(["helper", "check_it", "test_it"])) + str(depth)
    calls = [
        f"{name}()", f"seen = {name}()", f"assert not {name}()", f"list(map(lambda _: {name}(), [1, 2]))",
        f"apply({name})", f"outcome({name})", f"pytest.raises(ValueError, {name})", f"[{name}() for _ in range(2)]",
        f"sorted([2, 1], key=lambda _: {name}() or 0)",
    ]  # fmt: skip
    call = draw(st.sampled_from(calls))
    return [f"def {name}():", *indented(draw(block(depth - 1, True))), call]


@st.composite
def block(draw: st.DrawFn, depth: int, inside: bool) -> list[str]:
    return [line for part in draw(st.lists(statement(depth, inside), min_size=1, max_size=3)) for line in part]


@st.composite
def programs(draw: st.DrawFn) -> str:
    return HEAD + "\n".join(draw(block(3, False))) + "\n"


def plainly(test: str) -> tuple[bool, list[Any], dict[str, Any]]:
    """Run the solution and the test as one program; return whether it raised, the calls of f, the variables."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOLUTION, "solution.py", "exec"), namespace)  # noqa: S102 - this file's own
    calls = namespace["calls"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of `assert (a, b)`
        code = compile(test, "tests.py", "exec")
    try:
        exec(code, namespace)  # noqa: S102 - as above
    except BaseException:
        return True, calls, {}
    return False, calls, variables(namespace)


def variables(namespace: dict[str, Any]) -> dict[str, Any]:
    plain = (int, str, bool, type(None), list, tuple)
    own = {name: value for name, value in namespace.items() if name[:2] != "__" and name != "calls"}
    return {name: value for name, value in own.items() if type(value) in plain}


class Watched(stub.Solution):
    """Shows what was called, and which variables the test had at its end."""

    def __init__(self) -> None:
        super().__init__(SOLUTION)
        self.left: dict[str, Any] = {}

    def start(self) -> None:
        super().start()
        self._namespace["keep_variables"] = lambda namespace: self.left.update(variables(namespace))
        self.names |= {"keep_variables"}

    def get(self, name: str) -> Any:
        if name in ("apply", "keep_variables"):  # as if of a library: exceptions pass through as they are
            return self._namespace[name]
        return super().get(name)

    @property
    def calls(self) -> list[Any]:
        calls: list[Any] = self._namespace["calls"]
        return calls


def separately(test: str) -> tuple[frames.Report, list[Any], dict[str, Any]]:
    built = stub.build(test + "keep_variables(globals())\n")
    assert built["ok"], (built, test)
    solution = Watched()
    report = stub.run_built(built, solution)
    return report, solution.calls, solution.left


@given(programs())
@settings(max_examples=400)
def test_a_case_fails_exactly_if_plain_python_raises(test: str) -> None:
    raised, calls, left = plainly(test)
    report, our_calls, variables_left = separately(test)
    assert report.cases, test
    passed = report.reason == "done" and all(case.status == "passed" for case in report.cases)
    assert passed != raised, (test, report)
    if not raised:
        assert our_calls == calls, (test, calls, our_calls)
        assert left == variables_left, (test, left, variables_left)
