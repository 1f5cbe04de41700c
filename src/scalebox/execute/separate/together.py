"""Tests in one process with the solution, for those that cannot be told apart from it (`integrity: shared`).

What runs in one process with the solution can be altered by it, so a program that attacks ScaleBox itself may forge
what it likes. The common ways to a false pass come to nothing all the same. Results are kept back in memory until the
last statement of the tests has run, and before that there is nothing to write them to. Only then the process asks its
parent, which runs no code of a sample, for the descriptor, by a number that the parent sent into a socket after the two
had parted: it is nowhere in the process's memory until it has been read. A program that exits early, whatever its
status and whatever it has printed, that ends by a signal, or that writes to descriptors which it finds, has no result,
and no result is no pass.

`keep_gate` is the parent's part, `run` and `run_script` are the process's. Sent into the jail and run there by the
sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import _socket
import array
import os
import re
import sys
import time
from types import CodeType, FunctionType, ModuleType
from typing import Any, Iterable

from scalebox.execute.separate.frames import Frames
from scalebox.execute.separate.harness import Side, run_item
from scalebox.execute.separate.pytests import run_suite
from scalebox.execute.separate.remote import SolutionFailed

_NONCE_BYTES = 16
#: Modules whose functions and classes judge: the program may not have altered them when the tests are over.
_GUARDED = ("builtins", "sys", "unittest.case", "unittest.result", "unittest.suite")
#: Names that the harness itself replaces.
_REPLACED = ("main",)
_PYTEST = ("_pytest.outcomes", "_pytest.python", "_pytest.reports", "_pytest.runner")
_ASSIGNED = re.compile(r"""\.\s*(\w+)\s*=[^=]|(?:setattr|\.object)\(\s*[\w.]+\s*,\s*['"](\w+)['"]""")


def open_gate() -> tuple[int, int]:
    """Return (the parent's end, the program's end) of the way by which results leave. To be called before the fork."""
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    return ours.detach(), theirs.detach()


def keep_gate(ours: int, frames_fd: int) -> bool:
    """Wait until the program asks for `frames_fd` or has ended; return whether it was handed over. Closes `ours`.

    For the parent, after the fork and with the program's end closed. Whatever else comes is the only try there is.
    """
    gate = _socket.socket(fileno=ours)
    nonce = os.urandom(_NONCE_BYTES)
    try:
        gate.sendall(nonce)
        if _receive(gate, _NONCE_BYTES) != nonce:
            return False
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [frames_fd]))]
        return gate.sendmsg([b"\0"], rights) == 1
    except OSError:  # it has ended
        return False
    finally:
        gate.close()


