"""Programs of functions as people and models write them: what is right passes, what is wrong does not."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import pytest
from tests.drivers.conftest import Call, caller, needed
from tests.drivers.samples import CASES, FUNCTIONS, program

pytestmark = pytest.mark.timeout(600)


def test_every_function_that_is_right_passes(call: Call, language: str) -> None:
    result = call(language, program(language, right=True), *CASES)
    assert [
        (CASES[int(case.id)][0], case.detail, case.stderr) for case in result.cases if case.verdict != "passed"
    ] == []
    assert (result.verdict, result.message, result.denied, result.integrity) == ("passed", "", [], "separate")


def test_every_function_that_is_wrong_fails(call: Call, language: str) -> None:
    """What a wrong function returns differs, but for one that a wrong program ends in."""
    result = call(language, program(language, right=False), *CASES)
    failed = {CASES[int(case.id)][0] for case in result.cases if case.verdict in ("assert_fail", "runtime_error")}
    assert (sorted(failed), result.stage) == (FUNCTIONS, "judge")
    assert sum(case.verdict == "assert_fail" for case in result.cases) >= len(FUNCTIONS)


@pytest.mark.parametrize(("name", "code", "case"), [
    ("cpp20", "#include <ranges>\n#include <vector>\nint f(std::vector<int> x) { int s = 0; for (int y : x | std::views::take(2))"
     " s += y; return s; }", ("f", [[1, 2, 3]], 3)),
    ("typescript-transpile", "export const f = (x: bigint): bigint => 'not checked' && x + 1n;", ("f", [1], 2)),
])  # fmt: skip
def test_variants_of_a_language_have_its_driver(
    call: Call, name: str, code: str, case: tuple[str, list[object], object]
) -> None:
    assert call(needed(name), code, case).verdict == "passed"


@pytest.mark.parametrize("name", ["cpp", "javascript"])
def test_the_process_tier_gives_the_same_labels(cache: object, name: str) -> None:
    for call in caller("process", cache):  # type: ignore[arg-type]
        result = call(needed(name), program(name, right=True), *CASES, ("join", [["a"], ","], "b"))
        assert [str(case.verdict) for case in result.cases] == ["passed"] * len(CASES) + ["assert_fail"]


@pytest.mark.parametrize(("name", "code", "cases"), [
    ("cpp", "#define int long long\nusing ll = long long;\nint f(int x) { return 2 * x; }\nint f(int x, ll y) { return x * y; }\n"
     "struct Counter { int n = 5; int add(int x) const { return n + x; } static int twice(int x) { return 2 * x; } };\n"
     "int main() { std::cout << f(1); }", [("f", [2**40], 2**41), ("f", [2**20, 2**21], 2**41), ("Counter().add", [1], 6),
                                      ("Counter.twice", [4], 8), ("add", [2], 7)]),
    ("java", "package a.b;\nimport java.util.List;\npublic class Main {\n  static class Set {}\n  static int f(int x) { return x; }\n"
     "  static int f(int x, int y) { return x + y; }\n  public static void main(String[] args) { System.out.println(f(1)); }\n"
     "  class LinkedList {}\n}\nclass ArrayList {}", [("f", [1], 1), ("Main.f", [1, 2], 3)]),
    ("rust", "#![allow(dead_code)]\nstruct Solution;\nimpl Solution {\n    fn new() -> Self { Solution }\n"
     "    fn first<'a>(&self, x: &'a [&'a str]) -> Option<&'a str> { x.first().copied() }\n}\n"
     "fn tail(x: &mut [f64]) { x[0] = 0.5; }\nmod inner { pub fn deep(x: usize) -> usize { x } }\nfn main() {}",
     [("first", [["a"]], "a"), ("Solution.first", [[]], None), ("tail", [[1, 2]], [0.5, 2]), ("inner.deep", [7], 7)]),
    ("go", "package solutions\n\nimport \"fmt\"\n\ntype Solution struct{ n int }\n\nfunc (s *Solution) Inc(x int) int { s.n++; return x + s.n }\n"
     "func both(x int) (int, error) { return x, fmt.Errorf(\"bad\") }\nfunc letter(b []byte) byte { return b[0] }\n"
     "func number(b []uint8) uint8 { return b[0] }\nfunc main() {\n\tfmt.Println(1)\n}\n",
     [("Solution.Inc", [1], 2), ("Inc", [1], 2), ("both", [1], [1, "bad"]), ("letter", [["x"]], "x"), ("number", [[7]], 7)]),
    ("javascript", "const helper = async (x) => x * 2;\nmodule.exports = { doubled: helper, big: (x) => x * 2n };\n"
     "class Solution { static one() { return 1; } two() { return 2; } }\nconsole.log('printed');",
     [("doubled", [2], 4), ("big", [2**70], 2**71), ("one", [], 1), ("Solution().two", [], 2)]),
    ("javascript", "import fs from 'fs';\nconst k = await Promise.resolve(5);\nexport function plus(x) { return x + k; }\n"
     "export const minus = (x) => x - k;\nexport default { times: (x) => x * k };\n// no line's end",
     [("plus", [1], 6), ("minus", [6], 1), ("times", [2], 10)]),
    ("javascript", "export default class Solution { twice(x) { return 2 * x; } }", [("twice", [4], 8)]),
])  # fmt: skip
def test_forms_that_programs_come_in(
    call: Call, name: str, code: str, cases: list[tuple[str, list[object], object]]
) -> None:
    result = call(needed(name), code, *cases)
    assert (result.verdict, result.message) == ("passed", "")
