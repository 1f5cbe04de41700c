"""Responses to completion prompts, in every form that models give them: all must make the program of the data."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conftest import ThirdParty

from scalebox.core.sample import STOP
from scalebox.gate.complete import complete
from scalebox.gate.extract import extract_after

pytestmark = pytest.mark.fidelity

#: Each suite, its records, and the solutions in them.
SUITES = {"humaneval": (82, 82), "humanevalplus": (82, 82), "humanevalpack_python": (82, 164)}

#: Each program in a fork; prints whether it ended by itself and without an exception.
_RUN = """
import json, os, resource, sys
sys.set_int_max_str_digits(0)
for code in json.load(sys.stdin):
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        status = 1
        try:
            exec(compile(code, "program", "exec"), {"__name__": "program"})
            status = 0
        finally:
            os._exit(status)
    print(int(os.waitpid(pid, 0)[1] == 0), flush=True)
"""


def _passed(programs: list[str]) -> list[bool]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN], input=json.dumps(programs), capture_output=True, text=True, check=True
    )
    return [line == "1" for line in done.stdout.split()]


def _fenced(code: str) -> str:
    return f"```python\n{code}\n```"


def _forms(prompt: str, body: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield forms in which a model may give `body`, which completes the function `name` of `prompt`."""
    yield "the rest", body
    yield "the rest, stripped", body.strip()
    yield "the rest, and an end token", body + "<|endoftext|>"
    yield "the rest, run on", f"{body.rstrip()}\n\n\ndef other(x):\n    return {name}(x\n"
    yield "the rest, with tests", f"{body.rstrip()}\n\nif __name__ == '__main__':\n    {name}(\n"
    yield "the rest, with a call", f"{body.rstrip()}\n\nprint({name}(1)"
    yield "the rest, explained", f"{body.rstrip()}\n\nThis function computes what the docstring says.\n"
    yield "the rest, a fence closed", f"{body.rstrip()}\n```\n\nThis is it. Or do it so:\n```\n{name} = None\n```"
    yield "the rest, fenced", f"Here is the body:\n\n{_fenced(body)}"
    yield "the rest, fenced at the margin", _fenced(textwrap.dedent(body.strip("\n")))
    yield "the rest, indented by two", _fenced(textwrap.indent(textwrap.dedent(body.strip("\n")), "  "))
    whole = prompt + body
    yield "all, bare", whole
    yield "all, fenced", f"Sure!\n\n{_fenced(whole)}\n\nFor example:\n{_fenced(f'print({name}(1))')}"
    yield "all, in words", f"Here is the solution:\n\n{whole.strip()}\n\nIt works since it was tested."
    function = whole[whole.rindex(f"def {name}(") :]
    yield "the function alone", _fenced(function)
    yield "the function alone, bare", function
    yield "the function alone, reasoned", f"<think>\nhm\n{_fenced('x')}\n</think>\n{_fenced(function)}"
    yield "the function alone, from the future", _fenced(f"from __future__ import annotations\n\n{function}")


def _programs(record: dict[str, Any], body: str) -> Iterator[tuple[str, str]]:
    """Yield the form and the program for each form of a candidate, and for the code as it is."""
    name = record["entry_point"]
    for prompt in dict.fromkeys([record["prefix"], record["prompt"], record["prompt"].strip()]):
        for entry_points in ((name,), ()):
            for form, response in _forms(prompt if prompt.endswith("\n") else prompt + "\n", body, name):
                found = extract_after(prompt, response, stop=STOP, entry_points=entry_points)
                yield form, found.code
        yield "code", complete(prompt, body, [name])
        yield "code, all", complete(prompt, record["prompt"] + body, [name])


@pytest.mark.parametrize("suite", SUITES)
def test_every_form_makes_the_program(third_party: ThirdParty, suite: str) -> None:
    checks = {record["pid"]: record["suffix"] for record in third_party("function/humaneval.jsonl.zst")}
    records = list(third_party(f"function/{suite}.jsonl.zst"))
    errors, count, runs = [], 0, 0
    for record in records:
        suffix = checks[record["pid"]] if suite == "humanevalplus" else record["suffix"]
        for candidate in record["candidates"]:
            count += 1
            programs: dict[str, tuple[str, str]] = {}
            for form, program in _programs(record, candidate["code"]):
                try:
                    programs.setdefault(ast.dump(ast.parse(program)), (form, program))
                except SyntaxError as error:
                    errors.append(f"{record['id']}: {form}: {error}\n{program}")
            runs += len(programs)
            results = _passed([f"{program}\n{suffix}" for _, program in programs.values()])
            errors += [
                f"{record['id']}/{candidate['kind']}: {form} {'passes' if passed else 'fails'}\n{program}"
                for (form, program), passed in zip(programs.values(), results, strict=True)
                if passed != (candidate["label"] == "pass")
            ]
    print(f"{suite}: {count} solutions, {runs} different programs run, {len(errors)} errors")
    assert (len(records), count) == SUITES[suite]
    assert not errors, "\n\n".join(errors[:5])


def test_a_class_is_repeated_with_the_prompt_s_imports(third_party: ThirdParty) -> None:
    records = list(third_party("function/classeval.jsonl.zst"))
    errors = []
    for record in records:
        name, code = record["class_name"], record["candidates"][0]["code"]
        wanted = {ast.dump(node) for node in ast.parse(code).body}
        heads = [line for line in record["prompt"].split("\n") if line.startswith(("import ", "from "))]
        wanted |= {ast.dump(ast.parse(line).body[0]) for line in heads}
        for entry_points in ((name,), ()):
            for response in (_fenced(code), code, f"Here is the class:\n\n{code}\n\nIt does what was asked."):
                made = extract_after(record["prompt"], response, stop=STOP, entry_points=entry_points).code
                body = ast.parse(made).body
                classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
                if classes.count(name) != 1 or not wanted <= {ast.dump(node) for node in body}:
                    errors.append(f"{record['id']}\n{made}")
    assert len(records) == 50
    assert not errors, "\n\n".join(errors[:5])
