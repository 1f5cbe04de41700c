"""The tests' view of a solution in another process, against what plain Python would show them."""

from __future__ import annotations

import builtins
import inspect
import json
import math
import types
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest
from tests.execute.separate.pair import solution

# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, 2**100, -0.5, 1j, "\ud800é", b"x", bytearray(b"y"), [1, "a"], (1,), {1: 2}, {1}, frozenset([2]),
        range(3), slice(1), deque([1], 3), Counter("aab"), OrderedDict(a=1), defaultdict(int, a=1), ..., NotImplemented,
        int, Counter, ValueError, json.JSONDecodeError,
    ],
    ids=repr,
)  # fmt: skip
def test_plain_values_go_there_and_back(sol: Any, value: Any) -> None:
    back = sol.same(value)
    assert type(back) is type(value)
    assert back == value
    assert sol.kind(value) == type(value).__name__


def test_arguments_keep_what_they_share(sol: Any) -> None:
    a: list[Any] = [1]
    assert sol.both(a, a)
    assert not sol.both(a, [1])
    b = sol.same([a, a, {"a": a}])
    assert b[0] is b[1] is b[2]["a"] is a
    a.append(a)
    assert sol.same(a) is a


def test_arguments_change_in_place(sol: Any) -> None:
    xs = [3, 1, 2]
    assert sol.sort(xs) is xs
    assert xs == [1, 2, 3]
    d: dict[str, Any] = {"list": []}
    inner = d["list"]
    assert sol.fill(d) is None
    assert d["new"] == [1]
    assert d["list"] is inner
    assert inner[0] is d
    with pytest.raises(ValueError, match="after") as caught:
        sol.fail_after(xs)
    assert xs == [1, 2, 3, 1]
    assert caught.value.args[1] is xs


@pytest.mark.parametrize(
    ("value", "change", "result"),
    [
        (bytearray(b"ab"), "value.reverse()", bytearray(b"ba")),
        ({1, 2}, "value.add(3)", {1, 2, 3}),
        (deque([1], 2), "value.extend([2, 3])", deque([2, 3], 2)),
        (Counter("a"), "value.update('ab')", Counter("aab")),
        ({1: 1}, "value.update({1: True})", {1: True}),
        ([1], "value[0] = True", [True]),
        (defaultdict(list), "value['x'].append(1)", {"x": [1]}),
    ],
    ids=repr,
)
def test_containers_of_every_kind_change_in_place(value: Any, change: Any, result: Any) -> None:
    with solution(f"def f(value): {change}") as made:
        made.get("f")(value)
    assert value == result
    assert [type(item) for item in value] == [type(item) for item in result]


def test_globals_are_read_and_set(sol: Any) -> None:
    assert sol.LIMIT == 10
    sol.LIMIT = 11
    assert sol.LIMIT == 11
    sol.EXTRA = lambda x: x + 1
    assert sol.EXTRA(1) == 2
    del sol.EXTRA
    with pytest.raises(AttributeError):
        sol.EXTRA  # noqa: B018
    assert "same" in dir(sol)
    assert sol.math is math
    assert sol.Counter is Counter


def test_state_that_is_read_stays_linked(sol: Any) -> None:
    assert sol.STATE == [1]
    sol.STATE.append(2)
    assert sol.state() == [1, 2]
    held = sol.STATE
    sol.add_state(3)
    assert held == [1, 2, 3]
    held.remove(2)
    assert sol.state() == [1, 3]
    animal = sol.Animal("a")
    animal.tags["k"] = {"deep": [1]}
    animal.tags["k"]["deep"].append(2)
    assert animal.tags == {"k": {"deep": [1, 2]}}


# --- functions ------------------------------------------------------------------------------------


def test_functions_look_like_functions(sol: Any) -> None:
    assert isinstance(sol.describe, types.FunctionType)
    assert sol.describe.__name__ == "describe"
    assert sol.describe.__doc__ == "Says what it does."
    assert str(inspect.signature(sol.describe)) == "(a, /, b, *args, c=3, **kw)"
    assert sol.describe is sol.describe
    assert sol.same(sol.describe) is sol.describe
    assert sol.describe(1, 2, c=5) == 1
    with pytest.raises(TypeError, match="positional argument"):
        sol.describe()


def test_functions_with_attributes_show_them(sol: Any) -> None:
    assert sol.counted(1) == 1
    assert sol.counted.calls == 1
    assert callable(sol.counted)
    assert sol.counted.__name__ == "counted"
    assert sol.cached(1) == [1]
    assert sol.cached(1) == [1]
    assert sol.cached.cache_info().hits == 1


