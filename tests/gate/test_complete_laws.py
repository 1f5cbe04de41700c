"""What holds for every prompt and response: completion is total, linear, and makes the same program of every form."""

from __future__ import annotations

import ast
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.sample import STOP
from scalebox.gate import bare, complete, extract, lines, markdown, prompt
from scalebox.gate.complete import complete as completed
from scalebox.gate.extract import extract_after, program_text

PIECES = st.sampled_from(
    [
        "def f(x):", "    return 1", "        y", "class A:", "    def f(self):", "@g", "'''", '"""', "'", '"',
        "#", "(", "]",
        "{", "\\", "\\\n", ":", "\n", "\t", "    ", "  ", "\r", "\0", "```", "```python", "<think>",
        "</think>", "import a",
        "from __future__ import annotations", "from b import (", "f = 1", "return", "pass", "...",
        "The answer is this:",
        "else:", "print(1)", "if x:", "\u2028", "é",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=20).map("".join), st.lists(PIECES, max_size=20).map("\n".join))
NAMES = st.lists(st.one_of(st.text(max_size=6), st.sampled_from(["f", "A.f", "A().f"])), max_size=2)
STOPS = st.lists(st.one_of(st.text(min_size=1, max_size=3), st.sampled_from(STOP)), max_size=2)


@given(TEXTS, TEXTS, NAMES, STOPS, st.sampled_from(["auto", "last", "first", "longest"]))
def test_is_total(begun: str, response: str, names: list[str], stop: list[str], choose: extract.Choice) -> None:
    found = extract_after(begun, response, stop=stop, choose=choose, entry_points=names)
    assert (found.code.strip() == "") is (found.how == "empty")
    assert isinstance(completed(begun, response, names, stop), str)


@given(TEXTS, TEXTS, NAMES)
def test_a_program_is_made_of_lines_of_prompt_and_response(begun: str, response: str, names: list[str]) -> None:
    text = begun + "\n" + response
    for line in completed(begun, response, names).split("\n"):
        assert line.strip() in text or begun.rpartition("\n")[2] in line


@given(TEXTS)
def test_statements_are_in_order_and_apart(text: str) -> None:
    source = lines.Source(text.split("\n"))
    edge = 0
    for statement in source.statements:
        assert edge <= statement.first < statement.last <= len(source.lines)
        assert source.lines[statement.first].startswith(statement.indent)
        edge = statement.last
    blocks = source.blocks()
    assert [block.first for block in blocks[1:]] == [block.last for block in blocks[:-1]]
    assert not blocks or (blocks[0].first, blocks[-1].last) == (0, len(source.lines))


# Bodies of functions, as nested lists: a line, or a line that opens a block and the block.
SIMPLE = st.sampled_from(
    [
        "x += 1", "return x", "return", "yield x", "y = [\n1,\n    2]", "z = '''a\n  b\nc'''",
        'z = f"""\n{x}: # no\n"""',
        "pass", "x = {1: 2}  # a: b", "s = 'it is: '", "t = x[1:]", "assert x, (\n'no'\n)", "u = \\\n  x",
        "raise E('(')",
        "'''Only words here.'''", "import math", "x: int = 1", "w = lambda: x",
    ]
)  # fmt: skip
OPENING = st.sampled_from(
    [
        "if x:",
        "for i in x:",
        "while x:  # on",
        "with x as y:",
        "def g(a, b=':'):",
        "class B:",
        "async def h(\n  a,\n):",
        "try:",
    ]
)
Body = list["str | tuple[str, Body]"]
BODIES: st.SearchStrategy[Body] = st.recursive(
    st.lists(SIMPLE, min_size=1, max_size=3),
    lambda inner: st.lists(st.one_of(SIMPLE, st.tuples(OPENING, inner)), min_size=1, max_size=4),
    max_leaves=12,
)
UNITS = st.sampled_from(["    ", "  ", "\t"])
DOCUMENTED = st.booleans()


def _written(body: Body, indent: str, unit: str) -> str:
    text = ""
    for part in body:
        head, inner = part if isinstance(part, tuple) else (part, None)
        text += f"{indent}{head}\n"
        if inner is not None:
            text += _written(inner, indent + unit, unit)
            if head == "try:":
                text += f"{indent}finally:\n{indent}{unit}pass\n"
    return text


def _prompt(indent: str, unit: str, documented: bool, helper: str) -> str:
    head = f"{helper}class A:\n" if indent else helper
    words = f'{indent}{unit}"""Do.\n\n>>> f(1)\n"""\n' if documented else ""
    return f"{head}{indent}def f({'self, ' if indent else ''}x):\n{words}"


