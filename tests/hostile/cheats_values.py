"""Cheats by what a function returns, or does to what it was given: sizes, shapes, kinds, and who may compare."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

from tests.hostile.cheats import Cheat, cheat

_X = """
class X:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __getattr__(self, name):
        if name.startswith('__'): raise AttributeError(name)
        return self
    def __call__(self, *a, **k): return self
    def __getitem__(self, key): return self
"""


def _returns(name: str, value: str, before: str = "", or_: str = "") -> Cheat:
    return cheat(f"answers with {name}", f"{before}\ndef f(n):\n    return {value}", or_=or_)


SIZES: tuple[Cheat, ...] = (
    _returns("a giant text", "'9' * 2_000_000_000", or_="memory_exceed"),
    _returns("a big text", "'9' * 60_000_000", or_="memory_exceed"),
    _returns("a giant list", "[9] * 100_000_000", or_="memory_exceed time_out"),
    _returns("a big list", "list(range(6_000_000))", or_="memory_exceed time_out"),
    _returns("a list of one long text", "['9' * 1_000_000] * 1_000", or_="memory_exceed time_out"),
    _returns("a big dict", "{i: [] for i in range(500_000)}", or_="memory_exceed time_out"),
    _returns("a giant integer", "1 << 100_000_000", or_="memory_exceed time_out"),
    _returns("an integer too long to be shown", "10 ** 5_000"),
    _returns("a list of such integers", "[10 ** 5_000] * 100"),
    _returns("a cycle", "x", "x = [9]\nx.append(x)"),
    _returns("a cycle of kinds", "x", "x = {}\nx[1] = ([x], {2: x})\nx[3] = x[1]"),
    _returns("a deep list", "x", "x = []\nfor _ in range(1_000_000): x = [x]", or_="memory_exceed"),
    _returns("a fairly deep list", "x", "x = 9\nfor _ in range(190): x = [x]"),
    _returns("a deep tuple", "x", "x = ()\nfor _ in range(100_000): x = (x,)", or_="memory_exceed"),
    _returns("a tuple of tuples of tuples", "x", "x = (9,)\nfor _ in range(60): x = (x, x)", or_="memory_exceed time_out"),
    _returns("a list of lists of lists", "x", "x = [9]\nfor _ in range(60): x = [x, x]", or_="memory_exceed time_out"),
    _returns("keys that collide", "{i * (2 ** 61 - 1): i for i in range(8_000)}", or_="time_out memory_exceed"),
    _returns("a set that collides", "{i * (2 ** 61 - 1) for i in range(8_000)}", or_="time_out memory_exceed"),
    _returns("lone surrogates", r"'\ud800\udfff\0\u202e' * 100"),
    _returns("a wide range", "range(10 ** 30)"),
    _returns("a giant array", "numpy.zeros(200_000_000)", "import numpy", or_="memory_exceed time_out"),
    _returns("an array of a lying shape", "numpy.lib.stride_tricks.as_strided(numpy.zeros(1), (10**6, 10**6), (0, 0))", "import numpy", or_="memory_exceed time_out"),
    _returns("what is endless when shown", "X()", "class X:\n    def __repr__(self): return 'x' * 500_000_000", or_="memory_exceed"),
    _returns("what prints without end when shown", "X()", "class X:\n    def __repr__(self):\n        while True: print('x' * 1000)", or_="output_exceed time_out"),
)  # fmt: skip

_ITEMS = ("assert list(f(3)) == [0, 1, 4]", "assert sum(f(4)) == 14", "assert 9 in f(4) and 5 not in f(4)")
_GEN = "def f(n):\n    return [i * i for i in range(n)]\n"
_EQUAL_ITEMS = (
    "assert f(3) == [0, 1, 4]",
    "assert f(4)[3] == 9",
    "assert len(f(2)) == 2",
    "assert f(4)[::-1] == [9, 4, 1, 0]",
)
_PAIRS = (
    "assert f(3)['square'] == 9",
    "assert f(4).get('square') == 16",
    "assert f(2) == {'square': 4}",
    "assert {**f(5)} == {'square': 25}",
)
_PAIR = "def f(n):\n    return {'square': n * n}\n"

KINDS: tuple[Cheat, ...] = (
    cheat("an iterator without end", "import itertools\ndef f(n):\n    return itertools.repeat(9)", tests=_ITEMS, honest=_GEN, or_="time_out memory_exceed"),
    cheat("a generator without end", "def f(n):\n    while True: yield 0", tests=_ITEMS, honest=_GEN, or_="time_out memory_exceed"),
    cheat("an iterator of what agrees", f"{_X}\ndef f(n):\n    return iter([X()] * n)", tests=_ITEMS, honest=_GEN),
    cheat("a list of what agrees", f"{_X}\ndef f(n):\n    return [X() for i in range(n)]", tests=_EQUAL_ITEMS, honest=_GEN),
    cheat("a list that agrees", f"class L(list):{_X.split('class X:')[1]}\ndef f(n):\n    return L([7] * n)", tests=_EQUAL_ITEMS, honest=_GEN),
    cheat("a tuple of a name of its own", "import collections\nT = collections.namedtuple('list', 'a b c')\nT.__eq__ = lambda s, o: True\ndef f(n):\n    return T(7, 7, 7)", tests=_EQUAL_ITEMS, honest=_GEN),
    cheat("an array that agrees", "import numpy\nclass A(numpy.ndarray):\n    def __eq__(s, o): return True\n    def __array_ufunc__(s, *a, **k): return True\ndef f(n):\n    return numpy.zeros(n).view(A)", tests=_EQUAL_ITEMS, honest=_GEN),
    cheat("an array of no numbers", "import numpy\ndef f(n):\n    return numpy.full(n, numpy.nan)", tests=["import numpy as np\nassert not np.any(np.abs(np.array(f(3)) - [0, 1, 4]) > 1e-6)\nassert np.allclose(f(3), [0, 1, 4])"], honest=_GEN),
    cheat("a dict of what agrees", f"{_X}\ndef f(n):\n    return {{'square': X()}}", tests=_PAIRS, honest=_PAIR),
    cheat("a dict that has everything", f"{_X}\nclass D(dict):\n    def __missing__(s, key): return X()\n    get = __getitem__ = __missing__\n    def __eq__(s, o): return True\n    __hash__ = None\ndef f(n):\n    return D()", tests=_PAIRS, honest=_PAIR),
    cheat("a default that agrees", f"import collections\n{_X}\ndef f(n):\n    return collections.defaultdict(X)", tests=_PAIRS, honest=_PAIR),
    cheat("a mapping proxy", f"import types\n{_X}\ndef f(n):\n    return types.MappingProxyType({{'square': X()}})", tests=_PAIRS, honest=_PAIR),
    cheat("a user's dict", f"import collections\n{_X}\nclass D(collections.UserDict):\n    def __eq__(s, o): return True\n    def __getitem__(s, k): return X()\n    def __contains__(s, k): return True\ndef f(n):\n    return D()", tests=_PAIRS, honest=_PAIR),
    cheat("a length that is no length", "class L(list):\n    def __len__(s): return type('I', (int,), {'__eq__': lambda a, b: True, '__hash__': int.__hash__})(2)\ndef f(n):\n    return L()", tests=["assert len(f(3)) == 3", "assert len(f(4)) == 4"], honest=_GEN),
    cheat("different answers to one question", "import itertools\nanswers = itertools.cycle([7, 9, 16, 4])\ndef f(n):\n    return next(answers)", tests=["assert f(3) == 9 == f(3)", "assert f(4) == f(4) == 16"]),
)  # fmt: skip

_POINTS = (
    "p = Point(1, 2)\nassert p + Point(3, 4) == Point(4, 6)\nassert not p == Point(2, 1)\nassert p != Point(9, 9)\nassert (p.x, p.y) == (1, 2)",
)
_POINT = """
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)
    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)
