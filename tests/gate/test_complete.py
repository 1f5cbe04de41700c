"""What responses make of prompts, form by form: the program must run and give the value."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import pytest

from scalebox.core.sample import STOP, AssertTest, CallTest, Sample
from scalebox.core.values import encode
from scalebox.gate.complete import complete
from scalebox.gate.extract import extract_after, program_text
from scalebox.gate.program import program_of

HELPERS = "from typing import List\nimport math\n\nSCALE = 2\n\n\ndef half(x):\n    return x / SCALE\n\n\n"
STUB = (
    'def f(xs: List[int]) -> int:\n    """Add half of each, and print(nothing).\n\n'
    '    >>> f([2])\n    1.0\n    # no comment\n    """\n'
)
PROMPT = HELPERS + STUB
REST = "    total = 0\n    for x in xs:\n        total += half(x)\n    return total\n"
MARGIN = "total = 0\nfor x in xs:\n    total += half(x)\nreturn total\n"
ALONE = "def f(xs):\n    return sum(map(half, xs))\n"
NO_BODY = HELPERS + "def f(xs: List[int]) -> int:\n"
F = ["f"]

NODE = (
    "class ListNode:\n    def __init__(self, val=0, next=None):\n        self.val = val\n        self.next = next\n\n\n"
)
METHOD = (
    NODE
    + "class Solution:\n    def one(self):\n        return 1\n\n    def two(self, head: ListNode) -> int:\n        "
)
TWO = ["Solution().two"]
TWO_CALL = "Solution().two(ListNode(3))"


def fence(code: str, tag: str = "python") -> str:
    return f"```{tag}\n{code}\n```"


class Case(NamedTuple):
    name: str
    prompt: str
    response: str
    how: str = "bare"
    names: list[str] = F
    call: str = "f([2, 4])"
    value: Any = 3.0


