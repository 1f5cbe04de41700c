"""The tests side for pytest: runs the author's suite with the interpreter's own pytest, against proxies.

Which tests passed is what pytest's hooks told a plugin of ours in this process, where nothing of the solution runs; its
printed report, its exit status and its files are not looked at. Only the author's files are a part of the run: no
plugin is loaded by itself, no configuration or conftest.py is looked for outside of the suite, and the working
directory, in which the solution may have left anything, is not on the path of imports.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax; pytest 7 or
later.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import os
import re
import sys
import warnings
from types import ModuleType
from typing import Any, Iterable, Mapping

from scalebox.execute import source as plain
from scalebox.execute.separate import evidence, facts, fresh, one_function, split
from scalebox.execute.separate.frames import Frames
from scalebox.execute.separate.pytest_recorder import arranged, end
from scalebox.execute.separate.remote import SolutionEnded, SolutionFailed, install_modules
from scalebox.execute.separate.suite import Suite, SuiteError

#: Plugins that report, keep, debug or collect what nobody asks for here.
_WITHOUT = (
    "cacheprovider", "stepwise", "junitxml", "pastebin", "faulthandler", "unraisableexception", "threadexception",
    "setuponly", "setupplan", "doctest", "nose",
)  # fmt: skip


def build(files: Mapping[str, str], modules: Iterable[str]) -> dict[str, Any]:
    """Look at a suite in the tests' compile process. Never raises.

    Returns {"ok": True, "imports", "threads", "shared", "value_classes", "one_function"} as rewrite.build_tests does of
    a test, over all its modules; or {"ok": False, "message", "line", "column"} where one that pytest would load is no
    Python: that is the task's fault.
    """
    names = frozenset((*modules, "__main__"))
    own = frozenset(part for name in files for part in name.replace("\\", "/").replace(".py", "").split("/"))
    imported: set[str] = set()
    classes: set[str] = set()
    shared = ""
    trees = []
    for name, text in files.items():
        if not name.endswith(".py"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree: Any = compile(text.encode("utf-8", "surrogatepass"), name, "exec", ast.PyCF_ONLY_AST, True, 0)
            reason = split.reason(tree, text, facts.Facts([tree], names), own)
        except Exception as error:
            if not re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|__init__)\.py$", name):
                continue  # data, perhaps, or loaded under a condition
            failed = plain.failure(error)
            return {**failed, "message": f"{name}: {failed['message']}"}
        imported.update(plain.imports(tree))
        classes.update(evidence.value_classes(tree))
        trees.append(tree)
        shared = shared or (reason and f"{name}, {reason}")
    found = sorted(imported - own - {name.partition(".")[0] for name in names})
    return {
        "ok": True,
        "imports": found,
        "threads": plain.starts_threads(found),
        "shared": shared,
        "value_classes": sorted(classes),
        "one_function": one_function.calls_one_function(files.values(), trees, facts.Facts(trees, names)),
    }


def run(solution_fd: int, frames_fd: int, built: dict[str, Any], item: dict[str, Any]) -> int:
    """Run the required tests of a suite, and record each as a case named by its id; return the exit status.

    It ends as items do (frames.Report), and for "toolchain" where there is no pytest.

    `item` is {"files": {name: text}, "required": [ids], "modules": [names under which tests import the solution],
    "folder": an empty directory that the solution can neither read nor write}; optionally "temporary": where `tmp_path`
    lies, by default in the working directory, for tests hand such paths to the solution; "board_fd", "solution_pid"
    and "copies" as in harness.run.
    """
    return run_suite(
        connect(solution_fd, built, item),
        Frames(frames_fd, item.get("board_fd", -1), item.get("solution_pid", 0)),
        item,
    )


def connect(fd: int, built: dict[str, Any], item: dict[str, Any]) -> Any:
    """Return the solution at the other end of `fd`, as a suite needs it."""
    return fresh.connect([fd, *item.get("copies", ())], _module_names(item["files"]), built.get("value_classes", ()))


def run_suite(solution: Any, frames: Frames, item: dict[str, Any]) -> int:
    """Do what `run` does, with a solution that is connected already."""
    try:
        suite = Suite(item["folder"], item["files"], item["required"])
        suite.write()
        frames.put("expected", list(suite.names.values()))
    except (SuiteError, OSError) as error:
        end(frames, "task", str(error))
        return 0
    _settle(suite.root, item["modules"])
    try:
        import pytest
    except ImportError:
        end(frames, "toolchain", "the interpreter that runs the tests has no pytest")
        return 0
    try:
        solution.start()
        finder = _Finder(solution, item["modules"])
        sys.meta_path.append(finder)
        recorder = arranged(pytest)(suite, finder, frames)
        temporary = item.get("temporary") or os.path.join(os.getcwd(), "pytest")
        status = pytest.main(_arguments(suite, temporary), plugins=[recorder])
        recorder.end(int(status))
    except SolutionFailed as error:
        end(frames, "solution failed", f"{error.kind}: {error.message}")
    except SolutionEnded as error:
        end(frames, "solution ended", str(error))
    return 0


def _module_names(files: Iterable[str]) -> list[str]:
    """Return all names under which the suite's modules can be imported, from whatever folder of it."""
    found = []
    for name in files:
        parts = os.path.normpath(name.replace("\\", "/"))[:-3].split("/") if name.endswith(".py") else []
        found += [".".join(parts[start:]) for start in range(len(parts))]
    return found


def _arguments(suite: Suite, temporary: str) -> list[str]:
    ini = os.path.join(suite.root, "pytest.ini") if "pytest.ini" in suite.files else os.devnull
    places = ["-c", ini, "--rootdir", suite.root, "--confcutdir", suite.root, "--basetemp", temporary]
    # Nothing is captured but where a test asks for it (capsys); tracebacks are not made, for nobody would read them.
    options = ["-s", "--tb=line", "--import-mode=prepend", *(f"-pno:{name}" for name in _WITHOUT)]
    return [*places, *options, *(os.path.join(suite.root, name) for name in suite.modules)]


def _settle(root: str, modules: Iterable[str]) -> None:
    """Make this process one whose imports and options come from the suite and the interpreter's folders alone."""
    for name in [name for name in os.environ if name.startswith(("PYTEST", "PYTHON"))]:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    here = os.path.realpath(os.getcwd())
    kept = [
        place for place in sys.path if os.path.isabs(place) and not f"{os.path.realpath(place)}/".startswith(f"{here}/")
    ]
    sys.path[:] = [root, *kept]
    sys.dont_write_bytecode = True
    sys.argv = ["pytest"]
    for name in modules:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


class _Finder:
    """Gives the solution's modules as proxies, where neither the suite nor the interpreter has one of that name.

    It comes last, so that no file of the solution can take the place of a module that the tests rely on.
    """

    def __init__(self, solution: Any, names: Iterable[str]) -> None:
        self.solution = solution
        self.names = frozenset(names)
        self._requests = solution.requests
        self._served = False

    def touched(self) -> bool:
        """Return whether the suite has had anything of the solution yet: what goes wrong before is the suite's own."""
        return self._served or self.used()

    def used(self) -> bool:
        """Return whether the suite has asked the solution for anything."""
        return bool(self.solution.requests > self._requests)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        package = any(other.startswith(f"{name}.") for other in self.names)
        if not package and name not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=package)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> ModuleType | None:
        if spec.name not in self.names:
            return None
        self._served = True
        own: ModuleType | None = getattr(self.solution, "module", None)
        if own is not None:  # the solution is in this process
            return own
        install_modules(self.solution, [spec.name])
        return sys.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        pass