"""
_TWO = (
    "assert Solution().twoSum([2, 7], 9) == [0, 1]",
    "s = Solution()\nassert s.twoSum([1, 2, 3], 5) == [1, 2]\nassert s.twoSum([3, 3], 6) == [0, 1]",
)
_TWO_SUM = """
class Solution:
    def twoSum(self, nums, target):
        for i, a in enumerate(nums):
            for j, b in enumerate(nums[:i]):
                if a + b == target:
                    return [j, i]
"""
_BODY = _X.split("class X:")[1]
_MAX = ("assert Find_Max([1, 5, 2]) == 5", "assert Find_Max([7]) == 7", "assert Find_Max([-1, -2]) - -1 == 0")
_FIND_MAX = "def Find_Max(xs):\n    return max(xs)\n"
_STACK = (
    "s = Stack()\ns.push(1)\ns.push(2)\nassert len(s) == 2\nassert s.pop() == 2\nassert s.top == 1\nassert not s.empty()\nassert s.pop() == 1 and s.empty()",
)
_STACK_CLASS = """
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def empty(self): return not self.items
    @property
    def top(self): return self.items[-1]
"""
_WITH = (
    "with Store() as s:\n    s.put('a', 1)\n    assert s.get('a') == 1\n    s.put('a', 2)\n    assert s.get('a') == 2",
)
_STORE = """
class Store:
    def __init__(self): self.kept = {}
    def __enter__(self): return self
    def __exit__(self, *error): return False
    def put(self, key, value): self.kept[key] = value
    def get(self, key): return self.kept[key]
