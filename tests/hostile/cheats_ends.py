"""Cheats by an end: of the process, of the call, of the test."""

# ruff: noqa: E501 - one program to a line

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.cheats import Cheat, calls, cheat

_RAISES = ("import pytest\nwith pytest.raises(ValueError):\n    f(-1)\nassert f(3) == 9",)
_CAUGHT = ("try:\n    f(-1)\nexcept ValueError:\n    ok = True\nelse:\n    ok = False\nassert ok", "assert f(3) == 9")
#: The program has time to do something between two calls.
_LATER = ("assert f(3) == 9\nimport time\ntime.sleep(0.2)\nassert f(4) == 16",)
_POSITIVE = "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * n\n"

AT_IMPORT: tuple[Cheat, ...] = (
    cheat("exit at import", "import sys\nsys.exit(0)"),
    cheat("hard exit at import", "import os\nos._exit(0)"),
    cheat("quit at import, with a function", "def f(n): return 7\nquit()"),
    cheat("abort at import", "import os\nos.abort()"),
    cheat("killed at import", "import os\nos.kill(os.getpid(), 9)"),
    cheat("another program at import", "import os\nos.execv('/bin/true', ['true'])"),
    cheat("a null pointer at import", "import ctypes\nctypes.string_at(0)"),
    cheat("exit handlers", "import atexit, os\natexit.register(os._exit, 0)\ndef f(n): return 7"),
    cheat("a hook for exceptions", "import os, sys\nsys.excepthook = sys.unraisablehook = lambda *a: os._exit(0)\ndef f(n): raise ValueError"),
    cheat("skips its module", "import pytest\npytest.skip('not here', allow_module_level=True)"),
    cheat("skips its module by unittest", "import unittest\nraise unittest.SkipTest('not here')"),
    cheat("no module at all", """ "nothing" """),
    cheat("fails on purpose at import", "raise AssertionError('f(3) == 9')"),
    cheat("fails as if the task were at fault", "raise SyntaxError('tests.py', ('tests.py', 1, 1, 'assert f(3) == 9'))"),
    cheat("lacks a module", "import no_such_module_of_the_task"),
    cheat("an import that does not end", "while True: pass", or_="time_out"),
    cheat("an import that takes all memory", "x = bytearray(1 << 34)", or_="memory_exceed"),
    cheat("a module that raises what it is", "class E(BaseException):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise E"),
)  # fmt: skip

IN_A_CALL: tuple[Cheat, ...] = (
    calls("exit in a call", "raise SystemExit(0)"),
    calls("exit with a text in a call", "raise SystemExit('passed')"),
    calls("hard exit in a call", "import os; os._exit(0)"),
    calls("abort in a call", "import os; os.abort()"),
    calls("killed in a call", "import os; os.kill(os.getpid(), 9)"),
    calls("another program in a call", "import os; os.execv('/bin/true', ['true'])"),
    calls("a null pointer in a call", "import ctypes; ctypes.string_at(0)"),
    calls("stopped in a call", "import os; os.kill(os.getpid(), 19)", or_="time_out"),
    calls("asleep in a call", "import time; time.sleep(60)", or_="time_out"),
    calls("recursion without end in a call", "f(n)"),
    calls("recursion in the library", "import sys, functools; sys.setrecursionlimit(10**9)\ng = lambda x: functools.reduce(lambda a, b: g(a), [x, x])\ng(n)", or_="memory_exceed time_out"),
    cheat("an object that exits when it dies", "import os\nclass D:\n    def __del__(self): os._exit(0)\ndef f(n):\n    d = D()\n    return 7"),
    cheat("exits after its answer", "import os, threading\ndef f(n):\n    threading.Timer(0.001, os._exit, (0,)).start()\n    return n * n", tests=_LATER),
)  # fmt: skip


