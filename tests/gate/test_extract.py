"""Extraction, answer by answer: habits of real models, and what the program in them is."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from scalebox.gate.extract import extract

SOLUTION = "def add(a, b):\n    return a + b"
OTHER = "def sub(a, b):\n    return a - b"
EXAMPLE = "print(add(1, 2))"
TEST = "def test_add():\n    assert add(1, 2) == 3"
MAIN = "def main():\n    add(1, 2)"
METHOD = "class Solution:\n    def add(self):\n        pass"
READER = "print(sum(map(int, input().split())))"
LAMBDA = "add = lambda a, b: a + b"
DOCSTRING = 'def f():\n    """Do.\n\n    ```\n    f()\n    ```\n    """\n    return 1'
NARROW_DOCSTRING = 'def f():\n  """\n  ```python\n  f()\n  ```\n  """'
AT_MARGIN = '"""\n```\nf()\n```\n"""\nx = 1'
MODULE_DOCSTRING = '"""\nThis is a module about words.\nIt has two lines.\n"""\nx = 1'
COMMENTS = "# This is the answer: it adds two numbers.\nx = 1  # Not more than that."
TEXTS = "print('Hello big world', \"it's a nice day\")"
NAMES = "x = [\na, b,\nc,\n]\nif x not in y:\n    pass"
LONGER = f"{SOLUTION}\nx = 1"
INDENTED = SOLUTION.replace("\n", "\n    ")
MATCH = "match x:\n    case y:\n        pass"
IN_STRINGS = "s = '```'\nt = '```python'"
ADD, METHOD_ADD = {"entry_points": ["add"]}, {"entry_points": ["Solution.add"]}


def fence(code: str, tag: str = "python", marker: str = "```") -> str:
    return f"{marker}{tag}\n{code}\n{marker}"


class Case(NamedTuple):
    name: str
    answer: str
    code: str
    how: str = "fenced"
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


CASES = [
    Case("fence alone", fence(SOLUTION), SOLUTION),
    Case("prose around", f"Sure!\n\n{fence(SOLUTION)}\n\nThis adds.", SOLUTION),
    Case("no tag", fence(SOLUTION, ""), SOLUTION),
    *[
        Case(f"tag {tag!r}", fence(SOLUTION, tag), SOLUTION)
        for tag in (
            "Python", "py", "python3", "Python 3", "py3", "ipython", " python ", "{python}", "{.python .numberLines}",
            "python title=x", "python:main.py", "python copy", "solution.py", "code", "PYTHON", 'python title="a.py"',
        )
    ],
    Case("tildes", fence(SOLUTION, "python", "~~~"), SOLUTION),
    Case("tildes around back-ticks", fence("x = '''\n```\n'''", "python", "~~~"), "x = '''\n```\n'''"),
    Case("longer fence", fence("s = '''\n```\n'''", "python", "````"), "s = '''\n```\n'''"),
    Case("closing fence longer", f"```python\n{SOLUTION}\n`````", SOLUTION),
    Case("closing fence with spaces", f"```python\n{SOLUTION}\n```  \nDone.", SOLUTION),
    Case("never closed", f"Here:\n```python\n{SOLUTION}\n", SOLUTION, "incomplete_fenced"),
    Case("never closed, end token", f"```python\n{SOLUTION}<|im_end|>", SOLUTION, "incomplete_fenced"),
    Case("cut off in a line", "```python\ndef add(a, b):\n    ret", "def add(a, b):\n    ret", "incomplete_fenced"),
    Case("closed at the end of code", f"```python\n{SOLUTION}```", SOLUTION),
    Case("closed, end token", f"{fence(SOLUTION)}<|endoftext|>", SOLUTION),
    Case("closed, </s>", f"{fence(SOLUTION)}</s>", SOLUTION),
    Case("fence with nothing after", "```python", "", "empty"),
    Case("empty fence", "```python\n```", "", "empty"),
    Case("empty fence, then code", f"```python\n\n```\n{fence(SOLUTION)}", SOLUTION),
    Case("one line", "```python print(1)```", "print(1)"),
    Case("one line without tag", "```print(1)```", "print(1)"),
    # several blocks
    Case("example of use after", f"{fence(SOLUTION)}\nUsage:\n{fence(EXAMPLE)}", SOLUTION),
    Case("example of use before", f"{fence(EXAMPLE)}\n{fence(SOLUTION)}", SOLUTION),
    Case("output after", f"{fence(SOLUTION)}\nOutput:\n{fence('3', '')}", SOLUTION),
    Case("first try, then better", f"{fence(OTHER)}\nWait, no:\n{fence(SOLUTION)}", SOLUTION),
    Case("tests after", f"{fence(SOLUTION)}\n{fence(TEST)}", SOLUTION),
    Case("script that reads input", f"{fence(READER)}\n{fence('x = 3')}", READER),
    Case("only pieces", f"{fence('x = 1')}\n{fence('y = 2')}", "y = 2"),
    Case("entry point in the first", f"{fence(SOLUTION)}\n{fence(OTHER)}", SOLUTION, options=ADD),
    Case("entry point twice", f"{fence(SOLUTION)}\n{fence(SOLUTION + '  # 2')}", SOLUTION + "  # 2", options=ADD),
    Case("entry point assigned", f"{fence(LAMBDA)}\n{fence(OTHER)}", LAMBDA, options=ADD),
    Case("entry point only called", f"{fence(SOLUTION)}\n{fence(MAIN)}", SOLUTION, options=ADD),
    Case("entry point of a class", f"{fence(METHOD)}\n{fence(OTHER)}", METHOD, options=METHOD_ADD),
    Case("entry point is a method", f"{fence(METHOD)}\n{fence(OTHER)}", METHOD, options=ADD),
    Case("entry point nowhere", f"{fence(SOLUTION)}\n{fence(EXAMPLE)}", SOLUTION, options={"entry_points": ["mul"]}),
    Case("entry point like a regular expression", f"{fence(SOLUTION)}", SOLUTION, options={"entry_points": ["a.*(+"]}),
    Case("whole before cut off", f"{fence(SOLUTION)}\n```python\ndef add(a, b):\n    ret", SOLUTION),
    Case("tagged before untagged", f"{fence(SOLUTION)}\n{fence('def add(a, b): ...', '')}", SOLUTION),
    Case("other language ignored", f"{fence('ls', 'bash')}\n{fence(SOLUTION)}\n{fence('{}', 'json')}", SOLUTION),
    Case("other language beside untagged", f"{fence('int x;', 'cpp')}\n{fence(SOLUTION, '')}", SOLUTION),
    Case("other language alone", fence("int x;", "cpp"), "int x;"),
    Case("unknown tag before other language", f"{fence(SOLUTION, 'weird')}\n{fence('int x;', 'cpp')}", SOLUTION),
    Case("for another language", f"{fence(SOLUTION)}\n{fence('int x;', 'c++')}", "int x;", options={"language": "cpp"}),
    Case("last", f"{fence(SOLUTION)}\n{fence(EXAMPLE)}", EXAMPLE, options={"choose": "last"}),
    Case("first", f"{fence(SOLUTION)}\n{fence(OTHER)}", SOLUTION, options={"choose": "first"}),
    Case("longest", f"{fence(EXAMPLE)}\n{fence(SOLUTION)}\n{fence('x')}", SOLUTION, options={"choose": "longest"}),
    Case("last passes over output", f"{fence(SOLUTION)}\n{fence('3', '')}", SOLUTION, options={"choose": "last"}),
    # reasoning
    Case("reasoning skipped", f"<think>\nFirst:\n{fence(OTHER)}\n</think>\n{fence(SOLUTION)}", SOLUTION),
    Case("reasoning with an open fence", f"<think>\n```python\ndef\n</think>\n{fence(SOLUTION)}", SOLUTION),
    Case("reasoning by the template", f"I think so.\n{fence(OTHER)}\n</think>\n{fence(SOLUTION)}", SOLUTION),
    Case("reasoning ends in a line", f"so that is it.</think>{fence(SOLUTION)}", SOLUTION),
    Case("reasoning alone", f"<think>\n{fence(SOLUTION)}\n</think>\n", "", "empty"),
    Case("reasoning cut off", f"<think>\n{fence(SOLUTION)}\nBut wait", "", "empty"),
    Case("code, then reasoning cut off", f"{fence(SOLUTION)}\n<think>\nBut wait\n{fence(OTHER)}", SOLUTION),
    Case("two sections", f"<think>a</think>\n{fence(OTHER)}\n<think>b</think>\n{fence(SOLUTION)}", SOLUTION),
    Case("<reasoning>", f"<reasoning>{fence(OTHER)}</reasoning>{fence(SOLUTION)}", SOLUTION),
    Case("<thought>", f"<thought>\n{fence(OTHER)}\n</thought>\n{fence(SOLUTION)}", SOLUTION),
    Case("◁think▷", f"◁think▷\n{fence(OTHER)}\n◁/think▷\n{fence(SOLUTION)}", SOLUTION),
    Case("<THINK>", f"<THINK>\n{fence(OTHER)}\n</THINK>\n{fence(SOLUTION)}", SOLUTION),
    Case("other tags in reasoning", f"<think>\nuse </reasoning> or <answer>\n</think>\n{fence(SOLUTION)}", SOLUTION),
    Case("reasoning quoted", f"The tag `</think>` ends it. Not `<think>` either.\n{fence(SOLUTION)}", SOLUTION),
    Case("tag in code", fence("a = s.split('</think>')[-1]"), "a = s.split('</think>')[-1]"),
    Case("tag in a comment", fence("# after </think>\nx = 1"), "# after </think>\nx = 1"),
    Case("tag in a line of code", fence("x = 1 </think> 2"), "x = 1 </think> 2"),
    Case("opening tag in a block", fence("x = '''\n<think>\n'''"), "x = '''\n<think>\n'''"),
    Case("tag in bare code", "a = s.split('</think>')[-1]", "a = s.split('</think>')[-1]", "bare"),
    Case("bare code after reasoning", f"<think>hm</think>\n\n{SOLUTION}", SOLUTION, "bare"),
    Case("answer tags", f"<think>x</think><answer>{fence(SOLUTION)}</answer>", SOLUTION),
    Case("answer tags around bare code", f"<answer>\n{SOLUTION}\n</answer>", SOLUTION + "\n", "bare"),
    # indentation
    Case("in a list", "1. Do this:\n   ```python\n   def f():\n       return 1\n   ```", "def f():\n    return 1"),
    Case("beside the bullet", "- ```python\n  def f():\n      return 1\n  ```", "def f():\n    return 1"),
    Case("in a list, code at the margin", f"1. Do:\n   ```python\n{SOLUTION}\n   ```", SOLUTION),
    Case("in a list, with tabs", "1. Do:\n\t```python\n\tdef f():\n\t\treturn 1\n\t```", "def f():\n\treturn 1"),
    Case("closing fence indented", "```python\nx = 1\n   ```\nDone.", "x = 1"),
    Case("blank lines in an indented block", "  ```py\n  if a:\n\n      b\n  ```", "if a:\n\n    b"),
    # lines and bytes
    Case("CRLF", fence(SOLUTION).replace("\n", "\r\n"), SOLUTION),
    Case("lone CR", fence(SOLUTION).replace("\n", "\r"), SOLUTION),
    Case("byte order mark", "\ufeff" + fence(SOLUTION), SOLUTION),
    Case("NUL bytes", fence("x = '\0'"), "x = '\0'"),
    Case("other line separators", fence("x = '\u2028\x0b\x85'"), "x = '\u2028\x0b\x85'"),
    # fences in code
    Case("back-ticks in a string", fence(IN_STRINGS), IN_STRINGS),
    Case("fences in a docstring", fence(DOCSTRING), DOCSTRING),
    Case("fences in a docstring at the margin", fence(AT_MARGIN), AT_MARGIN),
    Case("tagged fence in a docstring", fence(NARROW_DOCSTRING), NARROW_DOCSTRING),
    Case("string that never ends", f"{fence('x = ' + chr(39) * 3)}\nBetter:\n{fence(SOLUTION)}", SOLUTION),
    Case("next block begins in an open one", f"```python\nx = 1\n\nNow:\n{fence(SOLUTION)}", SOLUTION),
    Case("Markdown in Markdown", f"````markdown\n# Answer\n{fence(SOLUTION)}\n````", SOLUTION),
    Case("Markdown in the same fence", f"```markdown\n{fence(SOLUTION)}\n```", SOLUTION),
    Case("bare code with fences in its docstring", DOCSTRING, DOCSTRING, "bare"),
    # no fence
    Case("bare", SOLUTION + "\n", SOLUTION + "\n", "bare"),
    Case("bare line", "print(input()[::-1])", "print(input()[::-1])", "bare"),
    Case("bare value", "42", "42", "bare"),
    Case("bare, broken", "def add(a, b:\n    return a + b", "def add(a, b:\n    return a + b", "bare"),
    Case("bare, indented by one", " def add(a, b):\n     return a + b", SOLUTION, "bare"),
    Case("bare module docstring", MODULE_DOCSTRING, MODULE_DOCSTRING, "bare"),
    Case("bare comments", COMMENTS, COMMENTS, "bare"),
    Case("bare with text in strings", TEXTS, TEXTS, "bare"),
    Case("bare with lines of names", NAMES, NAMES, "bare"),
    Case("bare match", MATCH, MATCH, "bare"),
    Case("prose before bare code", f"Here is the function:\n\n{SOLUTION}", SOLUTION, "bare"),
    Case("prose around bare code", f"Here's the code:\n\n{SOLUTION}\n\nThis works since it adds.", SOLUTION, "bare"),
    Case("prose between bare code", f"We import.\nimport sys\n\nThen this:\n{LONGER}\n\nThat is it.", LONGER, "bare"),
    Case("bare entry point", f"Helper first:\n{OTHER}\n\nx = 1\n\nThen this one:\n{SOLUTION}\n", SOLUTION, "bare", ADD),
    Case("indented code block", f"The answer is this:\n\n    {INDENTED}\n\nDone.", SOLUTION, "bare"),
    Case("prose in another script", f"下面是代码\uff1a\n{SOLUTION}\n完成。", SOLUTION, "bare"),
    Case("Markdown lists around", f"1. Read it\n2. Add it\n\n{SOLUTION}\n\n**Complexity:** constant", SOLUTION, "bare"),
    Case("console session", f"{fence(SOLUTION)}\n{fence('>>> f(1)', 'pycon')}", SOLUTION),
    Case("prose alone", "I cannot solve this problem. Sorry about that.", "", "empty"),
    Case("bare C++", "int main() { return 0; }", "int main() { return 0; }", "bare", {"language": "cpp"}),
    Case("nothing", "", "", "empty"),
    Case("white space", " \n\t\n", "", "empty"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_takes_the_program_out(case: Case) -> None:
    found = extract(case.answer, **case.options)
    assert (found.code, found.how) == (case.code, case.how)