def _receive(gate: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part: bytes = gate.recv(size - len(data))
        if not part:
            break
        data += part
    return data


def _hand_over(gate: Any, frames: _Held) -> None:
    """Ask for the descriptor, and write to it what was kept back."""
    gate.sendall(_receive(gate, _NONCE_BYTES))
    _, rights, _, _ = gate.recvmsg(1, _socket.CMSG_SPACE(4))
    fds = array.array("i")
    fds.frombytes(rights[0][2])
    data = b"".join(frames.parts)
    while data:
        data = data[os.write(fds[0], data) :]


def run(gate_fd: int, code: CodeType, module: ModuleType, built: dict[str, Any], item: dict[str, Any]) -> int:
    """Run the solution and then its tests in this process; return the exit status, which is 0 at their end alone.

    `code` is the solution's, and runs in `module`; `built` and `item` are the tests' (harness.run_item, and for an item
    whose "kind" is "pytest" pytests.run).
    """
    gate = _socket.socket(fileno=gate_fd)
    frames = _Held()
    suite = item.get("kind") == "pytest"
    texts = item["files"].values() if suite else map("\n".join, built["lines"].values())
    modules = [*(_PYTEST if suite else ()), *built.get("imports", ())]
    guard = Guard([*_GUARDED, *_imported(modules)], _assigned("\n".join(texts)))
    solution = Local(code, module, guard)
    if suite:
        run_suite(solution, frames, item)
    else:
        run_item(Side(solution, (SolutionFailed,), ()), frames, built, item)
    altered = guard.altered()
    if altered:
        frames = _Held()
        frames.put("ended", "stopped", f"the program altered {altered} while it was tested", [])
    _hand_over(gate, frames)
    return 0


def run_script(gate_fd: int, code: CodeType, namespace: dict[str, Any]) -> int:
    """Run a whole program, its tests at its end, as one case named "0", which has passed if its end was reached."""
    gate = _socket.socket(fileno=gate_fd)
    frames = _Held()
    began = time.monotonic_ns()
    status, detail = "passed", ""
    try:
        exec(code, namespace)  # noqa: S102 - the program under test, in its jail
    except BaseException as error:
        status, detail = _judged(error)
    frames.case("0", status, detail, "", time.monotonic_ns() - began, 0)
    frames.put("ended", "done", "", [])
    _hand_over(gate, frames)
    return 0


def _judged(error: BaseException) -> tuple[str, str]:
    name = type(error).__name__
    try:
        said = str(error)[:500]
    except Exception:
        said = ""
    detail = f"{name}: {said}" if said else name
    if isinstance(error, SystemExit):
        return "error", f"the program ended before its last statement ({detail})"
    return ("failed" if isinstance(error, AssertionError) else "error"), detail


def _imported(names: Iterable[str]) -> list[str]:
    """Import what the tests will, before the program can stand in its way; return what there was."""
    found = []
    for name in names:
        try:
            __import__(name)
            found.append(name)
        except Exception:  # noqa: S112 - the tests will meet the same and say so
            continue
    return found


def _assigned(source: str) -> frozenset[str]:
    """Return the names of attributes that the tests set or patch, and so may have altered."""
    return frozenset(name for found in _ASSIGNED.findall(source) for name in found if name).union(_REPLACED)


class Local:
    """A solution in this process, with the interface of remote.Solution."""

    def __init__(self, code: CodeType, module: ModuleType, guard: Guard) -> None:
        self._code = code
        self.module = module
        self._guard = guard
        self.names: frozenset[str] = frozenset()
        self.lost: BaseException | None = None
        self._requests = 0

    @property
    def requests(self) -> int:
        """How often the solution was used, which nobody counts here: more often whenever one asks."""
        self._requests += 1
        return self._requests

    def start(self) -> None:
        """Run the module. Raises SolutionFailed when it raised or exited."""
        try:
            exec(self._code, vars(self.module))  # noqa: S102 - the program under test, in its jail
        except BaseException as error:
            raise SolutionFailed(type(error).__name__, _judged(error)[1]) from None
        finally:
            self._guard.restore()
        self.names = frozenset(name for name in vars(self.module) if not name.startswith("__"))

    def get(self, name: str) -> Any:
        return vars(self.module)[name]

    def set(self, name: str, value: Any) -> None:
        vars(self.module)[name] = value

    def guard(self, check: Any) -> None:
        """Nothing comes between tests and solution here."""

    def close(self) -> None:
        pass


class Guard:
    """What judges, as it was before the program ran: the functions and classes of some modules, and where imports go.

    `spared` are names which the tests themselves may change.
    """

    def __init__(self, modules: Iterable[str], spared: Iterable[str] = ()) -> None:
        self._spared = frozenset(spared)
        self._modules = {name: sys.modules[name] for name in modules if name in sys.modules}
        places: list[list[Any]] = [sys.path, sys.meta_path, sys.path_hooks]
        self._paths = [(place, list(place)) for place in places]
        self._kept: list[tuple[str, Any, dict[str, Any]]] = [
            (f"{name}.", module, _callables(module)) for name, module in self._modules.items()
        ]
        for name, module in self._modules.items():
            for kind in vars(module).values():
                if isinstance(kind, type) and kind.__module__ == name != "builtins":
                    self._kept.append((f"{name}.{kind.__name__}.", kind, _callables(kind)))
        functions = [value for _, _, kept in self._kept for value in kept.values() if isinstance(value, FunctionType)]
        self._codes = [(function, function.__code__) for function in functions]

    def restore(self) -> None:
        """Put everything back, and end what would watch or delay the tests."""
        sys.settrace(None)
        sys.setprofile(None)
        sys.modules.update(self._modules)
        for place, content in self._paths:
            place[:] = content
        for _, owner, kept in self._kept:
            now = vars(owner)
            for name, value in kept.items():
                if now.get(name) is not value:
                    setattr(owner, name, value)
        for function, code in self._codes:
            function.__code__ = code

    def altered(self) -> str:
        """Return the name of something that is not as it was, or ""."""
        for path, owner, content in self._kept:
            now = vars(owner)
            for name, value in content.items():
                if now.get(name) is not value and name not in self._spared:
                    return path + name
        return next((function.__qualname__ for function, code in self._codes if function.__code__ is not code), "")


def _callables(owner: ModuleType | type) -> dict[str, Any]:
    kinds = (staticmethod, classmethod, property)
    return {name: value for name, value in vars(owner).items() if callable(value) or isinstance(value, kinds)}


class _Held(Frames):
    """Frames that stay in memory."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        super().__init__(-1)

    def emit(self, data: bytes) -> None:
        self.parts.append(data)
