"""The solution, as the tests' side has it: names that are copies or proxies of what the other process holds.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any, Callable, Iterable, Iterator

from scalebox.execute.separate import names, wire_read
from scalebox.execute.separate.peer import FAILED, HEAD, HELLO
from scalebox.execute.separate.remote_functions import dress
from scalebox.execute.separate.remote_hooks import Hooks
from scalebox.execute.separate.remote_peer import SolutionEnded, TestsPeer
from scalebox.execute.separate.wire_read import Decoder

__all__ = ["Solution", "SolutionEnded", "SolutionFailed", "install_modules"]

_MAX_NAMES = 10_000
_USUAL_NAMES = {
    "np": "numpy",
    "pd": "pandas",
    "sp": "scipy",
    "plt": "matplotlib.pyplot",
    "nx": "networkx",
    "dt": "datetime",
    "ET": "xml.etree.ElementTree",
}


class SolutionFailed(Exception):
    """The solution's module raised, exited or ended the process. `kind` is "raised", "exited" or "ended"."""

    def __init__(self, kind: str, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.trace = trace


class Solution:
    """The solution in the process at the other end of `fd`.

    `own_modules` names the modules of the test code: objects of their classes may be used by the solution
    (`remote_exports`). `value_classes` names the classes of the solution whose instances the tests compare and compute
    with: only for these is the solution asked how they compare with plain data.
    """

    def __init__(self, fd: int, own_modules: Iterable[str] = ("__main__",), value_classes: Iterable[str] = ()) -> None:
        self.names: frozenset[str] = frozenset()
        self.used = False
        self._fd = fd
        self._peer = TestsPeer(fd, set(own_modules))
        self._value_classes = frozenset(value_classes)
        self._hooks = Hooks(self._peer)
        self._dressed: dict[int, Any] = {}  # functions that bear their full description, by handle

    @property
    def requests(self) -> int:
        """How often the solution has been asked for anything."""
        return self._peer.requests

    @property
    def lost(self) -> str | None:
        """Why every further use fails, once the connection is lost."""
        return self._peer.failure

    def in_use(self, known: Iterable[Any]) -> bool:
        """Return whether the solution waits for the tests, or they hold objects of it beside classes and `known`."""
        spared = set(map(id, known))
        return self._peer.nesting > 0 or any(
            not isinstance(held, type) and id(held) not in spared for held in self._peer.proxies.living()
        )

    def start(self) -> None:
        """Wait until the module has run. Raises SolutionFailed where it has not come to its end."""
        peer = self._peer
        try:
            data = peer.receive()
        except SolutionEnded:
            raise SolutionFailed("ended", "the program ended while its module ran") from None
        decoder = Decoder(peer, data, HEAD.size)
        try:
            value = decoder.read()
            if (
                data[4] == FAILED
                and type(value) is tuple
                and len(value) == 3
                and all(type(part) is str for part in value)
            ):
                failed = value
            elif data[4] == HELLO and type(value) is tuple and all(type(name) is str for name in value):
                self.names = frozenset(value[:_MAX_NAMES])
                self._hooks.install()
                return
            else:
                raise wire_read.MalformedValue("a greeting that is none")
        except wire_read.ERRORS as error:
            raise peer.broken(str(error)[:200]) from None
        raise SolutionFailed(*failed)

    def get(self, name: str) -> Any:
        """Return what the solution has under a global name. Raises KeyError where it has nothing."""
        self.used = True
        found = self._ask(name)
        if type(found) is not tuple or not 2 <= len(found) <= 3:
            raise self._peer.broken("an answer of a wrong shape")
        if found[0] == "module":
            return self._module(name, found[1])
        if found[0] == "local":
            return self._local(name, found)
        value = self._peer.aliases.of(found[1])
        handle = self._peer.proxies.handle(value) if type(value) is FunctionType else None
        if handle is not None and handle not in self._dressed:
            self._dressed[handle] = value
            try:
                dress(value, self._peer.verb("describe_function", value))
            except wire_read.ERRORS:
                raise self._peer.broken("a description of a wrong shape") from None
        return value

    def _ask(self, name: str) -> Any:
        found: Any = None

        def ask() -> Any:
            nonlocal found
            found = self._peer.verb("get_name", name)
            return found[1] if type(found) is tuple and len(found) == 2 else None

        if name in self._value_classes:
            self._peer.bridge.values_of(ask)
        else:
            ask()
        return found

    def set(self, name: str, value: Any) -> None:
        """Rebind a global name of the solution."""
        self.used = True
        self._peer.verb("set_name", name, value)

    def delete(self, name: str) -> None:
        """Unbind a global name of the solution."""
        self.used = True
        self._peer.verb("delete_name", name)

    def _module(self, name: str, module: Any) -> Any:
        """Import a module that the solution has imported. A name by which a module is known gives no other one."""
        if type(module) is str and all(part.isidentifier() for part in module.split(".")):
            own = module.rpartition(".")[2]
            meant = _USUAL_NAMES.get(name, module)
            if (module == meant and (name == own or not _is_installed(name))) and _is_installed(
                module.partition(".")[0]
            ):
                found = names.import_module(module)
                if found is not None:
                    return found
        raise KeyError(name)

    def _local(self, name: str, found: Any) -> Any:
        _, module, own = (*found, None)[:3]
        if module not in names.LOCAL_MODULES or own != name:
            raise self._peer.broken("an answer of a wrong shape")
        names.import_module(module)
        value = names.look_up(module, own)
        if value is None:
            raise KeyError(name)
        return value

    def guard(self, check: Callable[[], None]) -> None:
        """Have `check` called before anything is asked of the solution; what it raises is raised there."""
        self._peer.guard = check

    def close(self) -> None:
        """Hang up."""
        self._hooks.remove()
        self._peer.broken("the connection has been closed")
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _is_installed(name: str) -> bool:
    """Return whether a top-level module is the interpreter's own or installed, not a file of the working directory."""
    if name in sys.builtin_module_names or name in getattr(sys, "stdlib_module_names", ()):
        return True
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    if spec is None or spec.origin is None:
        return False
    # Packages of a virtual environment are in the path alone.
    places = {place.rstrip("/") + "/" for place in (sys.prefix, sys.base_prefix, *sys.path) if place}
    return spec.origin.startswith(tuple(places - {os.getcwd().rstrip("/") + "/"}))


class _Variables(Mapping):  # type: ignore[type-arg]
    """What `vars` of the solution's module gives: pytest's monkeypatch looks there for what it is to put back."""

    def __init__(self, solution: Any) -> None:
        self._solution = solution

    def __getitem__(self, name: str) -> Any:
        return self._solution.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._solution.names))

    def __len__(self) -> int:
        return len(self._solution.names)


