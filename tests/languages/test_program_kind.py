"""Tests that are compiled together with the code: what passes, what does not, and what is said about it."""

# ruff: noqa: E501 - programs

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile.program_cheats import TASKS
from tests.languages.conftest import lacking, result_of
from tests.sandbox.stage import public_interpreter

from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.result import VerificationResult
from scalebox.core.sample import PytestTest
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.execute.programs.assembled import first_outside
from scalebox.execute.programs.c import _OPAQUE
from scalebox.execute.programs.c import assemble as assemble_c
from scalebox.execute.programs.ended import judged_at_end
from scalebox.execute.programs.jest import suite_cases
from scalebox.languages import registry
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.sandbox.outcome import Outcome
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)

Verify = Callable[..., VerificationResult]
_LIMITS = {"build_s": 60.0, "cpu_s": 10.0, "wall_s": 120.0}
#: A line that no compiler takes, as the second line of the code.
_BROKEN = {
    "cpp": "\nint x = ;\n", "c": "\nint x = ;\n", "java": "\nint x = ;\n}", "rust": "\nlet x = ;\n",
    "go": "\nvar x = )\n", "javascript": "\nlet x = ;\n", "typescript": "\nlet x = ;\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def verify(tier: str, cache: Path, reachable: None) -> Iterator[Verify]:  # noqa: ARG001 - it changes what is found
    """Return what verifies one record and returns its result."""
    settings = Settings(
        tier=tier, interpreter=public_interpreter() if tier == "process" else "", cache_dir=str(cache), workers=1
    )
    made = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])

    def verify(language: str, code: str, *tests: dict[str, Any], **fields: Any) -> VerificationResult:
        try:
            toolchain(language)
        except Missing as missing:
            lacking(language, str(missing))
        limits = {**_LIMITS, "processes": 16 if language == "bash" else 0}
        record = {"id": "s", "language": language, "code": code, "tests": list(tests), "limits": limits, **fields}
        return result_of(made, settings, record)

    yield verify
    made.close()


def _around(name: str) -> dict[str, str]:
    return {"prefix": TASKS[name].prefix, "suffix": TASKS[name].suffix}


@pytest.mark.parametrize("name", TASKS)
def test_right_code_passes_and_wrong_code_does_not(verify: Verify, name: str) -> None:
    task = TASKS[name]
    result = verify(task.language, task.right, _around(name))
    assert (result.verdict, result.message, result.denied) == ("passed", "", [])
    assert (result.integrity, len(result.cases)) == ("shared", 1)
    wrong = verify(task.language, task.wrong, _around(name), {"suffix": "x"})
    assert wrong.cases[0].verdict == ("runtime_error" if name == "bash" else "assert_fail")
    assert wrong.cases[1].verdict != "passed"


@pytest.mark.parametrize("name", _BROKEN)
def test_a_compile_error_has_the_line_of_the_code(verify: Verify, name: str) -> None:
    result = verify(TASKS[name].language, _BROKEN[name], _around(name))
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert result.message.startswith("case 0: line 2: "), result.message


def test_a_fault_of_the_suffix_is_said_to_be_in_the_tests(verify: Verify) -> None:
    result = verify("cpp", "int f() { return 1; }\n", {"suffix": "int main() { return g(); }\n"})
    assert result.verdict == "compile_error"
    assert "in the tests" in result.message


def test_tests_that_test_nothing_in_go_are_no_pass(verify: Verify) -> None:
    result = verify("go", "package main\n", {"suffix": "func helper() {}\n"})
    assert result.verdict == "compile_error"


def test_a_skipped_test_in_go_is_not_passed(verify: Verify) -> None:
    suffix = 'import "testing"\nfunc TestA(t *testing.T) { t.Skip() }\nfunc TestB(t *testing.T) {}\n'
    assert verify("go", "package main\n", {"suffix": suffix}).verdict == "runtime_error"


def test_assertions_of_java_are_enabled(verify: Verify) -> None:
    main = "class Main { public static void main(String[] a) { assert Solution.f() == 2; } }\n"
    assert (
        verify("java", "class Solution { static int f() { return 1; } }\n", {"suffix": main}).verdict == "assert_fail"
    )


