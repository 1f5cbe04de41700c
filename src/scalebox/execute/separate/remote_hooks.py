"""What the tests do to the library on their side, done to the solution's library as well.

`random.seed(0)`, `mock.patch("time.sleep")` and `monkeypatch.setattr(os, "getcwd", ...)` are meant for the program
under test. What they go through is wrapped as soon as its module is there, so that ordinary calls pay nothing.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, Callable

from scalebox.execute.separate.remote_exports import is_library
from scalebox.execute.separate.remote_objects import RemoteType

#: These have ways of their own (flags of every call).
_APART = frozenset(
    [
        ("builtins", "input"),
        ("builtins", "print"),
        ("sys", "stdout"),
        ("sys", "stderr"),
        ("sys", "stdin"),
        ("sys", "modules"),
    ]
)


def when_loaded(name: str, action: Callable[[Any], None]) -> None:
    """Call action(module) as soon as a module is loaded: now, if it is already."""
    if name in sys.modules:
        action(sys.modules[name])
    else:
        if not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Watcher())
        next(finder for finder in sys.meta_path if isinstance(finder, _Watcher)).actions.setdefault(name, []).append(
            action
        )


class _Watcher:
    """A finder that finds nothing by itself, but sees what is imported."""

    def __init__(self) -> None:
        self.actions: dict[str, list[Callable[[Any], None]]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        actions = self.actions.pop(name, None)
        spec = PathFinder.find_spec(name, path) if actions is not None else None
        if spec is not None and spec.loader is not None and actions is not None:
            spec.loader = _Loader(spec.loader, actions)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, loader: Any, actions: list[Callable[[Any], None]]) -> None:
        self._loader = loader
        self._actions = actions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for action in self._actions:
            action(module)


class Hooks:
    """Passes on to one solution what the tests do to their library."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer
        self._wrapped: list[tuple[Any, str, Any, Any]] = []

    def _wrap(self, owner: Any, name: str, wrapper: Any) -> None:
        self._wrapped.append((owner, name, getattr(owner, name), wrapper))
        setattr(owner, name, wrapper)

    def remove(self) -> None:
        """Put back what has been wrapped."""
        for owner, name, original, wrapper in reversed(self._wrapped):
            if getattr(owner, name) is wrapper:
                setattr(owner, name, original)
        self._wrapped.clear()

    def install(self) -> None:
        when_loaded("random", self._watch_seed)
        when_loaded("numpy.random", self._watch_seed)
        when_loaded("unittest.mock", self._watch_mock)
        when_loaded("_pytest.monkeypatch", self._watch_monkeypatch)

    def _watch_seed(self, module: Any) -> None:
        original = module.seed
        name = module.__name__

        def seed(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if self._peer.failure is None:
                self._peer.verb_call("seed", (name, *args), kwargs)
            return result

        self._wrap(module, "seed", seed)

    def _patched(self, target: Any, name: Any, value: Any) -> None:
        if self._concerns(target, name):
            self._peer.verb("patch", target.__name__, name, value)

    def _restored(self, target: Any, name: Any) -> None:
        if self._concerns(target, name):
            self._peer.verb("restore", target.__name__, name)

    def _concerns(self, target: Any, name: Any) -> bool:
        return (
            type(target) is ModuleType
            and type(name) is str
            and (target.__name__, name) not in _APART
            and (target.__name__ == "sys" or is_library(target.__name__))
            and self._peer.failure is None
        )

    def _watch_mock(self, module: Any) -> None:
        kind = module._patch
        enter, leave = kind.__enter__, kind.__exit__

        def __enter__(patch: Any) -> Any:
            result = enter(patch)
            self._patched(patch.target, patch.attribute, getattr(patch.target, patch.attribute, None))
            return result

        def __exit__(patch: Any, *error: Any) -> Any:
            target, name = getattr(patch, "target", None), patch.attribute
            try:
                return leave(patch, *error)
            finally:
                self._restored(target, name)

        self._wrap(kind, "__enter__", __enter__)
        self._wrap(kind, "__exit__", __exit__)

    def _class_attribute(self, target: Any = None, name: Any = None, *_: Any) -> tuple[Any, ...]:
        """Return (value,) of what a class of the solution has itself under a name; no stand-in has it in its own."""
        if (
            not isinstance(target, RemoteType)
            or type(name) is not str
            or name in type.__dict__["__dict__"].__get__(target)
        ):
            return ()
        found = self._peer.bridge.variables(target)
        return (found[name],) if name in found else ()

    def _watch_monkeypatch(self, module: Any) -> None:
        kind = module.MonkeyPatch
        set_attribute, undo = kind.setattr, kind.undo

        def set_and_pass_on(patch: Any, *args: Any, **kwargs: Any) -> None:
            before = self._class_attribute(*args[:2])
            set_attribute(patch, *args, **kwargs)
            if before:
                patch._setattr[-1] = (*patch._setattr[-1][:2], *before)
            target, name = patch._setattr[-1][:2] if patch._setattr else (None, None)
            self._patched(target, name, getattr(target, name, None) if type(name) is str else None)

        def undo_all(patch: Any) -> None:
            changed = [(target, name) for target, name, _ in patch._setattr]
            undo(patch)
            for target, name in changed:
                self._restored(target, name)

        self._wrap(kind, "setattr", set_and_pass_on)
        self._wrap(kind, "undo", undo_all)
