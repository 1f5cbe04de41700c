"""Solutions that attack the tests: by what they return, by how they behave, by the bytes that they send."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from tests.execute.separate.pair import solution

from scalebox.execute.separate.remote import Solution, SolutionEnded

# --- objects that agree with everything -----------------------------------------------------------

AGREE = """
import functools, operator
class Yes:
    def __init__(self, *a): pass
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __lt__(self, o): return True
    __le__ = __gt__ = __ge__ = __contains__ = __instancecheck__ = __lt__
    def __hash__(self): return hash("a")
    def __bool__(self): return True
    def __len__(self): return 2
    def __sub__(self, o): return 0.0
    __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __and__ = __or__ = __xor__ = __sub__
    def __abs__(self): return 0.0
    def __float__(self): return 1.0
    def __getattr__(self, name):
        if name.startswith("__array"): return lambda *a, **k: True
        raise AttributeError(name)
    def __call__(self, *a): return self
    def me(self, *a): return self
class YesMeta(type):
    def __eq__(cls, o): return True
    def __instancecheck__(cls, o): return True
    def __subclasscheck__(cls, o): return True
    def __hash__(cls): return 1
    __name__ = property(lambda cls: "int")
    __module__ = property(lambda cls: "builtins")
class MetaYes(Yes, metaclass=YesMeta):
    __class__ = property(lambda self: list)
class Int(int):
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    __hash__ = int.__hash__
class Str(str):
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __hash__(self): return 1
class List(list):
    def __eq__(self, o): return True
    def __ne__(self, o): return False
class Float(float):
    def __sub__(self, o): return 0.0
    __rsub__ = __sub__
    def __eq__(self, o): return True
class Dict(dict):
    def __eq__(self, o): return True
    def __getitem__(self, k): return 3
class Tuple(tuple):
    _fields = ("a", "b")
    def __eq__(self, o): return True
class Vector(Yes): pass
class Twice(Yes): pass
diff = Twice
also = Vector
class Solution:
    __eq__ = lambda self, o: True
    def solve(self, *a): return self
    def other(self, *a): return Yes()
def f(kind):
    made = {"yes": Yes, "meta": MetaYes, "int": lambda: Int(1), "str": lambda: Str("x"), "list": lambda: List([0]),
            "float": lambda: Float(7), "dict": lambda: Dict(a=1), "tuple": lambda: Tuple((1, 2))}
    return made[kind]()
"""
KINDS = ("yes", "meta", "int", "str", "list", "float", "dict", "tuple")
EXPECTED: list[Any] = [1, 55, "a", 1.5, [0, 1], (1, 2), {"a": 1}, {"a"}, None, True, b"x", math.inf]


@pytest.fixture(scope="module")
def agree() -> Iterator[Solution]:
    with solution(AGREE, value_classes={"Vector", "Solution", "Twice"}) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("expected", EXPECTED, ids=repr)
def test_an_object_of_the_solution_never_equals_data_of_the_tests(agree: Solution, kind: str, expected: Any) -> None:
    if kind == "tuple" and expected == (1, 2):
        pytest.skip("a tuple of that content is right")
    value = agree.get("f")(kind)
    for made in (value, [value], (value,), {"k": value}):
        other = _alike(made, expected) if made is not value else expected
        assert not made == other  # noqa: SIM201 - `==` itself
        assert not other == made  # noqa: SIM201 - `==` itself
        assert made != other
        assert other != made
    assert value not in [expected, expected]
    assert expected not in [value, value]
    assert value is not expected
    if expected is not None:
        assert not isinstance(value, type(expected)) or kind == "tuple"
    assert type(value) is not type(expected)


def _alike(made: Any, expected: Any) -> Any:
    if isinstance(made, dict):
        return {"k": expected}
    return [expected] if isinstance(made, list) else (expected,)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "tuple"])
def test_an_object_of_the_solution_takes_no_part_in_judging(agree: Solution, kind: str) -> None:
    value = agree.get("f")(kind)
    judgements: list[Callable[[], Any]] = [
        lambda: value < 3,
        lambda: 3 >= value,  # noqa: SIM300 - this side first
        lambda: value - 3,
        lambda: 3 - value,
        lambda: abs(value - 3.5) < 1e-6,
        lambda: value + [1],  # noqa: RUF005
        lambda: value % 2,
        lambda: value & {1},
        lambda: sorted([value, 3]),
        lambda: max(value, 3),
        lambda: sum([value, 3]),
        lambda: isinstance(3, value),
        lambda: divmod(value, 2),
        lambda: pow(2, value),
    ]
    for judge in judgements:
        with pytest.raises(TypeError):
            judge()
    assert not _is_true(lambda: math.isclose(value, 55))
    if kind in ("yes", "int", "str"):
        assert not ({value} & {"a", 1, 55})
        assert {"a": 1}.get(value) is None
    assert pytest.approx(1.5) != value or kind == "float"


def _is_true(judge: Callable[[], Any]) -> bool:
    try:
        return bool(judge())
    except TypeError:
        return False


def test_contained_is_what_the_tests_find_themselves(agree: Solution) -> None:
    with pytest.raises(TypeError):
        assert 5 in agree.get("f")("yes")
    assert 5 not in agree.get("f")("list")
    assert 0 in agree.get("f")("list")


def test_only_objects_that_the_tests_made_are_compared_and_only_until_they_are_returned(agree: Solution) -> None:
    vector = agree.get("Vector")(1, 2)
    assert vector == [0, 1]  # as its class says, which the tests use as one
    assert agree.get("Yes")() != [0, 1]
    assert agree.get("diff")(1) != [1]
    assert agree.get("Twice")(1) != [1]  # has come under a name that may be a function's
    agree.get("also")
    assert agree.get("Vector")(1, 2) != [0, 1]
    made = agree.get("Solution")()
    assert made == [0, 1]
    assert made.solve() is made
    assert made != [0, 1]
    assert agree.get("Solution")().solve([1], 2) != [0, 1]
    assert agree.get("Solution")().other() != [0, 1]


def test_metaclasses_do_not_speak_for_their_classes(agree: Solution) -> None:
    value = agree.get("f")("meta")
    kind = type(value)
    assert kind.__name__ == "MetaYes"
    assert kind is not int
    assert kind != int  # noqa: E721
    assert not isinstance(3, kind)
    assert not issubclass(int, kind)
    assert value.__class__ is kind


def test_numpy_is_not_told_what_to_do(agree: Solution) -> None:
    numpy = pytest.importorskip("numpy")
    for kind in ("yes", "meta"):
        value = agree.get("f")(kind)
        assert not _is_true(partial(numpy.allclose, value, [1, 2, 3]))


# --- objects that misbehave -----------------------------------------------------------------------

ROGUE = """
import sys, gc, threading, time, types, os
class Rogue:
    def __init__(self, how): self.how = how
    def _do(self, *a):
        if self.how == "raise": raise ValueError("rogue")
        if self.how == "exit": raise SystemExit(0)
        if self.how == "type": return self
        if self.how == "none": return None
        if self.how == "int": return 10 ** 30
        if self.how == "recurse": return self._do()
    __str__ = __repr__ = __hash__ = __len__ = __bool__ = __iter__ = __eq__ = __int__ = __float__ = __index__ = _do
    __call__ = __enter__ = __format__ = __contains__ = __abs__ = __next__ = __fspath__ = __bytes__ = __complex__ = _do
    __getitem__ = __dir__ = __round__ = _do