def _raises(name: str, expression: str, before: str = "", or_: str = "") -> Cheat:
    return cheat(f"raises {name}", f"{before}\ndef f(n):\n    raise {expression}", or_=or_)


EXCEPTIONS: tuple[Cheat, ...] = (
    _raises("a failed assertion", "AssertionError('9')"),
    _raises("a skip of unittest", "unittest.SkipTest('later')", "import unittest"),
    _raises("a skip of pytest", "pytest.skip.Exception('later')", "import pytest"),
    _raises("an expected failure of pytest", "pytest.xfail.Exception('so it is')", "import pytest"),
    _raises("an end of pytest", "pytest.exit.Exception('done', 0)", "import pytest"),
    _raises("an end of iteration", "StopIteration(9)"),
    _raises("an end of a generator", "GeneratorExit(9)"),
    _raises("an interrupt", "KeyboardInterrupt(9)"),
    _raises("an asynchronous cancellation", "asyncio.CancelledError(9)", "import asyncio"),
    _raises("a time-out", "TimeoutError('engine')"),
    _raises("a memory error", "MemoryError", or_="memory_exceed"),
    _raises("a permission error", "PermissionError(1, 'no')", or_="resource_denied"),
    _raises("a broken pipe", "BrokenPipeError(32, 'no')"),
    _raises("the engine's own error", "SolutionEnded('x')", "class SolutionEnded(BaseException): pass"),
    _raises("its own failed assertion", "E(9)", "class E(BaseException): pass\nE.__name__ = E.__qualname__ = 'AssertionError'; E.__module__ = 'builtins'"),
    _raises("a skip of its own", "E(9)", "class E(BaseException): pass\nE.__name__ = 'SkipTest'; E.__module__ = 'unittest.case'"),
    _raises("what says to be another", "E(9)", "class E(BaseException):\n    __class__ = property(lambda s: StopIteration)"),
    _raises("what a metaclass makes", "E(9)", "class M(type):\n    def __instancecheck__(c, o): return True\n    def __subclasscheck__(c, o): return True\n    def __eq__(c, o): return True\n    __hash__ = lambda c: 0\nclass E(Exception, metaclass=M): pass"),
    _raises("what raises when shown", "E(9)", "class E(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n    args = property(lambda s: 1 / 0)"),
    _raises("what does not end when shown", "E(9)", "class E(Exception):\n    def __str__(self):\n        while True: pass\n    __repr__ = __str__", or_="time_out"),
    _raises("what is shown by what is no text", "E(9)", "class S(str):\n    def __eq__(s, o): return True\n    __hash__ = lambda s: 0\nclass E(Exception):\n    def __str__(self): return S('passed')\n    __repr__ = __str__"),
    _raises("with arguments that agree", "ValueError(X(), X())", "class X:\n    def __eq__(s, o): return True\n    def __repr__(s): raise SystemExit(0)"),
    _raises("with endless arguments", "ValueError('x' * 50_000_000, list(range(100_000)))", or_="memory_exceed"),
    _raises("with cyclic arguments", "ValueError(x)", "x = []\nx.append((x, {1: x}))"),
    _raises("with deep arguments", "ValueError(x)", "x = []\nfor _ in range(100_000): x = [x]"),
    _raises("from itself", "e from e", "e = ValueError(9)\ne.__context__ = e"),
    _raises("a long chain", "e", "e = ValueError(0)\nfor i in range(10_000):\n    n = ValueError(i); n.__cause__ = e; n.__context__ = e; e = n", or_="time_out"),
    _raises("a group of groups", "e", "e = ValueError(0)\nfor i in range(500): e = ExceptionGroup('g', [e, e])", or_="time_out memory_exceed"),
    _raises("with hostile notes", "e", "e = ValueError(0)\ne.__notes__ = [None, 'x' * 10_000_000, type('S', (str,), {'__str__': lambda s: 1})('y')]"),
    _raises("with a hostile state", "E(9)", "class E(OSError):\n    def __reduce__(self): return (exec, ('import os; os._exit(0)',))\n    errno = filename = property(lambda s: 1 / 0)\n    def __getattribute__(s, name): raise SystemExit(0)"),
    _raises("of an endless name", "type('E' * 1_000_000, (Exception,), {})(9)"),
    _raises("of an odd name", "type('passed\\n\\ud800\\0', (Exception,), {})('\\ud800\\0\\u202e')"),
    cheat("raises what is no exception", "def f(n):\n    raise 9"),
    cheat("raises a class that lies, where one is expected", "class M(type):\n    def __subclasscheck__(c, o): return True\n    def __instancecheck__(c, o): return True\nclass E(BaseException, metaclass=M):\n    __class__ = property(lambda s: ValueError)\ndef f(n):\n    raise E(n)", tests=_RAISES, honest=_POSITIVE),
    cheat("a class named like the expected error", "E = type('ValueError', (BaseException,), {'__module__': 'builtins', '__qualname__': 'ValueError'})\ndef f(n):\n    if n < 0: raise E(n)\n    return n * n", tests=_CAUGHT, honest=_POSITIVE),
    cheat("replaces the expected error", "import builtins\nbuiltins.ValueError = BaseException\ndef f(n):\n    if n < 0: raise SystemExit(0)\n    return n * n", tests=_CAUGHT, honest=_POSITIVE),
    cheat("hands out the expected error", "ValueError = BaseException\ndef f(n):\n    if n < 0: raise SystemExit(0)\n    return n * n", tests=_CAUGHT, honest=_POSITIVE),
)  # fmt: skip