def test_a_suffix_may_close_the_function_of_the_code(verify: Verify) -> None:
    for language, prefix, code, suffix in (
        ("cpp", "#include <assert.h>\nint f(int x) {\n", "return x;\n", "}\nint main() { assert(f(1) == 1); }\n"),
        ("rust", "fn f(x: i32) -> i32 {\n", "x\n", "}\nfn main() { assert_eq!(f(1), 1); }\n"),
        ("javascript", "function f(x) {\n", "return x;\n", "}\nconsole.assert(f(1) === 1);\n"),
    ):
        assert verify(language, code, {"prefix": prefix, "suffix": suffix}).verdict == "passed", language


def test_tests_that_wait_are_waited_for(verify: Verify) -> None:
    suffix = "(async () => {{ await null; console.assert(await f() === {}); }})();\n"
    code = "const f = () => new Promise((done) => setTimeout(() => done(1), 20));\n"
    assert verify("javascript", code, {"suffix": suffix.format(1)}).verdict == "passed"
    assert verify("javascript", code, {"suffix": suffix.format(2)}).verdict == "assert_fail"


_SUITE = """import { describe, it, expect } from '@jest/globals'
import { f } from './f.ts'
describe('f', () => {
  it('doubles', () => { expect(f(2)).toBe(4) })
  it.skip('skips', () => {})
  it.each([[1, 2], [2, 4]])('%i gives %i', async (a, b) => { expect([f(a)]).toEqual([b]) })
  it('throws', () => { expect(() => f('x' as any)).toThrow(/no number/) })
  it('does more', () => { (expect(1) as any).toBeWonderful() })
})
"""
_F = "export const f = (x: number) => { if (typeof x !== 'number') throw new Error('no number'); return 2 * x }\n"


def _required(*names: str, suite: str = _SUITE) -> dict[str, Any]:
    return {"files": {"f.test.ts": suite}, "required": [f"f.test.ts::{name}" for name in names]}


def test_each_required_test_of_a_suite_is_a_case(verify: Verify) -> None:
    suite = _SUITE.replace("  it('does more', () => { (expect(1) as any).toBeWonderful() })\n", "")
    test = _required("f doubles", "f 1 gives 2", "f throws", "f skips", "f none", suite=suite)
    cases = {case.id: case.verdict for case in verify("typescript", _F, test, main="f.ts").cases}
    assert list(cases.values()) == ["passed", "passed", "passed", "assert_fail", "runtime_error"]
    assert next(iter(cases)) == "0.f.test.ts::f doubles"


def test_what_the_runner_cannot_do_is_no_fault_of_the_code(verify: Verify) -> None:
    result = verify("typescript", _F, _required("f doubles"), main="f.ts")
    assert (result.verdict, "toBeWonderful" in result.message) == ("internal_error", True)


_SUITE_CHEATS = {
    "exit": "process.exit(0); export const f = (x: number) => x\n",
    "tests of its own": "import { it } from '@jest/globals'; it('f doubles', () => {}); export const f = (x: number) => 3\n",
    "expect replaced": "try { (globalThis as any).expect = () => ({ toBe() {} }) } catch {} export const f = (x: number) => x\n",
    "equality replaced": "Object.is = () => true; export const f = (x: number) => x\n",
    "equality replaced late": "export const f = (x: number) => { Object.is = () => true; return x }\n",
    "equality that puts itself back": "const was = Object.is; export const f = (x: number) => {\n"
    "  Object.is = () => { Object.is = was; return true }; return x }\n",
    "a map that puts itself back": "const {has, get} = WeakMap.prototype; export const f = (x: number): any => {\n"
    "  WeakMap.prototype.has = () => true; WeakMap.prototype.get = () => () => true;\n"
    "  setImmediate(() => { Object.assign(WeakMap.prototype, {has, get}) }); return x }\n",
    "a matcher that there is not": "import { expect } from '@jest/globals'; export const f = (x: number) => (expect(x) as any).toBeFine()\n",
    "the end forged": "require('fs').writeSync(3, '[]'); process.exit(0); export const f = (x: number) => x\n",
}


