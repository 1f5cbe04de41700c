"""Where a program is cut into the solution and its tests."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.execute.separate.program import fold, split_program, whole

CODE = "    return x + 1\n"
PREFIX = "def f(x):\n"


@pytest.mark.parametrize(
    "suffix",
    [
        "\nassert f(1) == 2\n",
        "assert f(1) == 2",
        "# f adds one: f(1) is 2\nassert f(1) == 2\n",
        "\n\ndef check(candidate):\n    assert candidate(1) == 2\n\ncheck(f)",
        "\nif __name__ == '__main__':\n    assert f(1) == 2\n",
        "@decorator\nclass A: pass\n",
    ],
)
def test_a_suffix_that_stands_by_itself_is_the_tests(suffix: str) -> None:
    assert split_program(PREFIX, CODE, suffix) == (PREFIX + CODE, suffix)


@pytest.mark.parametrize(
    ("head", "tests"),
    [
        ("    return y\n\n", "assert f(1) == 2\n"),
        (" + 1\n\n", "assert f(1) == 2\n"),
        ("+ 1\n\n", "assert f(1) == 2\n"),
        ("or 1\n\n", "assert f(1) == 2\n"),
        (")\n", "print(f(1))\n"),
        ("        pass\nelse:\n    y = 1\n", "assert f(1) == 2\n"),
        ("except ValueError:\n    y = 1\nfinally:\n    y = 2\n", "assert f(1) == 2\n"),
    ],
)
def test_the_rest_of_a_function_goes_to_the_solution(head: str, tests: str) -> None:
    assert split_program(PREFIX, "    y = (x\n", head + tests) == (PREFIX + "    y = (x\n" + head, tests)


@pytest.mark.parametrize(
    "suffix", ["", "\n\n", "# nothing\n", "    return y\n", "\nassert f(1) ==\n", "\nassert f(1) == 1\nprint 'done'\n"]
)
def test_what_is_no_module_of_its_own_cannot_be_cut(suffix: str) -> None:
    assert split_program(PREFIX, CODE, suffix) is None


def test_what_the_prefix_uses_is_not_taken_from_it() -> None:
    assert (
        split_program("def f(x):\n    y = helper(x)\n", CODE, "\ndef helper(x): return x\nassert f(1) == 2\n") is None
    )


def test_a_word_in_a_docstring_is_no_use() -> None:
    suffix = "\ndef check(candidate):\n    assert candidate(1) == 2\ncheck(f)\n"
    prefix = 'def f(x):\n    """check that\n    >>> check(f)\n    """\n'
    assert split_program(prefix, CODE, suffix) == (prefix + CODE, suffix)


def test_the_code_has_no_say_in_where_it_is_cut() -> None:
    suffix = "\ndef check(candidate):\n    assert candidate(1) == 2\ncheck(f)\n"
    for code in ("    check(1)\n", "", "'''", "    return (", "x\\"):
        cut = split_program(PREFIX, code, suffix)
        assert cut is not None
        assert cut[1] == suffix


def test_the_tests_start_on_a_line_of_their_own() -> None:
    assert split_program("", "def f(x): return x", "assert f(1) == 1") == ("def f(x): return x", "assert f(1) == 1")
    assert whole("", "def f(x): return x", "assert f(1) == 1") == "def f(x): return x\nassert f(1) == 1"
    assert whole("a = ", "(1", " + 2)") == "a = (1 + 2)"


@given(st.text("ab=(\n '\"\\#x"), st.text("ab=()\n '\"\\#:x", max_size=60), st.text("ab=()\n '\"\\#:x", max_size=60))
def test_nothing_is_lost_and_the_tests_are_a_module(code: str, prefix: str, suffix: str) -> None:
    cut = split_program(prefix, code, suffix)
    if cut is not None:
        solution, tests = cut
        assert suffix.endswith(tests)
        assert solution == whole(prefix, code, suffix.removesuffix(tests))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes
            assert ast.parse(tests).body


def test_a_program_is_one_case() -> None:
    passed, failed, wrong = ("0", "passed", ""), ("1", "failed", "left 1"), ("2", "error", "ValueError")
    assert fold([passed, passed], "done", "") == ("passed", "")
    assert fold([], "done", "") == ("passed", "")
    assert fold([passed, failed, wrong], "done", "") == ("failed", "left 1")
    assert fold([passed, ("T.x", "skipped", "why")], "done", "") == ("error", "why")
    assert fold([passed], "solution ended", "it is gone") == ("error", "it is gone")
    assert fold([passed], "stopped", "") == ("error", "stopped")
