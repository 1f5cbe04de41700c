"""What the tests share with a solution in another process: streams, library, event loop, its start and end."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import json
import random
import sys
from collections import deque
from typing import Any
from unittest import mock

import pytest
from tests.execute.separate.pair import process, solution

from scalebox.execute.separate.remote import Solution, SolutionEnded, SolutionFailed, install_modules

# --- streams, library -----------------------------------------------------------------------------


def test_output_and_input(sol: Any, capsys: pytest.CaptureFixture[str]) -> None:
    sol.say("captured", 1)
    assert capsys.readouterr().out == "captured 1\n"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("before")
        sol.call(lambda: (sol.say("in"), print("between")))
        sol.say("after")
    assert out.getvalue() == "before\nin\nbetween\nafter\n"
    with mock.patch("sys.stdin", io.StringIO("Ann\n")), mock.patch("sys.stdout", io.StringIO()) as shown:
        assert sol.ask() == "Ann"
    assert shown.getvalue() == "name? "
    with mock.patch("builtins.input", side_effect=["Bob", EOFError]) as asked:
        assert sol.ask() == "Bob"
        with pytest.raises(EOFError):
            sol.ask()
    assert asked.call_args_list == [mock.call("name? ")] * 2
    with mock.patch("builtins.print") as printed:
        sol.say("x", 2)
    printed.assert_called_once_with("x", 2)


def test_seeds_and_patches(sol: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(7)
    there = sol.roll()
    random.seed(7)
    assert random.random() == there  # noqa: S311
    with mock.patch("time.sleep") as sleep, mock.patch("time.time", return_value=5.0):
        assert sol.nap() == 5.0
    sleep.assert_called_once_with(3)
    monkeypatch.setattr("random.random", lambda: 0.25)
    assert sol.roll() == 0.25
    monkeypatch.undo()
    assert sol.roll() != 0.25


# --- asynchronous ---------------------------------------------------------------------------------


def test_coroutines(sol: Any) -> None:
    assert asyncio.run(sol.later(1)) == 2

    async def main() -> None:
        assert await sol.later(1) == 2
        assert await asyncio.gather(*[sol.later(i) for i in range(20)]) == list(range(1, 21))
        with pytest.raises(sol.Oops) as caught:
            await sol.fail_later()
        assert caught.value.code == 2
        assert [i async for i in sol.numbers(3)] == [0, 1, 2]
        async with sol.Session() as value:
            assert value == "open"
        with pytest.raises(AssertionError):
            async with sol.Session():
                raise AssertionError
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sol.forever(), 0.02)

        async def own(x: int) -> int:
            await asyncio.sleep(0)
            return x * 3

        assert await sol.through(own, 2) == 6

    asyncio.run(main())
    assert inspect.isawaitable(sol.later(1))


# --- starting and ending --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("1 / 0", "raised", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(0)", "exited", "the program exited (0)"),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt: "),
        ("import os; os._exit(0)", "ended", "the program ended while its module ran"),
        ("import os; os.kill(os.getpid(), 9)", "ended", "the program ended while its module ran"),
        ("class E(Exception):\n def __str__(self): raise self\nraise E", "raised", "E: <E object>"),
    ],
)
def test_modules_that_do_not_come_to_their_end(source: str, kind: str, message: str) -> None:
    with process(source) as (fd, _):
        made = Solution(fd)
        with pytest.raises(SolutionFailed) as caught:
            made.start()
        made.close()
    assert (caught.value.kind, caught.value.message) == (kind, message)


@pytest.mark.parametrize(
    "end",
    ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()", "ctypes.string_at(0)", "os.close(int(sys.argv[1]))"],
)
def test_an_end_in_the_middle_is_noticed_for_good(end: str) -> None:
    with solution(f"import os, sys, ctypes\ndef f(x): {end}\ndef g(): return 1") as made:
        f, g = made.get("f"), made.get("g")
        with pytest.raises(SolutionEnded):
            f(1)
        for again in (g, f, lambda: made.get("g")):
            with pytest.raises(SolutionEnded):
                again()


def test_names_and_use() -> None:
    with solution("X = 1\ndef f(): return 2") as made:
        assert made.names == {"X", "f"}
        assert not made.used
        assert made.get("X") == 1
        assert made.used
        with pytest.raises(KeyError):
            made.get("missing")


def test_modules_are_imported_here() -> None:
    source = "import json as j, os.path, collections.abc, xml.dom as os\nimport this_is_mine" if False else ""
    source = """
import json as j, os.path as p, cmath as math, csv as np, xml.etree.ElementTree as ET
from typing import List
from collections import deque as f
"""
    with solution(source) as made:
        assert made.get("j") is json
        assert made.get("List") is list or made.get("List").__module__ == "typing"
        assert made.get("ET").__name__ == "xml.etree.ElementTree"
        for name in ("math", "np"):  # known as the names of other modules
            with pytest.raises(KeyError):
                made.get(name)
        assert made.get("f") is deque  # a class that is the same here
        assert made.get("p").join("a", "b") == "a/b"


def test_dotted_modules_are_installed() -> None:
    with solution("def f(): return 1") as made:
        install_modules(made, ["my_package.code", "my_module"])
        try:
            names: dict[str, Any] = {}
            exec("import my_module, my_package.code\nfrom my_package.code import f", names)  # noqa: S102
            assert names["f"]() == names["my_package"].code.f() == names["my_module"].f() == 1
            with pytest.raises(ImportError):
                exec("from my_module import g", names)  # noqa: S102
        finally:
            for name in ("my_package", "my_package.code", "my_module"):
                sys.modules.pop(name, None)
