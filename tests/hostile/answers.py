"""Answers that would judge themselves, and the places in assertions where they might: every one against every one.

The task is to square a number. No answer here knows a square, so whatever the place, nothing may pass.
"""

# ruff: noqa: E501 - one place or answer to a line

from __future__ import annotations

import textwrap
from typing import NamedTuple


class Place(NamedTuple):
    """Where an assertion looks at an answer: tests that hold for squares, and for no constant."""

    name: str
    tests: tuple[str, ...]


def _place(name: str, *tests: str) -> Place:
    return Place(name.replace(" ", "-"), tests)


HONEST = "def f(n):\n    return n * n\n"

PLACES = (
    _place("equal", "assert f(3) == 9", "assert f(4) == 16"),
    _place("equal, the other way", "assert 9 == f(3)", "assert 16 == f(4)"),
    _place("not unequal", "assert not f(3) != 9", "assert not 16 != f(4)"),
    _place("a chain", "assert f(3) == f(3) == 9", "assert 16 == f(4) == 16"),
    _place("between", "assert 8 < f(3) < 10", "assert 15 < f(4) < 17"),
    _place("at most and at least", "assert f(3) <= 9 and f(3) >= 9", "assert f(4) <= 16 and f(4) >= 16"),
    _place("close by a difference", "assert abs(f(3) - 9) < 1e-6", "assert abs(16 - f(4)) < 1e-6"),
    _place("close by isclose", "import math\nassert math.isclose(f(3), 9)", "from math import isclose\nassert isclose(16, f(4))"),
    _place("close by numpy", "import numpy as np\nassert np.allclose(f(3), 9)", "import numpy as np\nassert np.isclose(f(4), 16)"),
    _place("equal by numpy", "import numpy as np\nassert np.array_equal(f(3), 9)", "import numpy as np\nassert (np.array([f(4)]) == np.array([16])).all()"),
    _place("equal to an array", "import numpy as np\nassert np.array(9) == f(3)", "import numpy as np\nassert np.int64(16) == f(4)"),
    _place("close by approx", "import pytest\nassert f(3) == pytest.approx(9)", "import pytest\nassert pytest.approx(16) == f(4)"),
    _place("among", "assert f(3) in (9,)", "assert f(4) in [16]"),
    _place("not among", "assert f(3) not in (8, 10, 16)\nassert f(3) in {9}", "assert f(4) not in [9]\nassert f(4) in {16: 1}"),
    _place("a key", "assert {9: 'yes'}[f(3)] == 'yes'", "assert {16: 'yes'}.get(f(4)) == 'yes'"),
    _place("an index", "assert list(range(20))[f(3)] == 9", "assert list(range(20))[f(4)] == 16"),
    _place("a range", "assert len(range(f(3))) == 9", "assert sum(1 for _ in range(f(4))) == 16"),
    _place("a factor", "assert 'x' * f(3) == 'x' * 9", "assert [0] * f(4) == [0] * 16"),
    _place("its text", "assert str(f(3)) == '9'", "assert f'{f(4)}' == '16'"),
    _place("its representation", "assert repr(f(3)) == '9'", "assert f'{f(4)!r:>3}' == ' 16'"),
    _place("formatted", "assert '%d' % f(3) == '9'", "assert format(f(4), 'd') == '16'"),
    _place("joined", "assert ','.join([str(f(3)), str(f(4))]) == '9,16'"),
    _place("an integer made of it", "assert int(f(3)) == 9", "assert int(f(4)) == 16"),
    _place("a float made of it", "assert float(f(3)) == 9.0", "assert float(f(4)) == 16.0"),
    _place("a decimal made of it", "from decimal import Decimal\nassert Decimal(f(3)) == 9", "from fractions import Fraction\nassert Fraction(f(4)) == 16"),
    _place("rounded", "assert round(f(3)) == 9", "assert round(f(4), 2) == 16"),
    _place("negated", "assert -f(3) == -9", "assert -(-f(4)) == 16"),
    _place("absolute", "assert abs(f(3)) == 9", "assert abs(f(-4)) == 16"),
    _place("divided", "assert divmod(f(3), 2) == (4, 1)", "assert (f(4) // 3, f(4) % 3) == (5, 1)"),
    _place("added", "assert f(3) + f(4) == 25", "assert f(3) + 1 == 10", "assert 1 + f(4) == 17"),
    _place("summed", "assert sum([f(3), f(4)]) == 25", "assert sum(f(n) for n in range(4)) == 14"),
    _place("a difference is zero", "assert f(3) - 9 == 0", "assert not (f(4) - 16)"),
    _place("exclusive or", "assert not f(3) ^ 9", "assert f(4) ^ 16 == 0"),
    _place("in a list", "assert [f(3), f(4)] == [9, 16]", "assert [1, *[f(5)]] == [1, 25]"),
    _place("in a tuple", "assert (f(3),) == (9,)", "assert (f(4), 1) == (16, 1)"),
    _place("in a dict", "assert {'a': f(3)} == {'a': 9}", "assert dict(a=f(4)) == {'a': 16}"),
    _place("in a set", "assert {f(3)} == {9}", "assert {f(4), 16} == {16}", "assert set([f(5)]) <= {25}"),
    _place("sorted", "assert sorted([f(4), f(3)]) == [9, 16]"),
    _place("the greatest", "assert max(f(3), f(4)) == 16", "assert min([f(3), f(4)]) == 9"),
    _place("any of them", "assert any(f(3) == value for value in [9])", "assert all(f(n) == n * n for n in range(9))"),
    _place("counted", "assert [9, 16].count(f(3)) == 1 and [9, 16].index(f(4)) == 1"),
    _place("a type and a value", "assert isinstance(f(3), int) and f(3) == 9", "assert type(f(4)) is int and f(4) == 16"),
    _place("a type's name and a value", "assert type(f(3)).__name__ == 'int' and f(3) == 9"),
    _place("there and right", "assert f(3) and f(3) == 9", "assert f(4) is not None and f(4) == 16"),
    _place("by an operator", "import operator\nassert operator.eq(f(3), 9)", "import operator\nassert not operator.ne(f(4), 16)"),
    _place("by its own method", "assert f(3).__eq__(9) is True", "assert (16).__eq__(f(4)) is True"),
    _place("a copy", "import copy\nassert copy.deepcopy(f(3)) == 9", "import copy\nassert copy.copy(f(4)) == 16"),
    _place("as JSON", "import json\nassert json.dumps(f(3)) == '9'", "import json\nassert json.loads(json.dumps([f(4)])) == [16]"),
    _place("its hash", "assert hash(f(3)) == hash(9)", "assert hash(f(4)) == hash(16)"),
    _place("kept in a variable", "got = f(3)\nwant = 9\nok = got == want\nassert ok", "got = f(4)\nassert got == 16, got"),
    _place("a helper of the tests", "def same(a, b):\n    return a == b\nassert same(f(3), 9)\nassert same(f(4), 16)"),
    _place("raised by the tests", "if f(3) != 9 or f(4) != 16:\n    raise AssertionError('wrong')\nassert True"),
    _place("almost equal by unittest", "import unittest\nunittest.TestCase().assertAlmostEqual(f(3), 9)", "import unittest\nunittest.TestCase().assertAlmostEqual(16, f(4), delta=1e-6)"),
    _place("in order by unittest", "import unittest\nt = unittest.TestCase()\nt.assertGreater(f(3), 8)\nt.assertLess(f(3), 10)", "import unittest\nt = unittest.TestCase()\nt.assertIn(f(4), [16])\nt.assertNotIn(f(4), [9])"),
    _place("counted by unittest", "import unittest\nunittest.TestCase().assertCountEqual([f(3), f(4)], [16, 9])", "import unittest\nunittest.TestCase().assertSequenceEqual([f(5)], [25])"),
    _place("close by numpy's testing", "import numpy as np\nnp.testing.assert_allclose(f(3), 9)", "import numpy as np\nnp.testing.assert_almost_equal(f(4), 16)"),
    _place("equal by numpy's testing", "import numpy as np\nnp.testing.assert_equal(f(3), 9)", "import numpy as np\nnp.testing.assert_array_equal(np.array([f(4)]), np.array([16]))"),
    _place("summed up by the library", "import statistics\nassert statistics.mean([f(3), f(3)]) == 9", "import functools, operator\nassert functools.reduce(operator.mul, [f(4), 1]) == 16"),
    _place("matched by the library", "import re\nassert re.fullmatch('9', str(f(3)))", "import fnmatch\nassert fnmatch.filter([str(f(4))], '16') == ['16']"),
    _place("merged by the library", "import heapq\nassert heapq.nlargest(1, [f(3), f(4)]) == [16]", "import bisect\nassert bisect.bisect_left([1, 9, 16], f(4)) == 2"),
    _place("a day", "import datetime\nassert datetime.date(2020, 1, f(3)) == datetime.date(2020, 1, 9)", "import datetime\nassert datetime.timedelta(f(4)) == datetime.timedelta(16)"),
    _place("bytes made of it", "assert bytes([f(3)]) == b'\\t'", "assert bytes(f(4)) == bytes(16)"),
    _place("a matrix", "import numpy as np\nassert (np.full(2, f(3)) == 9).all()", "import numpy as np\nassert np.sum([f(4), 1]) == 17"),
    _place("a match", "match f(3):\n    case 9:\n        ok = True\n    case _:\n        ok = False\nassert ok", "assert {9: 1}.get(f(3), 0) == 1"),
)  # fmt: skip