CASES = [
    # the rest of a function
    Case("as it is", PROMPT, REST),
    Case("stripped", PROMPT, REST.strip()),
    Case("newline first", PROMPT, "\n" + REST),
    Case("prompt without its last newline", PROMPT.rstrip(), "\n" + REST),
    Case("prompt without its last newline, stripped", PROMPT.rstrip(), REST.strip()),
    Case("without a docstring", NO_BODY, REST),
    Case("CRLF", PROMPT.replace("\n", "\r\n"), REST.replace("\n", "\r\n")),
    Case("on the line of the colon", "def f(xs):", " return 3.0"),
    Case("one line", PROMPT, "    return sum(map(half, xs))"),
    Case("one line, stripped", PROMPT, "return sum(map(half, xs))"),
    Case("fenced", PROMPT, f"The body:\n\n{fence(REST)}\n\nDone.", "fenced"),
    Case("fenced at the margin", PROMPT, fence(MARGIN), "fenced"),
    Case("fenced, stripped", PROMPT, fence(REST.strip()), "fenced"),
    Case("fenced, cut off", PROMPT, f"```python\n{REST}", "incomplete_fenced"),
    Case("reasoned", PROMPT, f"<think>\n{fence('x')}\n</think>\n{REST}"),
    Case("an end token", PROMPT, REST.rstrip() + "<|endoftext|>"),
    Case("loop first, stripped", NO_BODY, "for x in xs:\n        if x:\n            return 3.0\n    return 0"),
    Case("loop alone, stripped", NO_BODY, "for x in xs:\n        if x:\n            return 3.0"),
    Case("loop first, at the margin", NO_BODY, "for x in xs:\n    if x:\n        return 3.0\nreturn 0"),
    Case("nested function first", PROMPT, "    def g(x):\n        return half(x)\n\n    return sum(map(g, xs))\n"),
    Case("nested function at the margin", PROMPT,
         fence("def g(x):\n    return half(x)\nreturn sum(map(g, xs))"), "fenced"),
    Case("decorated function, stripped", PROMPT, "@str\n    def g(x):\n        pass\n    return 3.0"),
    Case("indented by two", PROMPT, "  total = 0\n  for x in xs:\n    total += half(x)\n  return total"),
    Case("indented by tabs", PROMPT, "\ttotal = 0\n\tfor x in xs:\n\t\ttotal += half(x)\n\treturn total"),
    Case("a prompt with tabs", "def f(xs):\n\t'''Do.'''\n", "    for x in xs:\n        pass\n    return 3.0"),
    Case("long strings stay", NO_BODY,
         fence('s = """\nnot code:\n  x"""\nreturn 3.0 if s == "\\nnot code:\\n  x" else s'), "fenced"),
    Case("brackets over lines", NO_BODY, "    ys = [\nhalf(x)\nfor x in xs]\n    return sum(ys)"),
    Case("placeholder pass", "def f(xs):\n    pass\n", "    return 3.0"),
    Case("placeholder dots", 'def f(xs):\n    """Do."""\n    ...\n', "return 3.0"),
    Case("placeholder raise", "def f(xs):\n    raise NotImplementedError('write me')  # here\n", "    return 3.0"),
    Case("half begun", "def f(xs):\n    y = 1\n    for x in xs:\n", "        y += 1\n    return float(y)"),
    Case("half begun, at the margin", "def f(xs):\n    y = 1.0\n", fence("y += 2\nreturn y"), "fenced"),
    Case("within a line", "def f(xs):\n    return ", "sum(xs) / 2\n"),
    Case("within a line, with a space", "def f(xs):\n    return (", "sum(xs) /\n  2)\n"),
    # running on
    Case("on with a function", PROMPT, REST + "\n\ndef f(xs):\n    return 0\n"),
    Case("on with a function, stripped", PROMPT, REST.strip() + "\n\ndef f(xs):\n    return 0\n"),
    Case("on with a class", PROMPT, REST + "class A(\n"),
    Case("on with a comment", PROMPT, REST + "# so\n)"),
    Case("on with a guard", PROMPT, REST + "\nif __name__ == '__main__':\n    f(\n"),
    Case("on with a call", PROMPT, REST + "\nprint(f(1)\n"),
    Case("on with a fence", PROMPT, REST + "```\nNow then: (\n"),
    Case("on with prose", PROMPT, REST + "\nThis adds the halves.\n"),
    Case("on with prose, stripped", PROMPT, REST.strip() + "\n\nThis adds the halves.\n"),
    # the whole function
    Case("all", PROMPT, fence(PROMPT + REST), "fenced"),
    Case("all, bare", PROMPT, PROMPT + REST),
    Case("all, in words", PROMPT, f"Here is it:\n\n{PROMPT + REST}\n\nIt adds the halves."),
    Case("alone", PROMPT, fence(ALONE), "fenced"),
    Case("alone, bare", PROMPT, ALONE),
    Case("alone, indented", PROMPT, "    def f(xs):\n        return sum(map(half, xs))\n"),
    Case("alone, for a stub without a body", NO_BODY, fence(ALONE), "fenced"),
    Case("alone, without a name given", PROMPT, fence(ALONE), "fenced", names=[]),
    Case("with tests of its own", PROMPT,
         fence(ALONE + "\n# Test\nprint(f([1]))\nif __name__ == '__main__':\n    f([])"), "fenced"),
    Case("with an example", PROMPT, f"{fence(ALONE)}\nUse it:\n{fence('print(f([1]))')}", "fenced"),
    Case("with a helper of its own", PROMPT, fence("def half(x):\n    return 1.5\n\n" + ALONE), "fenced"),
    Case("with a helper after it", PROMPT, fence("def f(xs):\n    return g(xs)\ndef g(xs):\n    return 3.0"), "fenced"),
    Case("from the future", PROMPT, fence(f'"""Doc."""\nfrom __future__ import annotations\n{ALONE}'), "fenced"),
    Case("as a lambda", PROMPT, fence("f = lambda xs: sum(map(half, xs))"), "fenced"),
    Case("decorated", PROMPT,
         fence(f"from functools import lru_cache\n\n@lru_cache\n{ALONE}"), "fenced", call="f((2, 4))"),
    Case("a prompt with a decorator", "import functools\n\n@functools.cache\ndef f(x):\n",
         "    return 3.0", call="f(1)"),
    Case("another candidate", "def f(xs):\n    '''Do.'''\n", fence("def g(xs):\n    return 3.0"), "fenced",
         names=["f", "g"], call="g(1), 'f' in globals()", value=(3.0, False)),
    # methods
    Case("method", METHOD, "        return head.val\n", names=TWO, call=TWO_CALL, value=3),
    Case("method, on its line", METHOD, "x = head.val\n        return x\n", names=TWO, call=TWO_CALL, value=3),
    Case("method, at the margin", METHOD, fence("x = head.val\nif x:\n    return x"), "fenced", TWO, TWO_CALL, 3),
    Case("method, too far left", METHOD, "    x = head.val\n    return x\n", names=TWO, call=TWO_CALL, value=3),
    Case("method again", METHOD,
         fence("def two(self, head):\n    return head.val + self.one()"), "fenced", TWO, TWO_CALL, 4),
    Case("method again, indented", METHOD,
         "    def two(self, head):\n        return head.val\n", "bare", TWO, TWO_CALL, 3),
    Case("method again, with imports and another", METHOD, fence(
        "from __future__ import annotations\nimport math\n\ndef two(self, head: Any) -> int:\n"
        "    return self.half(math.ceil(head.val))\n\n"
        "@staticmethod\ndef half(x):\n    return x / 2\n"), "fenced", TWO, TWO_CALL, 1.5),
    Case("method again, long signature", METHOD,
         fence("def two(\n    self,\n    head,\n):\n    return 3"), "fenced", TWO, TWO_CALL, 3),
    Case("method and then another", METHOD,
         "        return self.three()\n\n    def three(self):\n        return 3\n", "bare",
         TWO, TWO_CALL, 3),
    Case("the class again", METHOD,
         fence("class Solution:\n    def two(self, head):\n        return head.val"), "fenced",
         TWO, TWO_CALL, 3),
    Case("the class again, with its node", METHOD,
         fence(NODE + "class Solution:\n    def two(self, head):\n        return 3"),
         "fenced", TWO, TWO_CALL, 3),
    Case("the class again, without a name given", METHOD,
         fence("class Solution:\n    two = lambda self, head: 3"), "fenced", [],
         TWO_CALL, 3),
    Case("a function for a method", METHOD,
         fence("def two(head):\n    return 3"), "fenced", [*TWO, "two"], "two(1)", 3),
    Case("a class to begin", "import math\n\nclass A:\n    '''Do.'''\n",
         "    def f(self):\n        return math.pi > 3\n",
         names=["A().f"], call="A().f()", value=True),
    # prompts
    Case("helpers alone", NODE, fence("def f(x):\n    return ListNode(x).val"), "fenced", F, "f(3)", 3),
    Case("helpers alone, no name", NODE, fence("def f(x):\n    return ListNode(x).val"), "fenced", [], "f(3)", 3),
    Case("imports alone", "import math\n", "def f(x):\n    return math.floor(x)", "bare", F, "f(3.5)", 3),
    Case("an unfinished helper", "class Base:\n    pass\n",
         fence("def f(x):\n    return Base"), "fenced", F, "f(3).__name__", "Base"),
    Case("words", "Write a function f.\n\nIt returns 3.", fence("def f(xs):\n    return 3.0"), "fenced"),
    Case("words and a fence", f"Complete this:\n\n{fence(PROMPT)}\n\nThanks.", fence(REST), "fenced"),
    Case("a docstring that never ends",
         'class A:\n    def f(self):\n        """Do.\n\n    def g(self):\n        """Do."""\n',
         fence("class A:\n    def f(self):\n        return 3"), "fenced", [], "A().f()", 3),
    Case("a helper again", NODE, fence("class ListNode:\n    pass\n\ndef f(x):\n    return 3.0"), "fenced", []),
    Case("comments before", f"# The halves.\n\n{PROMPT}", REST),
    Case("an assertion in words", "Your code should pass:\nassert f([2, 4]) == 3",
         fence("def f(xs):\n    return 3.0"), "fenced"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_makes_a_program(case: Case) -> None:
    found = extract_after(case.prompt, case.response, stop=STOP, entry_points=case.names)
    space: dict[str, Any] = {"__name__": "solution"}
    exec(compile(found.code, "program", "exec"), space)  # noqa: S102  the cases are ours
    assert eval(case.call, space) == case.value  # noqa: S307
    assert found.how == case.how


@pytest.mark.parametrize("case", [case for case in CASES if case.how == "fenced"], ids=lambda case: case.name)
def test_code_that_is_given_as_it_is(case: Case) -> None:
    code = max(extract_after("", case.response, entry_points=case.names).code, "", key=len)
    prompt = program_text(case.prompt, case.names)
    made = complete(prompt, code, case.names) if prompt else code
    space: dict[str, Any] = {"__name__": "solution"}
    exec(compile(made, "program", "exec"), space)  # noqa: S102
    assert eval(case.call, space) == case.value  # noqa: S307


def test_the_rest_is_put_behind_the_prompt_as_it_is() -> None:
    assert extract_after(PROMPT, REST, stop=STOP, entry_points=F).code == PROMPT + REST
    assert complete(PROMPT, REST, F) == PROMPT + REST


def test_a_program_that_repeats_the_prompt_is_taken_as_it_is() -> None:
    whole = PROMPT + REST + "\n# the end\nprint(1)"
    assert extract_after(PROMPT, fence(whole), stop=STOP, entry_points=F).code == whole


def test_a_stub_does_not_shadow() -> None:
    made = extract_after(PROMPT, fence(ALONE), entry_points=F).code
    assert made == HELPERS + ALONE.rstrip("\n") + "\n"
    assert [node.name for node in ast.parse(made).body if isinstance(node, ast.FunctionDef)] == ["half", "f"]


def test_no_code_at_all() -> None:
    for response in ("", " \n", "I cannot do this.", "# nothing"):
        found = extract_after(PROMPT, response, stop=STOP, entry_points=F)
        assert (found.code, found.how) == ("", "empty")
    assert complete(PROMPT, "\n# nothing\n", F) == ""


def test_stops_of_ones_own() -> None:
    response = "    x = 3\n    return x\n    END\n"
    assert extract_after(PROMPT, response, stop=["\n    END"]).code == PROMPT + "    x = 3\n    return x\n"
    ran_on = REST + "\ndef g():\n    return 1"
    assert extract_after(PROMPT, ran_on, stop=[]).code == PROMPT + ran_on + "\n"


def test_code_is_never_cut() -> None:
    code = REST + "\n\nprint(f([1]))\n"
    sample = Sample(id="s", tests=(AssertTest(id="0", source="assert f([2]) == 1"),), code=code, prompt=PROMPT)
    assert program_of(sample) == (PROMPT + code, "code")


def test_the_program_of_a_sample() -> None:
    call = CallTest(id="0", call="f", arguments=encode(((), {})), expect=encode(3.0))
    example = fence("print(f([1]))\ndef g(): pass")
    sample = Sample(id="s", tests=(call,), response=f"{fence(ALONE)}\n{example}")
    assert program_of(sample) == (ALONE, "fenced")
    sample = Sample(id="s", tests=(call,), response=f"{fence(ALONE)}\n{example}", prompt=PROMPT)
    assert program_of(sample)[0].endswith(ALONE)
    sample = Sample(id="s", tests=(call,), response=f"{fence(ALONE)}\n{example}", entry_points=("h", "g"))
    assert program_of(sample) == ("print(f([1]))\ndef g(): pass", "fenced")
    assert program_of(Sample(id="s", tests=(call,), code="\r\nx", prompt=" \n")) == ("\r\nx", "code")
