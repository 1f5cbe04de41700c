"""What compile processes and cases of Python samples do in a jail, by name: the builder that the agent is given.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations

import os
import select
import sys
from typing import Any, NoReturn

from scalebox.execute import source
from scalebox.execute.separate import harness, pytests, rewrite, sabotage, serve, together
from scalebox.sandbox.agent import case

TESTS_NAME = "tests.py"
_MAIN = "solution.py"
#: Descriptors of a pair: the line between the two; the board, and what takes the frames or hands out that descriptor.
_LINE, _BOARD, _FRAMES = 3, 4, 5
#: The first of the lines to further copies of the solution.
_COPIES = 6
#: Most items that facts are told of, and characters of each: they must fit into one message.
_MOST_ITEMS, _MOST_TEXT = 2000, 200

build = source.build
vary = sabotage.sabotage
open_gate, keep_gate = together.open_gate, together.keep_gate


def build_tests(tests: dict[str, Any]) -> dict[str, Any]:
    """Build the tests of a sample.

    `tests` is {"items": [{"kind", "source", "files"}], "setup", "modules", "program"}: `program` is the source of a
    solution that has to run in one process with them, else None. Of the answer, "code" is for the roles below; "cases"
    has the number of assertions of each item; "failed" and "shared" have, by item number, why it is no Python, and why
    it cannot run apart from the solution; "one_function" the numbers of items that take the solution for a function.
    """
    built = [_build_item(item, tests) for item in tests["items"]]
    program = tests.get("program")
    code = source.build(program, _MAIN, False, [])["code"] if program else None
    told = list(enumerate(built))[:_MOST_ITEMS]
    return {
        "ok": True,
        "code": {"items": built, "program": code, "text": program},
        "imports": sorted({name for one in built for name in one.get("imports", ())}),
        "cases": [one.get("cases", 1) for _, one in told],
        "failed": {str(at): one["message"][:_MOST_TEXT] for at, one in told if not one["ok"]},
        "shared": {str(at): one["shared"][:_MOST_TEXT] for at, one in told if one.get("shared")},
        "one_function": [at for at, one in told if one.get("one_function")],
    }


def _build_item(item: dict[str, Any], tests: dict[str, Any]) -> dict[str, Any]:
    if item["kind"] == "script":
        return {"ok": True, "imports": []}
    if item["kind"] == "pytest":
        return pytests.build(item["files"], tests["modules"])
    return rewrite.build_tests(item["source"], TESTS_NAME, tests["setup"], tuple(harness.free_names(tests["modules"])))


def _serve(code: Any, order: dict[str, Any], namespace: dict[str, Any]) -> NoReturn:
    """The solution's side: whatever it still has to do when the tests have hung up is of no interest."""
    status = serve.serve(_LINE, code, namespace)
    case.flush(status)
    os._exit(status)


def _wait(code: Any, order: dict[str, Any], namespace: dict[str, Any]) -> int:
    """The solution's side where it runs together with its tests: nothing."""
    while os.read(_LINE, 1):
        pass
    return 0


def _test(code: Any, order: dict[str, Any], namespace: dict[str, Any]) -> int:
    """The tests' side of one item."""
    item = {**_placed(order["item"]), "board_fd": _BOARD}
    more = item["copies"] - 1
    item["copies"] = list(range(_COPIES, _COPIES + more))
    # One process's time may be looked at; that of several is not added up.
    item["solution_pid"] = 0 if more else _only_child(item["solution_parent"])
    run = pytests.run if item["kind"] == "pytest" else harness.run
    return case.flush(run(_LINE, _FRAMES, code["items"][item["index"]], item))


def _test_together(code: Any, order: dict[str, Any], namespace: dict[str, Any]) -> int:
    """Solution and tests in one process."""
    item = _placed(order["item"])
    module = sys.modules["solution"]
    case.show_source(code["text"])
    if item["kind"] == "script":
        together.run_script(_FRAMES, code["program"], vars(module))
    else:
        together.run(_FRAMES, code["program"], module, code["items"][item["index"]], item)
    return case.flush(0)


def _placed(item: dict[str, Any]) -> dict[str, Any]:
    """Say where a suite has its files: beside the working directory, where the solution does not get."""
    return {**item, "folder": os.path.join(os.path.dirname(os.getcwd()), "tests")}


def _only_child(parent: int) -> int:
    """Return the process id of the solution, the one child of its compile process; 0 where it cannot be told.

    Both sides are started at once: it may have to be waited for, till it has said something or has hung up.
    """
    heard = False
    while True:
        try:
            with open("/proc/%d/task/%d/children" % (parent, parent), "rb") as file:
                found = file.read().split()
                if found or heard:
                    return int(found[0])
        except (OSError, ValueError, IndexError):
            return 0
        heard = bool(select.select([_LINE], [], [], 0.001)[0])


#: What a process of a pair does: (what was built, the order, the namespace of its module) to its exit status.
ROLES: dict[str, Any] = {"serve": _serve, "wait": _wait, "test": _test, "test together": _test_together}
