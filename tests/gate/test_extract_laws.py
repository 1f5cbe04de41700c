"""What holds for every answer: extraction is total, exact where a fence says what the code is, and linear."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.gate import bare, markdown
from scalebox.gate import extract as gate
from scalebox.gate.extract import extract

#: Whatever comes near the syntax that extraction looks for.
PIECES = st.sampled_from(
    [
    "```", "~~~", "````", "```python", "```py\n", "\n", "\r\n", "\r", "<think>", "</think>", "◁/think▷",
    "<answer>", "</s>", "def f(x):", "    return 1", "'''", '"""', "'", "`", "# ", "x = 1",
    "The answer is this:", "- ", "1. ", "   ", "\t", "\0", "\ufeff", "\u2028", "import sys", "class A:",
    "<|im_end|>", "{", "}", "é",
]
)  # fmt: skip
ANSWERS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join), st.lists(PIECES, max_size=30).map("\n".join))
CHOICES = st.sampled_from(["auto", "last", "first", "longest"])
NAMES = st.lists(st.one_of(st.text(max_size=10), st.sampled_from(["f", "A.f"])), max_size=2)
#: Code without a line that could end a fence, a tag of reasoning, or a line end other than a newline.
CODE = st.text(st.characters(exclude_characters="`~<◁\r", exclude_categories=["Cs"])).filter(
    lambda code: code.strip() and "'''" not in code and '"""' not in code
)
#: Lines of Python, good and bad, none of which is prose.
BARE_LINES = st.sampled_from(
    [
    "def f(x):", "    return x", "x = 1", "if x not in y:", "for a, b in c: pass", "print('one two three')",
    "", "@cache", "# a comment in words", "class A(B):", "else:", "    '''some words'''", "lambda: 0", "x = [",
    "a, b,", "]", "x is not None", "async def f():", "    await g()", "from a import b as c",
    "raise E from None", "return 1 if x else 2", "x", "(", ")", "...", "assert x, 'it is so'", "del x",
    "global x", "while True: break", 'f"{x!r} and {y}"', "match x:", "    case [a, *b]: ...",
]
)  # fmt: skip


@given(ANSWERS, CHOICES, NAMES)
def test_is_total(answer: str, choose: gate.Choice, entry_points: list[str]) -> None:
    found = extract(answer, choose=choose, entry_points=entry_points)
    assert (found.code.strip() == "") is (found.how == "empty")
    assert len(found.code) <= len(answer)


@given(ANSWERS)
def test_code_is_made_of_lines_of_the_answer(answer: str) -> None:
    lines = {line.strip() for line in answer.replace("\r\n", "\n").replace("\r", "\n").split("\n")}
    text = "\n".join(lines)
    for line in extract(answer).code.split("\n"):
        assert line.strip() in text


@given(CODE, st.sampled_from(["python", "", "py", "Python 3"]), st.sampled_from(["```", "````", "~~~"]))
def test_fenced_code_comes_back_exactly(code: str, tag: str, marker: str) -> None:
    assert extract(f"Here:\n{marker}{tag}\n{code}\n{marker}\nDone.") == gate.Extracted(code, "fenced")


@given(CODE)
def test_a_fence_left_open_gives_the_same_code(code: str) -> None:
    found = extract(f"```python\n{code}")
    assert found.code == code.rstrip("\n") or found.code.rstrip() == code.rstrip()
    assert found.how == "incomplete_fenced"


@given(CODE, CODE)
def test_reasoning_changes_nothing(code: str, thought: str) -> None:
    answer = f"```python\n{code}\n```"
    assert extract(f"<think>\n{thought}\n```\n</think>\n{answer}") == extract(answer)


@given(CODE)
def test_line_ends_change_nothing(code: str) -> None:
    answer = f"Here:\n```python\n{code}\n```"
    assert extract(answer.replace("\n", "\r\n")) == extract(answer)


@given(st.lists(BARE_LINES, min_size=1).filter(lambda lines: lines[0].strip() and lines[0][0] != " "))
def test_bare_code_is_kept_as_it_is(lines: list[str]) -> None:
    code = "\n".join(lines)
    assert extract(code) == gate.Extracted(code, "bare")


@given(st.lists(st.one_of(BARE_LINES, st.sampled_from(["The answer is this:", "That is all there is."])), min_size=1))
def test_bare_code_once_taken_out_stays(lines: list[str]) -> None:
    once = extract("\n".join(lines))
    assert extract(once.code).code == once.code


def steps(function: Callable[[str], object], text: str) -> int:
    """Return how many lines of the gate's own files run for `function(text)`."""
    files = {markdown.__file__, bare.__file__, gate.__file__}
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        count += event == "line"
        return trace

    sys.settrace(trace)  # type: ignore[arg-type] # returns itself
    try:
        function(text)
    finally:
        sys.settrace(None)
    return count


UNITS = [
    "`", "```\n", "```python\n", "~~~ ", "<think>", "</think>", "x</think>x", "'<think>'", "#</think>",
    '"""\n', "'''", "\n", "\r", " ", "\t", "a ", "a b\n", "a = ", "(", '"\\', "1. ", "- ```\n", "def f(x):\n",
    "The answer is.\n", "<answer>", "```x```\n", "*", "    x\n", "é", "   ```\n", "class A:\n```\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("start", ["", "```python\n"])
def test_steps_grow_no_faster_than_the_text(unit: str, start: str) -> None:
    small, large = (steps(extract, start + unit * count) for count in (200, 1600))
    assert large <= 9 * small + 500


@pytest.mark.timeout(300)
@pytest.mark.parametrize("unit", UNITS)
def test_much_of_anything_is_soon_done(unit: str) -> None:
    """The time-out is generous by two orders of magnitude; anything quadratic in here would take hours."""
    text = unit * (300_000 // len(unit))
    extract(text)
    extract("```python\n" + text)
