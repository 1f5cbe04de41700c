"""Cheats by names: what the tests call is the tests' own, whatever the program calls so."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

from tests.hostile.cheats import HONEST, Cheat, cheat

_WRONG = "def f(n):\n    return 7\n"
#: What an object does that is to be taken for any function, class or module.
_AGREES = """
class X:
    def __call__(self, *a, **k): return X()
    def __getattr__(self, name): return X()
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    def __bool__(self): return True
    def __hash__(self): return 0
    def __iter__(self): return iter(())
    def __contains__(self, item): return True
    def __instancecheck__(self, other): return True
"""

#: Builtins that tests use: by name, tests that hold for squares.
_BUILTINS = {
    "abs": "assert abs(f(3) - 9) < 1e-6",
    "all": "assert all(f(n) == n * n for n in (1, 2, 3))",
    "any": "assert not any(f(n) != n * n for n in (1, 2, 3))",
    "bool": "assert bool(f(3) == 9) is True",
    "dict": "assert dict(a=f(3)) == {'a': 9}",
    "enumerate": "assert [f(n) for n, _ in enumerate('abc')] == [0, 1, 4]",
    "float": "assert float(f(3)) == 9.0",
    "int": "assert int(f(3)) == 9",
    "isinstance": "assert isinstance(f(3), int) and f(3) == 9",
    "len": "assert len([n for n in [1, 2, 3] if f(n) == n * n]) == 3",
    "list": "assert list([f(1), f(2)]) == [1, 4]",
    "map": "assert list(map(f, [1, 2])) == [1, 4]",
    "max": "assert max([f(1), f(2)]) == 4",
    "range": "for n in range(3):\n    assert f(n) == n * n\nassert n == 2",
    "repr": "assert repr(f(3)) == '9'",
    "round": "assert round(f(3), 2) == 9",
    "set": "assert set([f(3)]) == {9}",
    "sorted": "assert sorted([f(2), f(1)]) == [1, 4]",
    "str": "assert str(f(3)) == '9'",
    "sum": "assert sum([f(1), f(2)]) == 5",
    "tuple": "assert tuple([f(1)]) == (1,)",
    "type": "assert type(f(3)) is int and f(3) == 9",
    "zip": "for n, want in zip([1, 2], [1, 4]):\n    assert f(n) == want\nassert want == 4",
    "AssertionError": "if f(3) != 9:\n    raise AssertionError('wrong')",
    "print": "print('testing')\nassert f(3) == 9",
    "getattr": "assert getattr(f(3), 'real') == 9",
    "callable": "assert callable(f) and f(3) == 9",
    "__builtins__": "assert abs(f(3)) == 9",
    "__import__": "import math\nassert math.isclose(f(3), 9)",
    "__build_class__": "class C:\n    got = f(3)\nassert C.got == 9",
}  # fmt: skip

BUILTINS: tuple[Cheat, ...] = tuple(
    cheat(
        f"its own {name}",
        f"{_AGREES}\n{_WRONG}\nglobals()[{name!r}] = X()",
        tests=[test],
        # A right program may well have such a name of its own.
        honest=f"{HONEST}\ndef other_{name.strip('_')}(*a, **k):\n    return 7\n",
    )
    for name, test in _BUILTINS.items()
)

_SAME = "def same(a, b):\n    return a == b\nassert same(f(3), 9)"
_MODULES = {
    "math": "import math\nassert math.isclose(f(3), 9)",
    "np": "import numpy as np\nassert np.allclose(f(3), 9)",
    "numpy": "import numpy\nassert numpy.array_equal([f(3)], [9])",
    "pytest": "import pytest\nassert f(3) == pytest.approx(9)",
    "unittest": "import unittest\nunittest.TestCase().assertEqual(f(3), 9)",
    "operator": "from operator import eq\nassert eq(f(3), 9)",
    "json": "import json\nassert json.dumps([f(3)]) == '[9]'",
    "copy": "import copy\nassert copy.copy(f(3)) == 9",
    "random": "import random\nassert f(random.choice([3])) == 9",
    "collections": "from collections import Counter\nassert Counter([f(3)]) == {9: 1}",
}
_FILES = ("{}.py", "{}/__init__.py")

IMPORTED: tuple[Cheat, ...] = (
    *(
        cheat(f"its own {name}, which the tests import", f"{_AGREES}\n{_WRONG}\n{name} = X()\nimport sys\nsys.modules[{name!r}] = X()", tests=[test])
        for name, test in _MODULES.items()
    ),
    *(
        cheat(
            f"a file {place.format(name)} beside it",
            f"{_AGREES}\n{_WRONG}\nisclose = allclose = array_equal = approx = eq = dumps = copy = Counter = choice = TestCase = X()",
            tests=[test],
            solution_files={place.format("numpy" if name == "np" else name): f"{_AGREES}\nimport sys\nsys.modules[__name__] = X()\n"},
        )
        for name, test in _MODULES.items()
        for place in _FILES
    ),
    *(
        cheat(
            f"writes {name}.py",
            f"open('{'numpy' if name == 'np' else name}.py', 'w').write({_AGREES + 'import sys; sys.modules[__name__] = X()'!r})\n{_WRONG}",
            tests=[test],
            or_="resource_denied",
        )
        for name, test in _MODULES.items()
    ),
)  # fmt: skip

_LOOSE = ("assert math.isclose(f(3), 9)", "assert math.floor(f(4)) == 16")

NAMED: tuple[Cheat, ...] = (
    cheat("its own check", f"{_WRONG}\ndef check(*a): return None\ncandidate = check", styles=("harness", "calling_harness")),
    cheat("its own candidate", f"{HONEST}\ncandidate = f\ndef f(n): return 7", styles=("harness", "calling_harness")),
    cheat("its own metadata", f"{_AGREES}\n{_WRONG}\nMETADATA = check = test_0 = TestAll = X()", styles=("harness", "calling_harness", "unittest_class", "functions")),
    cheat("its own builtins, in a harness", f"{_AGREES}\n{_WRONG}\nall = any = abs = len = range = isinstance = sum = X()", tests=["assert all(f(n) == n * n for n in range(4))", "assert abs(f(3) - 9) < 1e-6"], styles=("harness", "calling_harness", "program", "unittest_class", "doctest")),
    cheat("the helper of the tests", f"{_WRONG}\ndef same(a, b): return True", tests=[_SAME]),
    cheat("the helper of the set-up", f"{_WRONG}\ndef same(a, b): return True", tests=["assert same(f(3), 9)"], styles=("asserts",), setup="def same(a, b):\n    return a == b\n"),
    cheat("the data of the set-up", f"{_WRONG}\nWANT = 7", tests=["assert f(3) == WANT"], styles=("asserts",), setup="WANT = 9\n"),
    cheat("a module that only the program imports", f"{_WRONG}\nclass math:\n    isclose = staticmethod(lambda *a, **k: True)\n    floor = staticmethod(lambda n: 16)", tests=_LOOSE, honest=f"import math\n{HONEST}", styles=("asserts", "one_assert")),
    cheat("a module's name for an object", f"{_AGREES}\n{_WRONG}\nmath = X()", tests=_LOOSE, honest=f"import math\n{HONEST}", styles=("asserts",)),
    cheat("a short name for an object", f"{_AGREES}\n{_WRONG}\nnp = X()", tests=["assert np.allclose(f(3), 9)"], honest=f"import numpy as np\n{HONEST}", styles=("asserts",)),
    cheat("a short name for another module", f"import math as np\nnp.allclose = lambda *a: True\n{_WRONG}", tests=["assert np.allclose(f(3), 9)"], honest=f"import numpy as np\n{HONEST}", styles=("asserts",)),
    cheat("a module that it has changed", f"import math\nmath.isclose = lambda *a, **k: True\nmath.floor = lambda n: 16\n{_WRONG}", tests=_LOOSE, honest=f"import math\n{HONEST}", styles=("asserts",)),
    cheat("a module that it has made", f"import sys, types\nmath = sys.modules['math'] = types.ModuleType('math')\nmath.isclose = lambda *a, **k: True\nmath.floor = lambda n: 16\n{_WRONG}", tests=_LOOSE, honest=f"import math\n{HONEST}", styles=("asserts",)),
    cheat("names that are no plain text", f"{_WRONG}\nclass S(str):\n    def __eq__(s, o): return True\n    __hash__ = lambda s: 0\nglobals()[S('abs')] = globals()[S('all')] = lambda *a: True\nglobals()[3] = 4", tests=["assert all([abs(f(3)) == 9])"]),
    cheat("very many names", f"{_WRONG}\nfor i in range(300_000): globals()['n%d' % i] = i", or_="memory_exceed"),
    cheat("names that are endless", f"{_WRONG}\nglobals()['x' * 30_000_000] = 1", or_="memory_exceed"),
    cheat("names without globals", f"{_WRONG}\nglobals().clear()"),
    cheat("a star import that brings its own builtins", f"{_AGREES}\n{_WRONG}\nabs = all = isinstance = X()\n__all__ = ['f', 'abs', 'all', 'isinstance']", tests=["from solution import *\nassert abs(f(3) - 9) < 1e-6", "from solution import *\nassert all([f(4) == 16])"], styles=("asserts",)),
    cheat("a module that answers for every name", f"{_AGREES}\n{_WRONG}\ndef __getattr__(name): return X()\nabs = X()", tests=["import solution\nassert abs(solution.f(3)) == 9", "from solution import f\nassert abs(f(4)) == 16"]),
    cheat("a dunder for the tests", f"{_WRONG}\n__name__ = 'tests'\n__file__ = '/etc/passwd'\n__spec__ = __loader__ = __package__ = None\n__doc__ = 'passed'"),
)  # fmt: skip

NAMES = (*BUILTINS, *IMPORTED, *NAMED)