@pytest.mark.parametrize("name", _SUITE_CHEATS)
def test_no_cheat_passes_a_suite(verify: Verify, name: str) -> None:
    suite = _SUITE.replace("  it('does more', () => { (expect(1) as any).toBeWonderful() })\n", "")
    test = _required("f doubles", "f 1 gives 2", suite=suite)
    result = verify("typescript", _SUITE_CHEATS[name], test, main="f.ts")
    assert result.verdict in ("runtime_error", "assert_fail"), (result.verdict, result.message)
    assert "passed" not in [case.verdict for case in result.cases]


_SUITE_PLACES = {
    "Math": ("globalThis.Math = {abs: () => 0}", "expect(Math.abs(v - 2)).toBe(0)"),
    "JSON": ("JSON = {stringify: () => '[2]'}", "expect(JSON.stringify([v])).toBe('[2]')"),
    "isNaN": ("globalThis.isNaN = () => true", "expect(isNaN(v)).toBe(true)"),
    "Number": ("globalThis.Number = () => 2", "expect(Number(v)).toBe(2)"),
    "Date": ("Date.prototype.getTime = () => 2", "expect(new Date(v).getTime()).toBe(2)"),
    "modules": ("require('module')._load = () => ({equal() {}})", "require('assert').equal(v, 2)"),
    "required": ("require('module').prototype.require = () => ({equal() {}})", "require('assert').equal(v, 2)"),
    "errors": ("process.removeAllListeners('uncaughtException')", "setTimeout(() => { expect(v).toBe(2) }, 0)"),
}


@pytest.mark.parametrize("late", [True, False], ids=["late", "at once"])
@pytest.mark.parametrize("place", _SUITE_PLACES)
def test_what_a_suite_judges_by_stays_what_it_is(verify: Verify, place: str, late: bool) -> None:
    change, expectation = _SUITE_PLACES[place]
    suite = f"const {{ f }} = require('./f.js');\ntest('f', async () => {{\n  const v = f(1);\n  {expectation};\n"
    suite += "  await new Promise((done) => setTimeout(done, 10));\n});\n"
    code = f"exports.f = () => {{ {change}; return 7 }};\n" if late else f"{change};\nexports.f = () => 7;\n"
    test = {"files": {"f.test.js": suite}, "required": ["f.test.js::f"]}
    result = verify("javascript", code, test, main="f.js")
    assert result.verdict in ("runtime_error", "assert_fail"), (result.verdict, result.message)


@pytest.mark.parametrize(
    "asked",
    ["expect.extend({})", "jest.fn().mockName('x')", "expect.not.anything()", "it.concurrent('a', async () => {})"],
)
def test_what_the_runner_lacks_is_nobodys_fault_wherever_it_is_asked_for(verify: Verify, asked: str) -> None:
    test = {"files": {"f.test.js": f"test('f', () => {{}});\n{asked};\n"}, "required": ["f.test.js::f"]}
    assert verify("javascript", "exports.f = 1;\n", test, main="f.js").verdict == "internal_error"


def test_tests_may_alter_what_the_language_has(verify: Verify) -> None:
    suite = (
        "const {f} = require('./f.js');\ntest('f', () => {\n  const was = Array.prototype.sort;\n"
        "  Array.prototype.sort = () => { throw new Error('sorted'); };\n  expect(f([2])).toBe(2);\n"
        "  Array.prototype.sort = was;\n});\ntest.each([[[1, [2]], 'x']])('%p is %p', () => {});\n"
    )
    test = {"files": {"f.test.js": suite}, "required": ["f.test.js::f", 'f.test.js::[1, [Array]] is "x"']}
    assert verify("javascript", "exports.f = (x) => Math.max(...x);\n", test, main="f.js").verdict == "passed"
    assert verify("javascript", "exports.f = (x) => x.sort()[0];\n", test, main="f.js").verdict == "runtime_error"


