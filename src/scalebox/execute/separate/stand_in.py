"""Makes the test runners that a text may start itself do nothing, and stands in for pytest where that is not installed.

`unittest.main()` and its kin end the process, or report to nobody: the harness runs the tests instead, afterwards.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import sys
from typing import Any, Callable, NoReturn


def install(imports: list[str]) -> None:
    """Prepare the modules that a text imports."""
    if "pytest" in imports and "pytest" not in sys.modules and importlib.util.find_spec("pytest") is None:
        sys.modules["pytest"] = _pytest()
    for name, quieten in (("unittest", _quieten_unittest), ("doctest", _quieten_doctest), ("pytest", _quieten_pytest)):
        if name in imports:
            quieten(importlib.import_module(name))


class _Program:
    """What `unittest.main(exit=False)` returns."""

    def __init__(self, result: Any) -> None:
        self.result = result


def _quieten_unittest(module: Any) -> None:
    module.main = lambda *args, **kwargs: _Program(module.TestResult())
    module.TextTestRunner.run = lambda self, test: module.TestResult()


def _quieten_doctest(module: Any) -> None:
    def nothing(*args: Any, **kwargs: Any) -> Any:
        return module.TestResults(failed=0, attempted=0)

    module.testmod = module.testfile = nothing


def _quieten_pytest(module: Any) -> None:
    module.main = lambda *args, **kwargs: 0


# The stand-in: `raises`, `approx`, `fail`, `skip`, `param`, `mark`, in their common forms.


class Failed(BaseException):
    """A test failed."""


class Skipped(BaseException):
    """A test is to be skipped."""


class Mark:
    def __init__(self, name: str, args: tuple[Any, ...] = (), kwargs: Any = None) -> None:
        self.name = name
        self.args = args
        self.kwargs = kwargs or {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]) and self.name != "parametrize":
            return self._put_on(args[0])
        return Mark(self.name, args, kwargs)._put_on

    def _put_on(self, function: Any) -> Any:
        function.pytestmark = [*getattr(function, "pytestmark", []), self]
        return function


class _Marks:
    def __getattr__(self, name: str) -> Mark:
        return Mark(name)


class ParameterSet:
    def __init__(self, *values: Any, **options: Any) -> None:
        self.values = values


class ExceptionInfo:
    """What `with raises(...) as info` gives."""

    def __init__(self) -> None:
        self.value: Any = None

    @property
    def type(self) -> Any:
        return type(self.value)

    def match(self, pattern: str) -> bool:
        if re.search(pattern, str(self.value)) is None:
            raise AssertionError("%r does not match %r" % (pattern, str(self.value)))
        return True


class _Raises:
    def __init__(self, expected: Any, match: str | None = None) -> None:
        self._expected, self._match = expected, match
        self._info = ExceptionInfo()

    def __enter__(self) -> ExceptionInfo:
        return self._info

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is None:
            fail("DID NOT RAISE %r" % (self._expected,))
        if not isinstance(error, self._expected):
            return False
        self._info.value = error
        if self._match is not None:
            self._info.match(self._match)
        return True


def raises(expected: Any, *args: Any, **kwargs: Any) -> Any:
    if not args:
        return _Raises(expected, **kwargs)
    context = _Raises(expected)
    with context:
        args[0](*args[1:], **kwargs)
    return context._info


def fail(reason: str = "", pytrace: bool = True, msg: str | None = None) -> NoReturn:
    raise Failed(msg or reason)


def skip(reason: str = "", allow_module_level: bool = False, msg: str | None = None) -> NoReturn:
    raise Skipped(msg or reason)


def importorskip(name: str, *args: Any, **kwargs: Any) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return skip("could not import %r" % name)


class Approx:
    """Equal to numbers, or sequences and mappings of them, within a tolerance: pytest's defaults."""

    __array_ufunc__ = None

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> None:
        self._expected, self._rel, self._abs, self._nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual: object) -> bool:
        return self._equal(actual, self._expected)

    def __ne__(self, actual: object) -> bool:
        return not self == actual

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "approx(%r)" % (self._expected,)

    def _equal(self, actual: Any, expected: Any) -> bool:
        if hasattr(expected, "tolist"):
            expected = expected.tolist()
        if hasattr(actual, "tolist"):
            actual = actual.tolist()
        if isinstance(expected, dict):
            same = isinstance(actual, dict) and actual.keys() == expected.keys()
            return same and all(self._equal(actual[key], expected[key]) for key in expected)
        if isinstance(expected, (list, tuple)):
            same = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
            return same and all(map(self._equal, actual, expected))
        return self._close(actual, expected)

    def _close(self, actual: Any, expected: Any) -> bool:
        if actual == expected:
            return True
        if isinstance(expected, bool) or not isinstance(expected, (int, float, complex)):
            return False
        try:
            if math.isnan(abs(expected)):
                return self._nan_ok and math.isnan(abs(actual))
            if math.isinf(abs(expected)):
                return False
            return bool(abs(expected - actual) <= self._tolerance(expected))
        except TypeError:
            return False

    def _tolerance(self, expected: Any) -> float:
        absolute = 1e-12 if self._abs is None else self._abs
        if self._rel is None and self._abs is not None:
            return absolute
        relative: float = (1e-6 if self._rel is None else self._rel) * abs(expected)
        return max(relative, absolute)


def _pytest() -> Any:
    module: Any = type(sys)("pytest")
    given: dict[str, Callable[..., Any]] = {
        "raises": raises, "approx": Approx, "fail": fail, "skip": skip, "importorskip": importorskip,
        "param": ParameterSet,
    }  # fmt: skip
    module.__dict__.update(given, mark=_Marks())
    return module