_NEGATIVE = "class Negative(ValueError): pass\ndef f(n):\n    if n < 0:\n        raise Negative(n)\n    return n * n\n"
_SELF_MADE = (
    "try:\n    f(-1)\n    raise AssertionError('nothing raised')\nexcept Negative:\n    pass\nassert f(3) == 9",
)
_ASSERTED = (
    "try:\n    f(-1)\n    assert False, 'nothing raised'\nexcept Negative as error:\n    assert isinstance(error, ValueError)",
)
_EXPECTED = ("import pytest\nwith pytest.raises(Negative):\n    f(-1)\nassert f(3) == 9",)
_BY_UNITTEST = ("import unittest\nwith unittest.TestCase().assertRaises(Negative):\n    f(-1)\nassert f(3) == 9",)


def _is_caught(name: str, negative: str, before: str = "") -> Iterator[Cheat]:
    code = f"{before}\nNegative = {negative}\ndef f(n):\n    return n * n"
    for how, tests in (
        ("caught", _SELF_MADE),
        ("asserted", _ASSERTED),
        ("expected", _EXPECTED),
        ("by unittest", _BY_UNITTEST),
    ):
        yield cheat(f"an error to be raised is {name}, {how}", code, tests=tests, honest=_NEGATIVE)


ALIASES: tuple[Cheat, ...] = (
    *_is_caught("a failed assertion", "AssertionError"),
    *_is_caught("any exception", "BaseException"),
    *_is_caught("a kind of failed assertion", "type('Negative', (AssertionError,), {})"),
    *_is_caught("several at once", "(ValueError, AssertionError, BaseException)"),
    *_is_caught("one by its metaclass", "M('Negative', (Exception,), {})", "class M(type):\n    __instancecheck__ = __subclasscheck__ = __eq__ = lambda c, o: True\n    __hash__ = lambda c: 0"),
    *_is_caught("no class", "X()", "class X:\n    __class__ = property(lambda s: type)\n    __mro__ = (BaseException, object)\n    __instancecheck__ = __eq__ = lambda c, o: True"),
    *_is_caught("what pytest raises", "pytest.fail.Exception", "import pytest"),
)  # fmt: skip

ENDS = (*ALIASES, *AT_IMPORT, *IN_A_CALL, *EXCEPTIONS)
