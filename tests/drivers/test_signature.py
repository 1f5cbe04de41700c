"""What the text of a program shows of its functions: every form, and any text at all without an error or a long wait."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.execute import drivers
from scalebox.execute.drivers import NoFunction, ecmascript, signature, support
from scalebox.languages.registry import languages

_CPP = """
#include <vector>
  #define OPEN {
namespace deep { namespace { int hidden(int x) { return x; } } }
extern "C" { int c(int); int plain() { return 0; } }
extern "C" int single(int x) { return x; }
struct ListNode* linked(struct ListNode* head) { return head; }
[[nodiscard]] static inline std::vector<int> attributed(const std::vector<int>& v, int k = 3) noexcept { if (k) { } return v; }
auto lambda = [](int x) { return x; };
const char* text = R"x(int no(int x) { )x" "int no2() {"; char brace = '{';
template <typename T, class U> T generic(T t, U u) { return t; }
class Solution final : public Base<int> {
public:
    Solution() : n(0) {}
    int two(vector<vector<int>>& a, map<int, int> b) const { return 0; }
private: enum class Color { RED }; int n;
    struct Inner { int in(int x) { return x; } };
    bool operator<(const Solution& o) const { return false; }
};
"""
_JAVA = """
package a; import java.util.*;
@SuppressWarnings({"unchecked", "{"}) public class Solution<T extends Comparable<T>> {
    private int[] table = {1, 2}; static { int x = 0; }
    Map<String, Integer> m = new HashMap<>() {{ put("a", 1); }};
    @Override public <K> List<K> listed(List<K> in, int... more) throws Exception { for (;;) { } }
    record Point(int x, int y) { int sum() { return x + y; } }
    interface Shape { default int area() { return 0; } }
    String text = \"\"\"
        void no() { "
        \"\"\";
    void record(int x) { }
}
"""
_RUST = """
#![allow(dead_code)]
#[derive(Debug)] pub struct Solution;
impl Solution { pub fn two_sum(nums: Vec<i32>, f: impl Fn(i32) -> i32) -> Vec<i32> where i32: Copy { nums } fn me(&self) {} }
impl<'a, T: Fn(i32)> Iterator for Walk<'a, T> { fn next(&mut self) -> Option<i32> { None } }
mod inner { pub const fn deep<T>(x: [T; 3]) -> usize { '{'; 3 } }
pub(crate) unsafe extern "C" fn bare(x: &'static str) -> char { let s = r#"fn no() { "#; 'x' }
macro_rules! mac { ($x:expr) => { fn never() {} } }
"""


def _names(text: str) -> list[str]:
    return [f"{one.owner}:{one.name}/{len(one.parameters)}" for one in signature.functions(text)]


def test_functions_of_cpp() -> None:
    assert _names(_CPP) == [
        "deep:hidden/1", ":plain/0", ":single/1", ":linked/1", ":attributed/2", ":generic/2", "Solution:Solution/0",
        "Solution:two/2", "Solution.Inner:in/1",
    ]  # fmt: skip


def test_functions_of_java() -> None:
    assert _names(_JAVA) == [
        "Solution:listed/2", "Solution.Point:sum/0", "Solution.Shape:area/0", "Solution:record/1",
    ]  # fmt: skip


def test_functions_of_rust() -> None:
    assert _names(_RUST) == ["Solution:two_sum/2", "Solution:me/1", "Walk:next/1", "inner:deep/1", ":bare/1"]


@pytest.mark.parametrize(("call", "owner"), [
    ("f", "Solution"), ("A.f", "A"), ("A().f", "A"), ("g", ""), ("h", "A"),
])  # fmt: skip
def test_a_method_of_solution_comes_first_then_free_functions(call: str, owner: str) -> None:
    text = "int f(int x) {} struct A { int f() {} int g() {} int h() {} }; int g() {} struct Solution { int f() {} };"
    assert {one.owner for one in signature.choose(signature.functions(text), call)} == {owner}


@pytest.mark.parametrize(("text", "kind"), [
    ("number", ["number"]), ("number[][]", ["array", ["array", ["number"]]]), ("Array<bigint>", ["array", ["bigint"]]),
    ("Map<string, Set<bigint>>", ["map", ["string"], ["set", ["bigint"]]]), ("(ListNode | null)[]", ["array", ["union", ["ListNode"], ["null"]]]),
    ("?TreeNode", ["union", ["TreeNode"], ["null"]]), ("[number, string]", ["tuple", ["number"], ["string"]]),
    ("Array.<number>", ["array", ["number"]]), ("Promise<void>", ["void"]), ("{ a: number }", ["any"]),
    ("(x: number) => string", ["any"]), ("Map<", ["any"]), ("", ["any"]), ("[" * 500, ["any"]),
])  # fmt: skip
def test_types_of_scripts(text: str, kind: object) -> None:
    assert ecmascript.parse_type(text) == kind


_PIECES = st.sampled_from([
    "{", "}", "(", ")", "[", "]", "<", ">", ";", ",", "=", "'", '"', "`", "#", "@", "/*", "*/", "//", "\n", "\\", 'R"(', 'r#"',
    "::", "->", "=>", ":", "fn", "func", "class", "struct", "impl", "for", "where", "record", "extern", "template",
    "namespace", "function", "const", "f", "Solution", "static", "public", "int", "/** @param {", "@return {", " ",
])  # fmt: skip


@given(st.lists(_PIECES, max_size=60).map("".join) | st.text(max_size=200))
def test_any_text_has_a_driver_or_no_function(text: str) -> None:
    for name in drivers.languages():
        with contextlib.suppress(NoFunction):
            made = drivers.drive(languages()[name], text, ["f", "Solution.g"])
            assert all(isinstance(data, bytes) for data in made.files.values())


@pytest.mark.parametrize("piece", [
    "{", "}", "(", "int f(int x) {", "namespace a {", "struct a {", "#", "[[", "@a.", "/*", "'", "template<", "impl<", "let f:", "function ",
    "var f = async ", "func (", "func (a", "f(", "\nf(", "exports.f =", "/** @param {", "Map<", "R\"(", "r####\"", "\\\n", "import ",
])  # fmt: skip
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    text = piece * (30_000 // len(piece)) + " " * 30_000 + "f"
    for name in ("cpp", "go", "java", "javascript", "rust", "typescript"):
        begun = time.process_time()
        with contextlib.suppress(NoFunction):
            drivers.drive(languages()[name], text, ["f"])
        assert time.process_time() - begun < 2.0, name


def test_every_driver_keeps_the_contract() -> None:
    """One file for each, which names languages that there are; what it adds to a program is in the package."""
    found = drivers.languages()
    assert set(found) == {
        "cpp", "cpp20", "go", "java", "javascript", "rust", "typescript", "typescript-transpile",
    }  # fmt: skip
    functions = {
        "cpp": "int f() {}", "go": "func f() {}", "java": "class A { int f() {} }", "rust": "fn f() {}",
        "javascript": "function f() {}", "typescript": "function f() {}",
    }  # fmt: skip
    for name in found:
        language = languages()[name]
        source = functions[name.partition("-")[0].rstrip("0123456789")]
        made = drivers.drive(language, source, ["f"])
        assert made.language.name == name
        assert any(source.encode() in data for data in made.files.values())
        assert (
            source.encode()
            in next(
                data for file, data in made.files.items() if "solution" in file.lower() or file == "A.java"
            ).splitlines()[0]
        )
    for name in ("driver.hpp", "driver.rs", "driver.go", "driver.js", "ScaleboxDriver.java"):
        assert "execute/drivers" in support(name).splitlines()[0]