def test_functions_that_functions_make(sol: Any) -> None:
    assert sol.compose(lambda x: x + 1, sol.same)(2) == 3
    assert sol.compose(str, abs)(-2) == "2"
    assert sol.compose(sol.kind, lambda x: [x])(1) == "list"


def test_what_tests_hand_over_is_called_back(sol: Any) -> None:
    assert sol.each(lambda x: x * 2, [1, 2]) == [2, 4]
    assert sol.each(len, ["a", ""]) == [1, 0]
    assert sol.each(str.upper, ["a"]) == ["A"]
    assert sol.kind(len) == "builtin_function_or_method"  # by name, and called over there
    seen: list[int] = []
    sol.each(seen.append, [1, 2])
    assert seen == [1, 2]
    assert sol.call(lambda *a, **k: (a, k), 1, b=2) == ((1,), {"b": 2})
    xs = [1]
    sol.call(lambda ys: ys.append(2), xs)
    assert xs == [1, 2]

    def test_side(x: int) -> int:
        return x

    assert sol.same(test_side) is test_side


def test_calls_nest(sol: Any) -> None:
    def down(n: int) -> Any:
        return sol.recurse(down, n)

    assert sol.recurse(down, 40) == 0
    with pytest.raises(RecursionError):
        sol.recurse(down, 1000)
    assert sol.same(1) == 1


def test_exceptions_of_call_backs_come_through_as_themselves(sol: Any) -> None:
    error = ValueError("mine")

    def fail() -> None:
        raise error

    assert sol.guarded(fail) == "caught mine"
    with pytest.raises(ValueError, match="mine") as caught:
        sol.call(fail)
    assert caught.value is error
    assert not hasattr(error, "scalebox_remote")

    class Own(LookupError):
        pass

    def fail_otherwise() -> None:
        raise Own("x", 1)

    with pytest.raises(Own):
        sol.guarded(fail_otherwise)
    assert sol.catches(fail_otherwise, Own) == ("Own", ("x", 1))
    assert sol.catches(fail_otherwise, LookupError) == ("Own", ("x", 1))


# --- exceptions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("ValueError", ("a", 1)), ("KeyError", ("k",)), ("ZeroDivisionError", ()), ("StopIteration", (3,)),
        ("OSError", (2, "gone")), ("AssertionError", ("no",)), ("SystemExit", (3,)), ("KeyboardInterrupt", ()),
        ("GeneratorExit", ()), ("MemoryError", ()), ("UnicodeDecodeError", ("utf-8", b"x", 0, 1, "why")),
    ],
)  # fmt: skip
def test_exceptions_arrive_as_what_they_are(sol: Any, name: str, args: Any) -> None:
    kind = getattr(builtins, name)
    with pytest.raises(kind) as caught:
        sol.raises(name, *args)
    expected = kind(*args)
    assert type(caught.value) is type(expected)
    assert caught.value.args == expected.args
    assert str(caught.value) == str(expected)
    assert caught.value.scalebox_remote
    assert "in raises" in caught.value.scalebox_traceback
    assert "serve" not in caught.value.scalebox_traceback
    assert sol.same(1) == 1


def test_exceptions_of_the_library_keep_their_fields(sol: Any) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        sol.file_missing()
    assert caught.value.filename == "/nowhere/at/all"
    with pytest.raises(json.JSONDecodeError) as decoding:
        sol.no_json()
    assert decoding.value.pos == 1


def test_exception_classes_of_the_solution(sol: Any) -> None:
    with pytest.raises(sol.Oops) as caught:
        sol.oops("Worse")
    assert type(caught.value) is sol.Worse
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == "worse!"
    assert caught.value.args == ("bad",)
    error: Any = caught.value
    assert (error.code, error.doubled) == (4, 8)
    assert issubclass(sol.Worse, sol.Oops)
    assert issubclass(sol.Oops, ValueError)
    made = sol.Oops("m", code=5)
    assert (made.code, str(made)) == (5, "m")

    def fail() -> None:
        raise made

    with pytest.raises(sol.Oops) as again:
        sol.call(fail)
    assert again.value is made
    assert sol.guarded(fail) == "caught m"
    try:
        sol.oops()
    except KeyError:
        pytest.fail("not one of those")
    except sol.Worse:
        pytest.fail("not one of those either")
    except sol.Oops as found:
        code = found.code
    assert code == 4