@given(BODIES, UNITS, DOCUMENTED, st.booleans(), st.sampled_from(["", "import math\n\n\ndef k():\n    return 1\n\n\n"]))
def test_every_form_of_a_body_makes_the_same_program(
    body: Body, unit: str, documented: bool, method: bool, helper: str
) -> None:
    outer = unit if method else ""
    begun = _prompt(outer, unit, documented, helper)
    text = _written(body, outer + unit, unit)
    truth = ast.dump(ast.parse(begun + text))
    names = ["A().f" if method else "f"]
    forms = {
        "as it is": text,
        "newline first": "\n" + text,
        "fenced": f"So:\n\n```python\n{text}```\nDone.",
        "run on": text + "\n\ndef other(:\n",
        "at the margin": f"```python\n{_written(body, '', unit)}```",
        "deeper": f"```python\n{_written(body, outer + unit * 2, unit)}```",
        "stripped": text.strip(),
    }
    for form, response in forms.items():
        made = extract_after(begun, response, stop=STOP, entry_points=names).code
        assert ast.dump(ast.parse(made)) == truth, form
    for code in (text, begun + text, text.lstrip()):
        assert ast.dump(ast.parse(completed(begun, code, names))) == truth


@given(BODIES, UNITS, DOCUMENTED, st.booleans())
def test_a_whole_function_gets_the_helpers_and_no_stub(body: Body, unit: str, documented: bool, method: bool) -> None:
    outer = unit if method else ""
    helper = "import math\n\n\ndef k():\n    return 1\n\n\n"
    begun = _prompt(outer, unit, documented, helper)
    text = _written(body, outer + unit, unit)
    whole = _prompt(outer, unit, documented, "") + text
    truth = ast.dump(ast.parse(helper + whole))
    names = ["A().f" if method else "f"]
    forms = [f"```python\n{whole}```", f"```python\n{helper}{whole}```", helper + whole, whole]
    if method:  # the method alone
        forms.append(
            f"```\n{_prompt('', unit, documented, '').replace('(x', '(self, x')}{_written(body, unit, unit)}```"
        )
    for response in forms:
        made = extract_after(begun, response, stop=STOP, entry_points=names).code
        assert ast.dump(ast.parse(made)) == truth, response


def steps(begun: str, response: str) -> int:
    """Return how many lines of the gate's own files run for a response to a prompt."""
    files = {module.__file__ for module in (bare, complete, extract, lines, markdown, prompt)}
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        count += event == "line"
        return trace

    sys.settrace(trace)  # type: ignore[arg-type] # returns itself
    try:
        extract_after(begun, response, stop=STOP, entry_points=["f"])
    finally:
        sys.settrace(None)
    return count


BEGUN = "import math\n\n\nclass A:\n    def f(self, x):\n"
REPEATED = [
    "x\n", "    x\n", "  x\n", "def g():\n", "    def f(self):\n", "@a\n", "class A:\n", '"""', "'''\n", '"\\',
    "(", ")\n", "\\\n",
    "\\", "\\\"\"\"", ":\n", "return\n", "return x\n    y\n", "if x:\n", "else:\n",
    "from __future__ import a\n", "import a\n",
    "# c\n", "\t", " ", "```\n", "The answer is.\n", "print(\n", "f = 1\n", "def g(\n", "self",
]  # fmt: skip


@pytest.mark.parametrize("unit", REPEATED)
@pytest.mark.parametrize("start", ["", "    y = '''\n", "```python\ndef f(self):\n"])
def test_steps_grow_no_faster_than_the_text(unit: str, start: str) -> None:
    small, large = (steps(BEGUN, start + unit * count) for count in (100, 800))
    assert large <= 9 * small + 500
    small, large = (steps(start + unit * count, "    return 1\n") for count in (100, 800))
    assert large <= 9 * small + 500


@pytest.mark.timeout(300)
@pytest.mark.parametrize("unit", REPEATED)
def test_much_of_anything_is_soon_done(unit: str) -> None:
    """The time-out is generous by two orders of magnitude; anything quadratic in here would take hours."""
    text = unit * (100_000 // len(unit))
    extract_after(BEGUN, text, stop=STOP, entry_points=["A().f"])
    extract_after(BEGUN, "    y = (\n" + text, stop=STOP, entry_points=["A().f"])
    program_text(text)