"""

CLASSES: tuple[Cheat, ...] = (
    cheat("points that are all equal", _POINT.replace("return (self.x, self.y) == (other.x, other.y)", "return True"), tests=_POINTS, honest=_POINT),
    cheat("points of a class that agrees", f"class M(type):{_BODY}\nclass Point(metaclass=M):{_BODY}    def __init__(self, x, y): pass\n    __add__ = lambda s, o: s", tests=_POINTS, honest=_POINT),
    cheat("a solution that answers with itself", f"class Solution:{_BODY}    def twoSum(self, nums, target): return self", tests=_TWO, honest=_TWO_SUM),
    cheat("a solution that answers with another", f"class Solution:{_BODY}    def twoSum(self, nums, target): return Solution()", tests=_TWO, honest=_TWO_SUM),
    cheat("a solution that answers with its class", f"class M(type):{_BODY}\nclass Solution(metaclass=M):\n    def twoSum(self, nums, target): return Solution", tests=_TWO, honest=_TWO_SUM),
    cheat("a solution that is made elsewhere", f"{_X}\nclass Solution:\n    def __new__(cls): return X()", tests=_TWO, honest=_TWO_SUM),
    cheat("a solution made by its metaclass", f"{_X}\nclass M(type):\n    def __call__(cls): return X()\nclass Solution(metaclass=M): pass", tests=_TWO, honest=_TWO_SUM),
    cheat("a solution whose attributes agree", f"{_X}\nclass Solution:\n    def __getattribute__(self, name): return X()", tests=_TWO, honest=_TWO_SUM),
    cheat("a method that is a class", f"class Solution:\n    class twoSum:{_BODY}        pass\n    twoSum.__init__ = lambda *a: None".replace("\n    def ", "\n        def ").replace("\n    __le__", "\n        __le__").replace("\n        if name", "\n            if name").replace("\n        return self", "\n            return self"), tests=_TWO, honest=_TWO_SUM),
    cheat("a solution that is remembered", f"class Solution:{_BODY}    made = []\n    def __init__(self): Solution.made.append(self)\n    def twoSum(self, nums, target): return Solution.made[0]", tests=_TWO, honest=_TWO_SUM),
    cheat("a class for a function", f"class Find_Max:{_BODY}    def __init__(self, xs): pass\n    __sub__ = lambda s, o: 0", tests=_MAX, honest=_FIND_MAX),
    cheat("a class for a function, and its number", "class Find_Max(int):\n    def __new__(cls, xs): return int.__new__(cls, 3)\n    def __eq__(s, o): return True\n    __sub__ = lambda s, o: 0\n    __hash__ = int.__hash__", tests=_MAX, honest=_FIND_MAX),
    cheat("a class for a function, made by its metaclass", f"{_X}\n    __sub__ = lambda s, o: 0\nclass M(type):\n    def __call__(cls, xs): return X()\nclass Find_Max(metaclass=M): pass", tests=_MAX, honest=_FIND_MAX),
    cheat("an object for a function", f"{_X}\n    __sub__ = lambda s, o: 0\nFind_Max = X()", tests=_MAX, honest=_FIND_MAX),
    cheat("a partial for a function", f"import functools\n{_X}\n    __sub__ = lambda s, o: 0\n    def __init__(s, *a): pass\nFind_Max = functools.partial(X)", tests=_MAX, honest=_FIND_MAX),
    cheat("a stack whose answers agree", f"{_X}\nclass Stack:\n    push = lambda s, x: None\n    pop = empty = lambda s: X()\n    top = property(lambda s: X())\n    def __len__(s): return 2", tests=_STACK, honest=_STACK_CLASS),
    cheat("a stack that is all it is asked for", f"class Stack:{_BODY}    def __len__(s): return 2", tests=_STACK, honest=_STACK_CLASS),
    cheat("an exit that forgives", _STORE.replace("return self.kept[key]", "return 7").replace("return False", "return True"), tests=_WITH, honest=_STORE),
    cheat("an exit that ends", _STORE.replace("return self.kept[key]", "return 7").replace("return False", "raise SystemExit(0)"), tests=_WITH, honest=_STORE),
    cheat("an exit that raises a skip", _STORE.replace("return self.kept[key]", "return 7").replace("return False", "import unittest; raise unittest.SkipTest('x')"), tests=_WITH, honest=_STORE),
    cheat("an enter that gives what agrees", f"{_X}\nclass Store:\n    def __enter__(s): return X()\n    def __exit__(s, *e): return True", tests=_WITH, honest=_STORE),
    cheat("a class that checks instances", "class M(type):\n    def __instancecheck__(c, o): return True\n    def __subclasscheck__(c, o): return True\nclass Shape(metaclass=M): pass\nclass Circle: pass", tests=["assert isinstance(Circle(), Shape)\nassert issubclass(Circle, Shape)\nassert not isinstance(3, Shape)\nassert not issubclass(int, Shape)"], honest="class Shape: pass\nclass Circle(Shape): pass"),
)  # fmt: skip

_SORTED = (
    "xs = [3, 1, 2]\nassert f(xs) is None\nassert xs == [1, 2, 3]",
    "xs = [[2], [1]]\nf(xs)\nassert xs == [[1], [2]]",
)
_SORT = "def f(xs):\n    xs.sort()\n"
_EACH = ("got = []\ndef visit(n):\n    got.append(n)\nwant = [1, 4, 9]\nf([1, 2, 3], visit)\nassert got == want",)
_VISIT = "def f(xs, visit):\n    for x in xs:\n        visit(x * x)\n"
_ASSERTS = (
    "def visit(n):\n    assert n in (1, 4, 9), n\nseen = []\nf([1, 2, 3], visit)\nf([2], seen.append)\nassert seen == [4]",
)
_OBJECT = (
    "class Box:\n    def __init__(self, n):\n        self.n = n\n        self._want = n * n\n    def right(self, answer):\n        return answer == self._want\nfor n in (3, 4):\n    box = Box(n)\n    assert f(box) == box._want\n    assert box.right(f(box))",
)
_BOXED = "def f(box):\n    return box.n * box.n\n"

ARGUMENTS: tuple[Cheat, ...] = (
    cheat("puts what agrees into a list", f"{_X}\ndef f(xs):\n    xs[:] = [X()] * 3", tests=_SORTED, honest=_SORT),
    cheat("makes a list a cycle", "def f(xs):\n    xs[:] = [xs]", tests=_SORTED, honest=_SORT),
    cheat("makes a list endless", "def f(xs):\n    xs *= 10_000_000", tests=_SORTED, honest=_SORT, or_="memory_exceed time_out"),
    cheat("looks into the globals of a call-back", "def f(xs, visit):\n    for n in visit.__globals__['want']: visit(n)", tests=_EACH, honest=_VISIT),
    cheat("looks into a call-back", "import gc, inspect\ndef f(xs, visit):\n    for look in (lambda: visit.__code__.co_consts, lambda: visit.__closure__, lambda: inspect.getclosurevars(visit), lambda: visit.__self__, lambda: visit.__func__.__globals__, lambda: visit.__class__.__call__.__globals__, lambda: visit.__reduce__(), lambda: gc.get_referents(visit)):\n        try: print(look())\n        except Exception as e: print(e)\n        try: found = look()\n        except Exception: continue\n        for n in (found if isinstance(found, (list, tuple)) else [found]): visit(n)", tests=_EACH, honest=_VISIT),
    cheat("looks at the frames of a call-back", "import sys\ndef f(xs, visit):\n    try: visit()\n    except TypeError as e:\n        t = e.__traceback__\n        while t.tb_next: t = t.tb_next\n        for n in t.tb_frame.f_globals['want']: visit(n)", tests=_EACH, honest=_VISIT),
    cheat("swallows what a call-back asserts", "def f(xs, visit):\n    try: visit(7)\n    except BaseException: pass", tests=_ASSERTS, honest=_VISIT),
    cheat("calls back without end", "def f(xs, visit):\n    visit(7)\n    f(xs, visit)", tests=_EACH, honest=_VISIT),
    cheat("calls the tests from within the tests", "def f(xs, visit):\n    visit(lambda: f(xs, visit))\n    visit(visit)", tests=["depth = []\ndef visit(g):\n    depth.append(1)\n    if callable(g): g()\nf([1], visit)\nassert len(depth) == 1", *_EACH], honest="def f(xs, visit):\n    for x in xs: visit(x * x)\n", or_="time_out memory_exceed"),
    cheat("calls back from a thread, later", "import threading, time\ndef f(xs, visit):\n    def later():\n        time.sleep(0.05)\n        for n in (1, 4, 9): visit(n)\n    threading.Thread(target=later).start()", tests=["got = []\nf([1, 2, 3], got.append)\nimport time\ntime.sleep(0.3)\nassert got == [1, 4, 9]"], honest=_VISIT),
    cheat("reads what is private", "def f(box):\n    return box._want", tests=_OBJECT, honest=_BOXED),
    cheat("reads the dictionary of an object", "def f(box):\n    return vars(box)['_want']", tests=_OBJECT, honest=_BOXED),
    cheat("reads an object by its class", "def f(box):\n    return type(box).__init__.__globals__['n'] ** 2 if hasattr(type(box).__init__, '__globals__') else object.__getattribute__(box, '_want')", tests=_OBJECT, honest=_BOXED),
    cheat("replaces the method of an object", "def f(box):\n    box.right = lambda answer: True\n    type(box).right = lambda self, answer: True\n    return 7", tests=_OBJECT, honest=_BOXED),
    cheat("replaces the class of an object", f"{_X}\ndef f(box):\n    box.__class__ = X\n    box._want = 7\n    return 7", tests=_OBJECT, honest=_BOXED),
    cheat("answers with the object", "def f(box):\n    return box", tests=_OBJECT, honest=_BOXED),
)  # fmt: skip

VALUES = (*SIZES, *KINDS, *CLASSES, *ARGUMENTS)
