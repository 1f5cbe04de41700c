"""SandboxFusion's `/submit` and what goes with it, by the rows that a request carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

Post = Callable[[str, dict[str, Any]], dict[str, Any]]

RESULT = {
    "id", "accepted", "extracted_code", "full_code", "test_code", "tests", "extracted_type", "extra",
}  # fmt: skip
PROGRAM = "```python\n{}\n```"


def oj(completion: str, *cases: tuple[str, str], language: str = "python", **config: Any) -> dict[str, Any]:
    tests = [{"id": 1, "input": {"stdin": one}, "output": {"stdout": other}} for one, other in cases]
    data = {"dataset_type": "CommonOJDataset", "language": language, "provided_data": {"test": tests}, **config}
    return {"dataset": "any", "id": 7, "completion": completion, "config": data}


def row(kind: str, completion: str, data: dict[str, Any], **config: Any) -> dict[str, Any]:
    return {"dataset": "any", "id": "r", "completion": completion,
            "config": {"dataset_type": kind, "provided_data": data, **config}}  # fmt: skip


def test_the_shape_is_sandbox_fusions(ask: Post) -> None:
    answer = ask("/submit", oj(PROGRAM.format("print(int(input()) * 2)"), ("21", "42")))
    assert set(answer) == RESULT
    assert (answer["id"], answer["accepted"], answer["full_code"], answer["test_code"]) == (7, True, None, None)
    assert answer["extracted_code"].strip() == "print(int(input()) * 2)"
    (test,) = answer["tests"]
    assert test["passed"] is True
    assert test["test_info"] == {"input": {"stdin": "21"}, "output": {"stdout": "42"}}
    assert test["exec_info"]["status"] == "Success"
    assert test["exec_info"]["run_result"]["stdout"] == "42\n"


@pytest.mark.parametrize(
    ("printed", "expected", "accepted"),
    [
        ("'3 '", "3", True),
        ("'YES'", "yes", True),
        ("'0.33333333'", "0.333333331", True),
        ("'3'", "3.0", True),
        ("'1'", "1\n2\n3", False),
        ("'1\\n2\\n3\\n4'", "1\n2\n3", False),
        ("'1\\n2\\n3'", "1 2 3", False),
        ("1000000008", "1000000007", False),
        ("''", "1", False),
        ("'NO'", "yes", False),
    ],
)
def test_outputs(ask: Post, printed: str, expected: str, accepted: bool) -> None:
    assert ask("/submit", oj(PROGRAM.format(f"print({printed})"), ("", expected)))["accepted"] is accepted


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(1)",
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "def f(:",
        "import signal; signal.alarm(0)\nprint(1)\nraise ValueError",
    ],
)
def test_no_way_around_the_answer(ask: Post, code: str) -> None:
    answer = ask("/submit", oj(PROGRAM.format(code), ("", "1")))
    assert (answer["accepted"], answer["tests"][0]["passed"]) == (False, False)


def test_a_crash_with_nothing_expected_is_not_accepted(ask: Post) -> None:
    answer = ask("/submit", oj(PROGRAM.format("raise ValueError"), ("", "")))
    assert answer["accepted"] is False
    assert answer["tests"][0]["exec_info"]["status"] == "Failed"


def test_prose_is_not_accepted(ask: Post) -> None:
    answer = ask("/submit", oj("I do not know how to do it.", ("", "")))
    assert (answer["accepted"], answer["extracted_code"], answer["extracted_type"]) == (False, "", "empty")


def test_a_child_that_holds_the_output_delays_nothing(ask: Post) -> None:
    code = "import subprocess\nsubprocess.Popen(['sleep', '60'])\nprint(1)"
    assert ask("/submit", oj(PROGRAM.format(code), ("", "1")))["accepted"] is True


def test_cases_share_no_state(ask: Post) -> None:
    code = "import collections\ncollections.n = getattr(collections, 'n', 0) + 1\nprint(collections.n)"
    assert ask("/submit", oj(PROGRAM.format(code), ("", "1"), ("", "1"), ("", "1")))["accepted"] is True


def test_it_stops_at_the_first_failure_unless_all_are_asked_for(ask: Post) -> None:
    cases = [("1", "1"), ("2", "0"), ("3", "3")]
    body = oj(PROGRAM.format("print(input())"), *cases)
    assert [test["passed"] for test in ask("/submit", body)["tests"]] == [True, False]
    body = oj(PROGRAM.format("print(input())"), *cases, extra={"run_all_cases": True})
    assert [test["passed"] for test in ask("/submit", body)["tests"]] == [True, False, True]


def test_long_texts_are_told_in_short(ask: Post) -> None:
    body = oj(PROGRAM.format("print(len(input()))"), ("x" * 5000, "5000"))
    assert len(ask("/submit", body)["tests"][0]["test_info"]["input"]["stdin"]) == 1000
    body["config"]["extra"] = {"return_full_case": True}
    assert len(ask("/submit", body)["tests"][0]["test_info"]["input"]["stdin"]) == 5000


def test_cpp(ask: Post, needs: Callable[[str], None]) -> None:
    needs("cpp")
    code = "```cpp\n#include <iostream>\nint main() { int a; std::cin >> a; std::cout << a * 2; }\n```"
    answer = ask("/submit", oj(code, ("21", "42"), ("2", "4"), language="cpp", compile_timeout=60))
    assert answer["accepted"] is True, answer
    assert answer["tests"][0]["exec_info"]["compile_result"]["return_code"] == 0


CHECK = "def check(candidate):\n    assert candidate(21) == 42\n    assert candidate(0) == 0\n"
PROMPT = 'def twice(x):\n    """Return twice x."""\n'
WRONG_EQUAL = "class Any(int):\n    def __eq__(self, other): return True\ndef twice(x): return Any(1)"


@pytest.mark.parametrize(
    ("completion", "accepted"),
    [
        ("    return 2 * x\n", True),
        (PROGRAM.format("def twice(x):\n    return 2 * x"), True),
        (PROGRAM.format("def twice(x):\n    return math.floor(2 * x)"), True),
        ("    return 3 * x\n", False),
        (PROGRAM.format(WRONG_EQUAL), False),
        (PROGRAM.format("import os; os._exit(0)"), False),
        (PROGRAM.format("import sys; sys.exit(0)"), False),
    ],
)
def test_human_eval(ask: Post, completion: str, accepted: bool) -> None:
    data = {"task_id": "HumanEval/x", "prompt": PROMPT, "test": CHECK, "entry_point": "twice"}
    answer = ask("/submit", row("HumanEvalDataset", completion, data))
    assert answer["accepted"] is accepted, answer
    assert len(answer["tests"]) == 1


@pytest.mark.parametrize(("factor", "accepted"), [(2, True), (3, False)])
def test_mbpp(ask: Post, factor: int, accepted: bool) -> None:
    data = {"id": 1, "content": "Twice.", "test": '["assert twice(21) == ANSWER", "assert twice(0) == 0"]',
            "labels": {"test_setup_code": "ANSWER = 42"}}  # fmt: skip
    completion = PROGRAM.format(f"def twice(x):\n    return {factor} * x")
    assert ask("/submit", row("MBPPDataset", completion, data))["accepted"] is accepted


@pytest.mark.parametrize(("factor", "accepted"), [(2, True), (3, False)])
def test_auto_eval(ask: Post, factor: int, accepted: bool) -> None:
    data = {"id": 1, "content": "", "test": {"code": "assert twice(21) == 42"},
            "labels": {"programming_language": "python"}}  # fmt: skip
    code = f"def twice(x):\n    return {factor} * x\n\nif __name__ == '__main__':\n    raise SystemExit(0)"
    assert ask("/submit", row("AutoEvalDataset", PROGRAM.format(code), data))["accepted"] is accepted


@pytest.mark.parametrize(("factor", "accepted"), [(2, True), (3, False)])
@pytest.mark.parametrize("by_call", [True, False])
def test_live_code_bench(ask: Post, factor: int, accepted: bool, by_call: bool) -> None:
    call = f"class Solution:\n    def twice(self, x: List[int]) -> int:\n        return {factor} * x[0]"
    code, given = (call, "[21, 1]") if by_call else (f"print({factor} * int(input()))", "21")
    test = {"inputs": [given], "outputs": ["42"]} | ({"fn_name": "twice"} if by_call else {})
    data = {"id": 1, "content": "", "test": test, "labels": {}}
    assert ask("/submit", row("LiveCodeBenchDataset", PROGRAM.format(code), data))["accepted"] is accepted


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (oj("x"), 422, "no tests"),
        (oj("x", ("", "1"), language="cobol"), 422, "cobol"),
        (oj("x", ("", "1"), language="cuda"), 422, "cuda"),
        (row("CommonOJDataset", "x", {"test": [{}]}, language="python"), 422, "test[0]"),
        (row("CommonOJDataset", "x", {"id": 1}, language="python"), 422, "test"),
        (oj("x", ("", "1"), custom_extract_logic="submit_code_blocks([])"), 400, "custom_extract_logic"),
        (row("NoSuchDataset", "x", {"id": 1}), 400, "NoSuchDataset"),
        ({"dataset": "humaneval_python", "id": 0, "completion": "", "config": {}}, 400, "humaneval_python"),
        ({"dataset": "d", "id": 0, "completion": "", "config": {"dataset_type": "MBPPDataset"}}, 400, "provided_data"),
    ],
)
def test_what_cannot_be_judged(http: httpx.Client, body: dict[str, Any], status: int, words: str) -> None:
    answer = http.post("/submit", json=body)
    assert answer.status_code == status, answer.text
    assert words in str(answer.json()["detail"])


def test_prompts(http: httpx.Client, ask: Post) -> None:
    rows: list[dict[str, Any]] = [
        {"id": number, "content": f"Problem {number}.", "labels": {"a": 1}, "test": []} for number in (1, 2)
    ]
    config = {"dataset_type": "CommonOJDataset", "language": "cpp", "provided_data": rows}
    body = {"dataset": "any", "config": config}
    assert http.post("/list_ids", json=body).json() == [1, 2]
    found = http.post("/get_prompts", json=body).json()
    assert [prompt["id"] for prompt in found] == [1, 2]
    assert found[0]["prompt"].startswith("Problem 1.")
    assert "cpp" in found[0]["prompt"]
    assert http.post("/get_prompts", json={**body, "offset": 1, "limit": 1}).json() == found[1:]
    assert ask("/get_prompt_by_id", {**body, "id": 2}) == found[1]
    assert http.post("/get_prompt_by_id", json={**body, "id": 3}).status_code == 404
    assert http.get("/list_datasets").json() == []
    assert ask("/get_metrics", {**body, "results": []}) == {}
    assert ask("/get_metrics_function", body) == {"function": None}