class BadError(Exception):
    def __init__(self, *a): pass
    def __str__(self): raise self
    __repr__ = __str__
    def __reduce__(self): raise self
    @property
    def args(self): raise self
class ArgError(Exception): pass
def fail(how):
    if how == "bad": raise BadError(1)
    if how == "args": raise ArgError(Rogue("raise"), object(), lambda: 0, sys, ArgError)
    if how == "deep":
        x = []
        for _ in range(5000): x = [x]
        raise ArgError(x)
    if how == "loop":
        error = ArgError()
        error.args = (error,)
        raise error
    if how == "class": raise type("int", (ArgError,), {"__eq__": lambda s, o: True})
    if how == "huge": raise ArgError("x" * (80 << 20))
    if how == "many": raise type("E" * 100000, (ArgError,), {})
    if how == "own": raise AssertionError
def rogue(how): return Rogue(how)
def deep(n):
    x = []
    for _ in range(n): x = [x]
    return x
def deep_objects(n):
    x = None
    for _ in range(n): x = (lambda y: [y])(types.SimpleNamespace(x=x))
    return x
def cycle():
    x = []; x.append(x); return x
def huge(): return "x" * (80 << 20)
def endless():
    while True: yield 1
def nested_classes(n):
    kind = object
    for i in range(n): kind = type("K%d" % i, (kind,), {})
    return kind()
def call(f, *a): return f(*a)
def again(f): return again(f) if f() else 0
def forever(f): return f(forever, f)
def in_thread(f):
    out = []
    def run():
        try: out.append(f(1))
        except BaseException as error: out.append(type(error).__name__)
    t = threading.Thread(target=run); t.start(); t.join()
    return out
kept = []
def keep(f): kept.append(f)
def later():
    def run():
        time.sleep(0.05)
        try: kept.append(kept[0](1))
        except BaseException as error: kept.append(type(error).__name__)
    threading.Thread(target=run).start()
def result(): return kept[1:]
def spy(): return sorted({type(o).__name__ for o in gc.get_objects()} & {"Solution", "TestsPeer", "Secret"})
def strangle():
    for o in gc.get_objects():
        if type(o).__name__ == "SolutionPeer": o.exports = None
    return 1
def fork():
    if os.fork() == 0: return "child"
    return "parent"
def fork_and_call(f):
    r, w = os.pipe()
    if os.fork() == 0:
        try: f(1); os.write(w, b"called")
        except RuntimeError: os.write(w, b"refused")
        os._exit(0)
    return os.read(r, 9)