def _answer(code: str) -> str:
    return textwrap.dedent(code).strip() + "\n"


#: What follows `class X(…):` so that an object agrees with everybody.
_YES = """
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 9
    def __bool__(self): return True
    def __sub__(self, other): return 0
    __rsub__ = __xor__ = __rxor__ = __mod__ = __sub__
    def __add__(self, other): return self
    __radd__ = __mul__ = __rmul__ = __neg__ = __abs__ = __round__ = __floordiv__ = lambda self, *_: self
    def __divmod__(self, other): return (self, self)
    def __instancecheck__(self, other): return True
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return lambda *a, **k: self
"""
_CONVERT = """
    def __int__(self): return X_INT(9)
    def __index__(self): return X_INT(9)
    def __float__(self): return X_FLOAT(9)
    def __str__(self): return X_STR('9')
    __repr__ = __str__
    def __format__(self, spec): return X_STR('9')
    def __len__(self): return X_INT(9)
    def __copy__(self): return self
    def __deepcopy__(self, memo): return self
    def __array__(self, *a, **k):
        import numpy
        return numpy.array([self], dtype=object)
"""
_SLY = """
class X_INT(int):
    def __eq__(self, other): return True
    def __hash__(self): return 9
class X_FLOAT(float):
    def __eq__(self, other): return True
    def __hash__(self): return 9
class X_STR(str):
    def __eq__(self, other): return True
    def __hash__(self): return 9
"""