@pytest.mark.parametrize(
    "suffix",
    [
        "const was = globalThis.setTimeout;\nglobalThis.setTimeout = (f) => f();\nf();\nglobalThis.setTimeout = was;\n",
        "setTimeout = (f) => f();\nf();\n",
        "const was = Date.now;\nDate.now = () => 5;\nf();\nDate.now = was;\nassert.equal(at, 5);\n",
        "const was = console.log, lines = [];\nconsole.log = (line) => lines.push(line);\nf();\nconsole.log = was;\n"
        "assert.deepEqual(lines, ['called']);\ndone = true;\n",
    ],
)
def test_tests_may_replace_what_the_language_has(verify: Verify, suffix: str) -> None:
    code = "let done = false, at = 0;\nfunction f() {\n  at = Date.now();\n  console.log('called');\n"
    code += "  setTimeout(() => { done = true; }, 0);\n}\nconst pattern = /[/*]/;\n"
    test = {"suffix": f"const assert = require('assert');\n{suffix}assert(done || at === 5);\n"}
    assert verify("javascript", code, test).verdict == "passed"


def test_suites_in_javascript(verify: Verify) -> None:
    suite = "const {f} = require('./f.js');\ntest('f', () => expect(f(1)).toBe(2));\n"
    test = {"files": {"f.test.js": suite}, "required": ["f.test.js::f"]}
    assert verify("javascript", "exports.f = (x) => 2 * x;\n", test, main="f.js").verdict == "passed"
    assert verify("javascript", "exports.f = (x) => x;\n", test, main="f.js").verdict == "assert_fail"


# -- without a jail ----------------------------------------------------------------------------------------------


def test_other_kinds_and_fields_are_refused() -> None:
    for language, test, fields in (
        ("lua", {"suffix": "x"}, {}),
        ("rust", {"files": {"a": ""}, "required": ["a::b"]}, {}),
        ("javascript", {"files": {"a": ""}, "required": ["a::b"], "mutant_control": True}, {}),
        ("javascript", {"files": {"a": ""}, "required": ["a::b"]}, {"main": "a.py"}),
        ("cpp", {"suffix": "x"}, {"main": "a.py"}),
    ):
        record = {"id": "s", "language": language, "code": "x", "tests": [test], **fields}
        with pytest.raises(InputError):
            parse_sample(record, settings=Settings())


_HONEST_OPERATORS = """struct P { int a; bool operator==(const pair<int, int>& o) const { return a == o.first; }
  friend bool operator==(const P& x, const P& y) { return x.a == y.a; } };
template <class T> struct Q { T v; };
template <class T> bool operator==(const Q<T>& a, const Q<T>& b) { return a.v == b.v; }
using R = Q<int>;
typedef struct P S;
bool operator!=(const R& a, const R& b) { return !(a == b); }
bool operator!=(const S& a, const S& b) { return !(a == b); }
struct W { operator int() { return 1; } };
"""


def test_a_code_may_say_when_its_own_values_are_equal() -> None:
    assert assemble_c(registry.languages()["cpp"], "", _HONEST_OPERATORS, "int main() {}\n").problem == ""


@given(st.binary(max_size=40))
def test_nothing_but_the_token_is_a_pass(echo: bytes) -> None:
    token = b"0123456789abcdef"
    outcome = Outcome(exit_code=0, echo=echo)
    assert judged_at_end(outcome, token, Limits(), "x")[0] != Verdict.PASSED
    suite = PytestTest(id="0", files={"a": ""}, required=("a::b",))
    assert suite_cases(Outcome(exit_code=0, echo=echo), token, Limits(), suite)[0].verdict != Verdict.PASSED
    assert suite_cases(Outcome(exit_code=0, echo=token + echo), token, Limits(), suite)[0].verdict != Verdict.PASSED


def test_the_token_does_not_outweigh_how_a_program_ended() -> None:
    token = b"0123456789abcdef"
    assert judged_at_end(Outcome(exit_code=0, echo=token), token, Limits(), "x")[0] == Verdict.PASSED
    for outcome in (Outcome(exit_code=1, echo=token), Outcome(signal=9, echo=token), Outcome(cause="cpu", echo=token)):
        assert judged_at_end(outcome, token, Limits(), "x")[0] != Verdict.PASSED


@given(st.text("{}\"'/*x\n", max_size=60))
def test_what_is_outside_is_behind_every_brace_that_closes_the_code(suffix: str) -> None:
    at = first_outside(suffix, _OPAQUE)
    assert 0 <= at <= len(suffix)
    assert at == 0 or suffix[at - 1] == "}"
