"""ScaleBox-ACL's requests, its documentation's examples first, each with the verdict that is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

Post = Callable[[str, dict[str, Any]], dict[str, Any]]


def python(code: str) -> str:
    return f"```python\n{code}\n```"


def batch(completion: str, tests: dict[str, Any], language: str = "python", **extra: Any) -> dict[str, Any]:
    config = {"language": language, "provided_data": {"test_cases": tests}, "extra": extra, "compile_timeout": 60}
    return {"completion": completion, "config": config}


def stdio(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    return {"type": "stdin_stdout", "input": [a for a, _ in pairs], "output": [b for _, b in pairs], "fn_name": None}


def calls(name: str, pairs: list[tuple[Any, Any]], **more: Any) -> dict[str, Any]:
    inputs, outputs = [a for a, _ in pairs], [b for _, b in pairs]
    return {"type": "function_call", "input": inputs, "output": outputs, "fn_name": name, "json_input": False, **more}


SUM = [("1 2", "3"), ("3 4", "7")]


@pytest.mark.parametrize(("sign", "accepted"), [("+", True), ("-", False)])
def test_by_output(ask: Post, sign: str, accepted: bool) -> None:
    code = python(f"a, b = map(int, input().split())\nprint(a {sign} b)")
    answer = ask("/common_evaluate_batch", batch(code, stdio(SUM), run_all_cases=True))
    assert (answer["id"], answer["accepted"]) == (0, accepted)
    assert [test["passed"] for test in answer["tests"]] == [accepted] * 2
    assert answer["tests"][0]["test_info"] == {"input": {"stdin": "1 2"}, "output": {"stdout": "3"}}


@pytest.mark.parametrize(("sign", "accepted"), [("+", True), ("-", False)])
def test_by_calls(ask: Post, sign: str, accepted: bool) -> None:
    tests = calls("add", [([1, 2], [3]), ([3, 4], [7])])
    code = python(f"def add(a, b):\n    return a {sign} b")
    answer = ask("/common_evaluate_batch", batch(code, tests, run_all_cases=True, total_timeout=1))
    assert answer["accepted"] is accepted
    assert answer["tests"][1]["test_info"] == {
        "type": "function_call",
        "fn_name": "add",
        "input": [3, 4],
        "output": [7],
    }
    run = answer["tests"][0]["exec_info"]["run_result"]
    assert (run["return_code"], "AssertionError" in run["stderr"]) == ((0, False) if accepted else (1, True))


JUDGE = """import sys

def lines(path):
    with open(path) as file:
        return file.read().strip().split("\\n")

a, b = map(int, lines("answer.txt")[0].split())
lines("stdout.txt")
sys.exit(0 if a + b == int(lines("stdin.txt")[0]) else 1)
"""


@pytest.mark.parametrize(
    ("code", "passed"),
    [
        ("c = int(input())\nprint(c - 1, 1)", [True, True]),
        ("c = int(input())\nprint(1, 2)", [True, False]),
        ("print('no numbers')", [False, False]),
        ("import os; os._exit(0)", [False, False]),
    ],
)
def test_a_special_judge(ask: Post, code: str, passed: list[bool]) -> None:
    extra: dict[str, Any] = {"run_all_cases": True, "special_judge_program": JUDGE, "special_judge_language": "python"}
    answer = ask("/common_evaluate_batch", batch(python(code), stdio([("3", "1 2"), ("7", "3 4")]), **extra))
    assert [test["passed"] for test in answer["tests"]] == passed
    assert answer["accepted"] is all(passed)


def test_the_jurys_own_output_needs_no_judge(ask: Post) -> None:
    tests = stdio([("3", "1 2")])
    answer = ask("/common_evaluate_batch", batch(python("print(1, 2)"), tests, special_judge_program="1 / 0"))
    assert answer["accepted"] is True
    assert (answer["tests"][0]["exec_info"]["status"], answer["extra"]["verdict"]) == ("Success", "passed")
    answer = ask("/common_evaluate_batch", batch(python("print(2, 1)"), tests, special_judge_program="1 / 0"))
    assert answer["accepted"] is False
    assert answer["tests"][0]["exec_info"]["status"] == "SandboxError"


def test_a_special_judge_in_cpp(ask: Post, needs: Callable[[str], None]) -> None:
    needs("cpp")
    judge = (
        '#include <fstream>\nint main() { int a, b, c; std::ifstream("answer.txt") >> a >> b;'
        ' std::ifstream("stdin.txt") >> c; return a + b != c; }'
    )
    extra: dict[str, Any] = {"special_judge_program": judge, "special_judge_language": "cpp"}
    for code, accepted in (("print(2, 1)", True), ("print(2, 2)", False)):
        answer = ask("/common_evaluate_batch", batch(python(code), stdio([("3", "1 2")]), **extra))
        assert answer["accepted"] is accepted, answer


NOT_PRIME = """#include <bits/stdc++.h>
using namespace std;

bool splits(long a, long b) {
    return b == b / a * a;
}