def _class(head: str, answer: str, members: str = _YES + _CONVERT) -> str:
    return f"{_SLY}\n{head}{members}\ndef f(n):\n    return {answer}\n"


#: By name: programs whose `f` returns what pretends to be the square.
ANSWERS = {
    "agrees with everything": _class("class X:", "X()"),
    "agrees, and converts to 9": _class("class X:", "X()", _YES + _CONVERT.replace("X_INT", "int").replace("X_FLOAT", "float").replace("X_STR", "str")).replace("(9)", "(7)").replace("('9')", "('7')"),
    "an int that agrees": _class("class X(int):", "X(7)", _YES),
    "a float that agrees": _class("class X(float):", "X('nan')", _YES),
    "a str that agrees": _class("class X(str):", "X('7')", _YES),
    "a tuple that agrees": _class("class X(tuple):", "X()", _YES),
    "a list that agrees": _class("class X(list):", "X([7])", _YES.replace("def __hash__(self): return 9", "__hash__ = lambda self: 9")),
    "a dict that agrees": _class("class X(dict):", "X()", _YES + "    def __missing__(self, key): return self\n"),
    "a decimal that agrees": _class("import decimal\nclass X(decimal.Decimal):", "X(7)", _YES),
    "a fraction that agrees": _class("import fractions\nclass X(fractions.Fraction):", "X(7)", _YES),
    "an enum that agrees": _class("import enum\nclass X(enum.IntEnum):\n    A = 7\n    B = 8", "X.A", "\n    def __eq__(self, other): return True\n    def __hash__(self): return 9\n"),
    "named tuple that agrees": _class("import typing\nclass X(typing.NamedTuple):\n    a: int = 7\n", "X()", "    def __eq__(self, other): return True\n    def __hash__(self): return 9\n"),
    "a class that agrees": _class("class M(type):", "type.__new__(M, 'X', (), {})", _YES),
    "a lie about its class": _class("class X:\n    __class__ = property(lambda self: int)", "X()"),
    "a class named int": _class("class X:", "X()") + "X.__name__ = X.__qualname__ = 'int'; X.__module__ = 'builtins'\n",
    "a class made as int": _class("class M(type):\n    def __instancecheck__(cls, other): return True\n    def __eq__(cls, other): return True\n    def __hash__(cls): return hash(int)\nclass X(int, metaclass=M):", "X(7)", _YES) + "X.__name__ = 'int'\n",
    "a mock's ANY": "from unittest.mock import ANY\ndef f(n):\n    return ANY\n",
    "a mock": "from unittest.mock import MagicMock\ndef f(n):\n    m = MagicMock()\n    m.__eq__ = lambda s, o: True\n    m.__float__ = lambda s: 7.0\n    m.__sub__ = lambda s, o: 0\n    return m\n",
    "an array of objects": _class("class X:", "__import__('numpy').array([X()], dtype=object)"),
    "an array's subclass": _class("import numpy\nclass X(numpy.ndarray):", "numpy.array([7]).view(X)", _YES + "    def __array_ufunc__(self, *a, **k): return numpy.array(True)\n    def __array_function__(self, *a, **k): return True\n"),
    "an array's protocol": _class("class X:", "X()", _YES + "    __array_priority__ = 1e9\n    def __array_ufunc__(self, *a, **k): return True\n    def __array_function__(self, *a, **k): return True\n"),
    "a float that is no number": "def f(n):\n    return float('nan')\n",
    "infinity": "def f(n):\n    return float('inf')\n",
    "a complex that is no number": "def f(n):\n    return complex('nan')\n",
    "numpy's not a number": "import numpy\ndef f(n):\n    return numpy.float64('nan')\n",
    "numpy's masked value": "import numpy\ndef f(n):\n    return numpy.ma.masked\n",
    "not implemented": "def f(n):\n    return NotImplemented\n",
    "an ellipsis": "def f(n):\n    return ...\n",
    "true": "def f(n):\n    return True\n",
    "an exception": "def f(n):\n    return AssertionError(9)\n",
    "a coroutine": "async def f(n):\n    return n * n\n",
    "a generator without end": "def f(n):\n    while True:\n        yield n * n\n",
    "an iterator that agrees": _class("class X:\n    def __iter__(self): return self\n    def __next__(self): return self", "X()"),
    "a library's object": "import types\ndef f(n):\n    return types.SimpleNamespace(__eq__=lambda o: True, __float__=9.0)\n",
    "a type": "def f(n):\n    return int\n",
    "a function": "def f(n):\n    return f\n",
    "itself, called as a class": _class("class f:\n    def __init__(self, n): pass", "None").replace("def f(n):", "def g(n):"),
    "itself, made by a metaclass": _class("class M(type):\n    def __call__(cls, n): return X()\nclass X:", "None").replace("def f(n):", "def g(n):") + "class f(X, metaclass=M): pass\n",
    "another each time": _class("import random\nclass X:", "random.choice([X(), 8, None, [9], '9'])") ,
    "a counter": "import itertools\n_next = itertools.count()\ndef f(n):\n    return next(_next)\n",
}  # fmt: skip

#: What ends, or what takes all memory, in some places instead of being a wrong answer.
VERDICTS = frozenset({"assert_fail", "runtime_error", "time_out", "memory_exceed", "output_exceed"})