_own: Callable[[Any], dict[str, Any]] = vars(ModuleType)["__dict__"].__get__


class SolutionModule(ModuleType):
    """The solution's module, as `import solution` gives it."""

    def __init__(self, name: str, solution: Any) -> None:
        super().__init__(name)
        _own(self)["_scalebox"] = solution

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return _Variables(_own(self)["_scalebox"])

    def __getattr__(self, name: str) -> Any:
        solution = _own(self)["_scalebox"]
        if name == "__all__":
            return sorted(known for known in solution.names if not known.startswith("_"))
        if not (name.startswith("__") and name.endswith("__")):
            try:
                return solution.get(name)
            except KeyError:
                pass
        raise AttributeError("module %r has no attribute %r" % (self.__name__, name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") and name.endswith("__"):
            super().__setattr__(name, value)
        else:
            _own(self)["_scalebox"].set(name, value)

    def __delattr__(self, name: str) -> None:
        try:
            _own(self)["_scalebox"].delete(name)
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return sorted(_own(self)["_scalebox"].names)


def install_modules(solution: Any, names: Iterable[str]) -> dict[str, ModuleType]:
    """Make `import NAME` give the solution for every one of `names` (dotted ones included); return the modules."""
    made: dict[str, ModuleType] = {}
    for name in names:
        module: Any = SolutionModule(name, solution)
        made[name] = module
        module.__path__ = []
        sys.modules[name] = module
    for name, module in made.items():
        _put_into_parents(name, module)
    return made


def _put_into_parents(name: str, module: Any) -> None:
    """Make a dotted name reachable: in packages of its parents' names, made where there are none."""
    parent, _, leaf = name.rpartition(".")
    if not parent:
        return
    known = sys.modules.get(parent)
    package: Any = known or ModuleType(parent)
    _own(package)[leaf] = module
    if known is None:
        package.__path__ = []
        sys.modules[parent] = package
        _put_into_parents(parent, package)