bool is_not_prime(long n) {
    if (n <= LEAST) return true;
    for (long i = 2; i * i <= n; i += 1)
        if (splits(i, n))
            return true;
    return false;
}"""
MULTIPLE = """}
int main() {
    auto candidate = is_not_prime;
    assert(candidate((2)) == (false));
    assert(candidate((10)) == (true));
    assert(candidate((37)) == (false));
}
"""


@pytest.mark.parametrize(("least", "accepted"), [(1, True), (2, False)])
def test_multiple_e_in_cpp(ask: Post, needs: Callable[[str], None], least: int, accepted: bool) -> None:
    needs("cpp")
    tests = {"type": "assert", "tests": MULTIPLE, "stop_tokens": ["\n}"]}
    body = batch(
        "```cpp\n" + NOT_PRIME.replace("LEAST", str(least)) + "\n```", tests, "cpp", run_all_cases=True, total_timeout=1
    )
    answer = ask("/common_evaluate_batch", body)
    assert answer["accepted"] is accepted, answer
    (test,) = answer["tests"]
    assert test["test_info"] is None
    assert test["exec_info"]["compile_result"]["return_code"] == 0
    assert test["exec_info"]["status"] == ("Success" if accepted else "Failed")


IS_PRIME = "def is_prime(n):\n    return n > {} and all(n % i for i in range(2, n))"
CHECK = (
    "\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate(6) == False\n"
    "    assert candidate(101) == True\n"
    "    assert candidate(1) == False\n    assert candidate(5 * 17) == False\n\n"
)


@pytest.mark.parametrize(("least", "accepted"), [(1, True), (0, False)])
def test_human_eval(ask: Post, least: int, accepted: bool) -> None:
    tests = {"type": "assert", "test": CHECK, "entry_point": "is_prime"}
    answer = ask("/common_evaluate_batch", batch(python(IS_PRIME.format(least)), tests))
    assert answer["accepted"] is accepted
    assert "check(is_prime)" in answer["full_code"]


CHEATS = [
    "import sys\nsys.exit(0)",
    "import os\nos._exit(0)",
    "class Any:\n    def __eq__(self, other): return True\ndef add(a, b): return Any()",
    "import sys\ndef add(a, b): return sys._getframe(1).f_locals.get('expected', 3)",
    "def add(a, b): raise ValueError",
    "import builtins\nbuiltins.AssertionError = SystemExit\ndef add(a, b): return 0",
]


@pytest.mark.parametrize("code", CHEATS)
def test_cheats_fail(ask: Post, code: str) -> None:
    tests = calls("add", [([1, 2], [3]), ([3, 4], [7])])
    answer = ask("/common_evaluate_batch", batch(python(code), tests, run_all_cases=True))
    assert answer["accepted"] is False
    assert [test["passed"] for test in answer["tests"]][1] is False


@pytest.mark.parametrize(
    ("code", "pairs"),
    [
        ("class Solution:\n    def f(self, nums: List[int]) -> int:\n        return sum(nums)", [([[1, 2]], [3])]),
        ("def f(x):\n    return x", [(["a"], ["a"]), ([None], [None]), ([[1]], [[1]]), ([True], [True])]),
        ("def f(x):\n    return (x, x)", [([1], [[1, 1]])]),
        ("def f():\n    return []", [([], [[]])]),
    ],
)
def test_values(ask: Post, code: str, pairs: list[tuple[Any, Any]]) -> None:
    assert ask("/common_evaluate_batch", batch(python(code), calls("f", pairs)))["accepted"] is True


@pytest.mark.parametrize("end", ["", "\n"])
def test_arguments_as_json_lines(ask: Post, end: str) -> None:
    tests = calls("f", [(f'[1, 2]\n"x"{end}', '[3, "x"]')], json_input=True)
    code = python("def f(numbers, text):\n    return [sum(numbers), text]")
    assert ask("/common_evaluate_batch", batch(code, tests))["accepted"] is True


CALLS = {
    "cpp": "int add(int a, int b) { return a + b; }",
    "java": "public static int add(int a, int b) { return a + b; }",
    "go": "func add(a int, b int) int { return a + b }",
    "javascript": "function add(a, b) { return a + b; }",
    "typescript": "function add(a: number, b: number): number { return a + b; }",
    "rust": "fn add(a: i32, b: i32) -> i32 { a + b }",
    "bash": "add() { echo $(($1 + $2)); }",
    "ruby": "def add(a, b)\n  a + b\nend",
    "php": "function add($a, $b) { return $a + $b; }",
    "perl": "sub add { return $_[0] + $_[1]; }",
    "lua": "function add(a, b) return a + b end",
    "racket": "#lang racket\n(define (add a b) (+ a b))",
}


#: Their toolchains are slow to start, or to make ready.
SLOW = ("java", "rust", "typescript", "racket")


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=[pytest.mark.fidelity] if name in SLOW else []) for name in CALLS]
)
def test_calls_in_other_languages(ask: Post, needs: Callable[[str], None], language: str) -> None:
    needs("typescript-transpile" if language == "typescript" else language)
    for expected, accepted in ((3, True), (4, False)):
        tests = calls("add", [([1, 2], [expected])])
        answer = ask("/common_evaluate_batch", batch(f"```{language}\n{CALLS[language]}\n```", tests, language))
        assert answer["accepted"] is accepted, answer


SAME = {
    "bash": "same() { printf '%s' \"$1\"; }",
    "ruby": "def same(x)\n  x\nend",
    "php": "function same($x) { return $x; }",
    "perl": "sub same { return $_[0]; }",
    "lua": "function same(x) return x, 'and more' end",
    "r": "same <- function(x) x",
}
TEXTS = ["é", "😀", "a\tb\nc", "\x01\x7f", "'\"$x\\n`", "3.10", "007", "a  b"]
NUMBERS = [7, -5, 1.5, 0.1, 3.141592653589793, 123456789, 1234567890123, 100000, 123456789012345.0]


@pytest.mark.parametrize("language", SAME)
@pytest.mark.parametrize(
    ("values", "others"),
    [
        (TEXTS, ["e", "😁", "a b c", "\x01", "'", "3.1", "7", "a b"]),
        (NUMBERS, [8, 5, 1.6, 0.2, 3.141593, 123456788, 1234567890000, 100001, 123556789012345.0]),
    ],
    ids=["texts", "numbers"],
)
def test_values_that_other_languages_take_and_print(
    ask: Post, needs: Callable[[str], None], language: str, values: list[Any], others: list[Any]
) -> None:
    needs(language)
    code = f"```{language}\n{SAME[language]}\n```"
    right, wrong = ([([value], [out]) for value, out in zip(values, outs, strict=True)] for outs in (values, others))
    answer = ask("/common_evaluate_batch", batch(code, calls("same", right), language, run_all_cases=True))
    assert [test["passed"] for test in answer["tests"]] == [True] * len(values), answer
    answer = ask("/common_evaluate_batch", batch(code, calls("same", wrong), language, run_all_cases=True))
    assert [test["passed"] for test in answer["tests"]] == [False] * len(values), answer


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", "sub three { return $_[0] == 3; }"),
        ("perl", "sub three { return $_[0] == 3 ? 1 : 0; }"),
        ("lua", "function three(x) return x == 3 end"),
        ("r", "three <- function(x) x == 3"),
        ("bash", "three() { if [ $1 = 3 ]; then echo true; else echo false; fi; }"),
    ],
)
def test_what_is_true_in_other_languages(ask: Post, needs: Callable[[str], None], language: str, code: str) -> None:
    needs(language)
    pairs = [([3], [True]), ([4], [False]), ([3], [False]), ([4], [True])]
    body = batch(f"```{language}\n{code}\n```", calls("three", pairs), language, run_all_cases=True)
    assert [test["passed"] for test in ask("/common_evaluate_batch", body)["tests"]] == [True, True, False, False]


def test_a_list_of_cases(ask: Post) -> None:
    body = batch(python("print(int(input()) * 2)"), {})
    body["config"]["provided_data"] = {"test_cases": [{"type": "stdin_stdout", "input": "21", "output": "42"}]}
    assert ask("/common_evaluate", body)["accepted"] is True
    case = {"type": "function_call", "fn_name": "f", "input": [21], "output": [42]}
    body = batch(python("def f(x): return x * 2"), {})
    body["config"]["provided_data"] = {"test_cases": [case, {**case, "output": [0]}]}
    assert [test["passed"] for test in ask("/common_evaluate", body)["tests"]] == [True, False]


def test_a_list_of_cases_is_of_one_type(http: httpx.Client) -> None:
    body = batch(python("def f(x): return x * 2"), {})
    call = {"type": "function_call", "fn_name": "f", "input": [21], "output": [42]}
    body["config"]["provided_data"] = {"test_cases": [call, {**call, "type": "stdin_stdout", "output": "42"}]}
    answer = http.post("/common_evaluate", json=body)
    assert (answer.status_code, "two types" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (stdio([]), "no tests"),
        ({"type": "stdin_stdout", "input": ["1"], "output": []}, "one length"),
        ({"type": "riddle", "input": [], "output": []}, "riddle"),
        ({"type": "function_call", "input": [[1]], "output": [[1]]}, "fn_name"),
        ({"type": "function_call", "input": [1], "output": [[1]], "fn_name": "f"}, "input[0]"),
        ({"type": "assert"}, "test"),
    ],
)
def test_what_cannot_be_judged(http: httpx.Client, tests: dict[str, Any], words: str) -> None:
    answer = http.post("/common_evaluate_batch", json=batch("x", tests))
    assert answer.status_code == 422, answer.text
    assert words in str(answer.json()["detail"])


def test_seconds_for_all_tests_must_make_sense(http: httpx.Client) -> None:
    answer = http.post("/common_evaluate_batch", json=batch("x", stdio(SUM), total_timeout=-1))
    assert answer.status_code == 422