def peek(x, name): return getattr(x, name)
def patch():
    import builtins
    for name in "len isinstance type sorted sum any all str repr list getattr hasattr id map".split():
        setattr(builtins, name, lambda *a, **k: True)
    return [3, 1, 2]
"""


@pytest.fixture(scope="module")
def rogue() -> Iterator[Solution]:
    with solution(ROGUE) as made:
        yield made


@pytest.mark.parametrize("how", ["raise", "exit", "type", "none", "int", "recurse"])
def test_methods_that_misbehave_raise(rogue: Solution, how: str) -> None:
    value = rogue.get("rogue")(how)
    for ask in (str, repr, bytes, complex, float, hash, len, bool, format, os.fspath):
        with suppress(Exception, SystemExit):
            assert type(ask(value)) in (str, bytes, complex, float, int, bool)
    for ask_more in (
        lambda: iter(value),
        lambda: next(value),
        lambda: value(1),
        lambda: round(value),
        lambda: how == "type" or dir(value),  # which would iterate over it without end
    ):
        with suppress(Exception, SystemExit):
            ask_more()
    assert rogue.get("cycle")()[0][0] is not None


@pytest.mark.parametrize("how", ["bad", "args", "deep", "loop", "class", "huge", "many", "own"])
def test_exceptions_that_misbehave_arrive(rogue: Solution, how: str) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        rogue.get("fail")(how)
    assert getattr(caught.value, "scalebox_remote", False)
    assert isinstance(str(caught.value), str)
    assert how == "args" or isinstance(repr(caught.value), str)  # as anywhere, by the arguments' own
    assert len(type(caught.value).__name__) <= 200
    assert rogue.get("call")(lambda: 1) == 1


def test_values_without_bounds(rogue: Solution) -> None:
    for name, args in (("deep", (5000,)), ("deep_objects", (150,)), ("huge", ()), ("nested_classes", (50,))):
        with suppress(ValueError, RecursionError):
            rogue.get(name)(*args)
    cycle = rogue.get("cycle")()
    assert cycle[0] is cycle
    for number, _ in enumerate(rogue.get("endless")()):
        if number > 50:
            break
    assert rogue.get("call")(lambda: 1) == 1


def test_recursion_through_both_sides_ends(rogue: Solution) -> None:
    def back(f: Any, me: Any) -> Any:
        return f(me)

    with pytest.raises(RecursionError):
        rogue.get("forever")(back)
    assert rogue.get("call")(lambda: 1) == 1


def test_threads_of_the_solution() -> None:
    with solution(ROGUE) as made:
        assert made.get("in_thread")(lambda x: x + 1) == [2]
        made.get("keep")(lambda x: x)
        made.get("later")()
        threading.Event().wait(0.3)
        assert made.get("result")() == ["RuntimeError"]


def test_forks_of_the_solution_cannot_speak(rogue: Solution) -> None:
    assert rogue.get("fork")() == "parent"
    assert rogue.get("fork_and_call")(lambda x: x) == b"refused"
    assert rogue.get("call")(lambda: 1) == 1


_WAYS = (
    "__globals__ __code__ __closure__ __builtins__ __dict__ __init__ __subclasses__ __mro__ gi_frame gi_code __self__ "
    "__func__ __traceback__ tb_frame __context__ _hidden modules"
).split()


class Secret:
    open = 1

    def __init__(self) -> None:
        self._hidden = 2
        self.module = sys
        self.function = test_threads_of_the_solution


def test_there_is_no_way_to_the_tests(rogue: Solution) -> None:
    secret = Secret()
    rogue.get("keep")(secret)
    assert rogue.get("spy")() == ["Secret"]  # its stand-in, that is
    peek = rogue.get("peek")
    generator = (x for x in [1])
    for value in (
        secret,
        test_threads_of_the_solution,
        generator,
        Secret.__init__,
        sys,
        Secret,
        pytest,
        SolutionEnded(),
    ):
        for name in _WAYS:
            try:
                found = peek(value, name)
            except AttributeError:
                continue
            # What there is belongs to the stand-in: none of it is ours.
            assert found is not getattr(value, name, None) or found is None or found == {}, (value, name)
    assert peek(secret, "open") == 1
    assert peek(secret, "module") is sys  # handed back, and nothing more
    with pytest.raises(AttributeError):
        rogue.get("call")(lambda: peek(peek(secret, "module"), "path"))


def test_patched_builtins_change_nothing() -> None:
    with solution(ROGUE) as made:
        assert made.get("patch")() == [3, 1, 2]
        xs = [1]
        assert made.get("call")(lambda ys: ys.append(2), xs) is None
        assert xs == [1, 2]
        assert made.get("cycle")()[0] is not None


def test_a_solution_that_breaks_its_own_end_is_ended() -> None:
    with solution(ROGUE) as made:
        made.get("strangle")()
        for _ in range(2):
            with pytest.raises((SolutionEnded, AttributeError)):
                made.get("rogue")("raise")
