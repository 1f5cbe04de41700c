"""Write examples/rollouts.jsonl anew: `python benchmarks/tools/build_examples.py`.

Reads HumanEval+ and MBPP+ below the folder that SCALEBOX_TEST_DATA names; takes from them the names of
functions, the inputs, and what the canonical solution answers. The model responses are our own, in answers_*.txt:

    %%% TASK FUNCTION KIND CASES [LIMIT=VALUE …] [match=MODE]
    --- ANSWER VERDICT[,VERDICT …]
    the response, as a model would write it

An answer whose name ends with "!" cheats: it tries to pass without solving the problem.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "scalebox" / "bench" / "rollouts.jsonl"
SOURCES = {
    "HumanEval": ("function/humanevalplus.jsonl.zst", "HumanEval (MIT); inputs from HumanEval+ (Apache-2.0)"),
    "Mbpp": ("function/mbppplus.jsonl.zst", "MBPP+ (Apache-2.0)"),
}
LONGEST_CASE = 240  # characters of the arguments or of the answer as text
LARGEST_NUMBER = 20_000  # of a stdin case: beyond it the slower of the right answers take long


class Problem(NamedTuple):
    """The head of a section of the answers, and its answers."""

    task: str
    function: str
    kind: str
    cases: int
    options: dict[str, str]
    answers: list[tuple[str, list[str], str]]


def problems(text: str) -> Iterator[Problem]:
    """Yield the problems of one file of answers."""
    for section in re.split(r"^%%% ", text, flags=re.MULTILINE)[1:]:
        head, _, body = section.partition("\n")
        task, function, kind, cases, *options = head.split()
        answers = []
        for answer in re.split(r"^--- ", body, flags=re.MULTILINE)[1:]:
            first, _, response = answer.partition("\n")
            name, verdicts = first.split()
            answers.append((name, verdicts.split(","), response.strip("\n")))
        yield Problem(task, function, kind, int(cases), dict(o.split("=") for o in options), answers)


def records(path: Path) -> dict[int, dict[str, Any]]:
    """Return the records of a `.jsonl.zst` file by problem number."""
    stream = zstandard.ZstdDecompressor().stream_reader(path.read_bytes())
    rows = map(json.loads, io.TextIOWrapper(stream, encoding="utf-8"))
    return {row["pid"]: row for row in rows}


def solved_cases(record: dict[str, Any], function: str) -> Iterator[tuple[list[Any], Any]]:
    """Yield arguments and the canonical answer to them, as far as the inputs are literals."""
    namespace: dict[str, Any] = {}
    source = record["prefix"] + record["candidates"][0]["code"]
    exec(source, namespace)  # noqa: S102  the data's own canonical solution, run by hand by a maintainer
    tree = ast.parse(record["suffix"])
    inputs = next(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "inputs"
    )
    for arguments in ast.literal_eval(inputs):
        yield arguments, namespace[function](*copy.deepcopy(arguments))


def call_test(function: str, arguments: list[Any], answer: Any) -> dict[str, Any] | None:
    """Return a function-call case, written as JSON where JSON can say it, or None where it is too long."""
    if max(len(repr(arguments)), len(repr(answer))) > LONGEST_CASE:
        return None
    test: dict[str, Any] = {"call": function}
    if json.loads(json.dumps([arguments, answer], allow_nan=False)) == [arguments, answer]:
        return test | {"args": arguments, "expect": answer}
    return test | {"args_repr": repr(tuple(arguments)), "expect_repr": repr(answer)}


def stdin_test(_: str, arguments: list[Any], answer: Any) -> dict[str, Any] | None:
    """Return a stdin case: one line for a number, two (count, items) for a list; None where it does not fit."""
    lines = []
    for argument in arguments:
        numbers = argument if isinstance(argument, list) else [argument]
        if not numbers or any(type(n) is not int or abs(n) > LARGEST_NUMBER for n in numbers):
            return None
        if numbers is argument:
            lines.append(str(len(numbers)))
        lines.append(" ".join(map(str, numbers)))
    text = ("NO", "YES")[answer] if isinstance(answer, bool) else str(answer)
    if len(text) + sum(map(len, lines)) > LONGEST_CASE:
        return None
    return {"stdin": "\n".join(lines) + "\n", "stdout": text + "\n"}


def tests_of(problem: Problem, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the first cases of the problem that fit, all different; fewer than it asks for is an error."""
    make: Callable[[str, list[Any], Any], dict[str, Any] | None] = call_test if problem.kind == "call" else stdin_test
    found: dict[str, dict[str, Any]] = {}
    for arguments, answer in solved_cases(record, problem.function):
        test = make(problem.function, arguments, answer)
        if test is not None:
            found.setdefault(json.dumps(test), test)
        if len(found) == problem.cases:
            return list(found.values())
    raise SystemExit(f"{problem.task}: only {len(found)} of {problem.cases} cases fit")


def samples_of(problem: Problem, record: dict[str, Any], origin: str) -> Iterator[dict[str, Any]]:
    """Yield one sample for each answer to the problem."""
    tests = tests_of(problem, record)
    limits = {key: json.loads(value) for key, value in problem.options.items() if key != "match"}
    for name, verdicts, response in problem.answers:
        sample = {"id": f"{problem.task}/{name.rstrip('!')}", "problem_id": problem.task, "language": "python"}
        sample |= {"response": response, "tests": tests}
        if limits:
            sample["limits"] = limits
        if "match" in problem.options:
            sample["match"] = {"mode": problem.options["match"]}
        yield sample | {"meta": {"origin": origin, "cheats": name.endswith("!"), "expected_verdict": verdicts}}


def main() -> None:
    """Write the file and say what is in it."""
    data = Path(os.environ["SCALEBOX_TEST_DATA"])
    loaded = {name: (records(data / path), origin) for name, (path, origin) in SOURCES.items()}
    lines = []
    for answers in sorted(HERE.glob("answers_*.txt")):
        for problem in problems(answers.read_text(encoding="utf-8")):
            source, number = problem.task.split("/")
            rows, origin = loaded[source]
            lines += [
                json.dumps(sample, ensure_ascii=False) for sample in samples_of(problem, rows[int(number)], origin)
            ]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} samples, {TARGET.stat().st_size} bytes in {TARGET}")


if __name__ == "__main__":
    main()
