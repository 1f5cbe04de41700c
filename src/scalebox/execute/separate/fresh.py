"""The solution once more, for a test of one function: its calls go to copies that nobody has called yet.

A solution that has passed such a test in one process may have done so by counting its calls. Here each of the first
calls, as many as there are copies, begins with a copy of its own; the rest go to the last.

Runs inside the jail, on the tests' side: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import time
from types import FunctionType
from typing import Any, Callable, Iterable

from scalebox.execute.separate.remote import Solution, SolutionEnded, SolutionFailed
from scalebox.execute.separate.remote_objects import RemoteObject, RemoteType

#: All copies may take so many seconds to start: a module that takes long is not run often.
_SECONDS = 0.5


def connect(fds: list[int], own_modules: Iterable[str], value_classes: Iterable[str]) -> Any:
    """Return the solution at the other end of a line, or in copies where there are several."""
    if len(fds) == 1:
        return Solution(fds[0], own_modules, value_classes)
    return FreshSolution(fds, own_modules, value_classes)


class _StandInType(type):
    """The kind of what stands for a class: calls go to the copy that is there, questions to the class that it has."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return vars(cls)["_scalebox_call"](*args, **kwargs)

    def _scalebox_now(cls) -> Any:
        return vars(cls)["_scalebox_class"]()

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls._scalebox_now())

    def __subclasscheck__(cls, kind: Any) -> bool:
        return kind is cls or issubclass(kind, cls._scalebox_now())

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._scalebox_now()

    def __hash__(cls) -> int:
        return hash(cls._scalebox_now())

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._scalebox_now(), name)

    def __iter__(cls) -> Any:
        return iter(cls._scalebox_now())

    def __len__(cls) -> int:
        return len(cls._scalebox_now())

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return cls._scalebox_now()[key]

    def __contains__(cls, item: Any) -> bool:
        return item in cls._scalebox_now()

    def __dir__(cls) -> Any:
        return dir(cls._scalebox_now())


class FreshSolution:
    """Has what remote.Solution has.

    `fds` are lines to copies, each of which starts when the one before it has ended.
    """

    def __init__(self, fds: Iterable[int], own_modules: Iterable[str], value_classes: Iterable[str]) -> None:
        self._lines = list(fds)
        self._how = tuple(own_modules), frozenset(value_classes)
        self._now = Solution(self._lines.pop(0), *self._how)
        self._before = 0  # requests to copies that have ended
        self._callables: dict[str, tuple[Any, Any]] = {}  # what this copy has by a name, and what the test has for it
        self._called = False
        self._settled = False  # the test holds what only this copy has
        self._spent = 0.0
        self._check: Callable[[], None] | None = None

    @property
    def names(self) -> frozenset[str]:
        return self._now.names

    @property
    def requests(self) -> int:
        return self._before + self._now.requests

    @property
    def lost(self) -> str | None:
        return self._now.lost

    def start(self) -> None:
        """Wait until the module has run. Raises SolutionFailed where it has not come to its end."""
        begun = time.monotonic()
        self._now.start()
        self._last = time.monotonic() - begun
        self._spent += self._last

    def get(self, name: str) -> Any:
        value = self._now.get(name)
        if not isinstance(value, (FunctionType, RemoteObject, RemoteType)) or not callable(value):
            return value
        known = self._callables.get(name)
        if known is None or known[0] is not value:
            known = self._callables[name] = value, (known[1] if known else self._stand_in(name, value))
        return known[1]

    def through(self, resolve: Callable[[], Any]) -> Callable[..., Any]:
        """Return a function that calls what `resolve` finds in the copy that is there."""

        def remote(*args: Any, **kwargs: Any) -> Any:
            self._renew()
            return resolve()(*args, **kwargs)

        return remote

    def set(self, name: str, value: Any) -> None:
        self._settled = True
        self._now.set(name, value)

    def delete(self, name: str) -> None:
        self._settled = True
        self._now.delete(name)

    def guard(self, check: Callable[[], None]) -> None:
        self._check = check
        self._now.guard(check)

    def close(self) -> None:
        """Hang up: on those that have not started first, so that none will."""
        for fd in self._lines:
            os.close(fd)
        self._lines.clear()
        self._now.close()

    def _stand_in(self, name: str, value: Any) -> Any:
        """Return what looks like `value`, a function or class, and calls what the copy that is there has by it."""
        is_class = isinstance(value, type)

        def now() -> Any:
            if name not in self._callables:
                self.get(name)
            return self._callables[name][0]

        def remote(*args: Any, **kwargs: Any) -> Any:
            if args or kwargs or is_class:
                self._renew()
            return now()(*args, **kwargs)

        if is_class:
            members = {"_scalebox_call": staticmethod(remote), "_scalebox_class": staticmethod(now)}
            shown = {key: getattr(value, key) for key in ("__module__", "__qualname__", "__doc__")}
            return _StandInType(value.__name__, (), {**members, **shown})
        if type(value) is FunctionType:
            for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
                setattr(remote, attribute, getattr(value, attribute))
            vars(remote).update(vars(value))
        return remote

    def _in_use(self) -> bool:
        return self._now.in_use([value for value, _ in self._callables.values()])

    def _renew(self) -> None:
        """Begin with another copy, unless this one has not been called, or something of it is still in use."""
        if self._check is not None:
            self._check()
        called, self._called = self._called, True
        if not called or not self._lines or self._settled or self._in_use() or self._now.lost is not None:
            return
        if self._spent + self._last > _SECONDS:
            self._lines.clear()
            return
        self._before += self._now.requests
        self._now.close()
        self._now = Solution(self._lines.pop(0), *self._how)
        stand_ins = {name: stand_in for name, (_, stand_in) in self._callables.items()}
        self._callables = {}
        try:
            self.start()
            for name, stand_in in stand_ins.items():
                self._callables[name] = self._now.get(name), stand_in
        except (SolutionFailed, KeyError) as error:
            self._now.close()
            raise SolutionEnded("another copy of the program did not start: %s" % error) from None
        if self._check is not None:
            self._now.guard(self._check)
