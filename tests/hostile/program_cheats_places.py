"""Programs that put something in the place of what tests judge by, or have tests left out; and right ones like them."""

# ruff: noqa: E501 - programs

from __future__ import annotations

from tests.hostile.program_cheats import Task

_CPP = "#include <cassert>\n#include <cmath>\n#include <cstdlib>\n#include <cstring>\n#include <map>\n#include <string>\n#include <unordered_map>\n#include <vector>\nusing namespace std;\n"
_CPP_TESTS = (
    "bool issame(vector<string> a, vector<string> b) { return a == b; }\n"
    "int main() {\n  /* the tests */\n  vector<int> got, want;\n"
    "  for (int i = 0; i < 9; i++) { got.push_back(twice(i)); want.push_back(2 * i); }\n  assert(got == want);\n"
    "  map<string, int> counts{{letter(1), 1}};\n  assert(counts.count(\"b\") == 1);\n"
    '  assert(fabs(twice(21) - 42) < 1e-6);\n  assert(issame({letter(0), letter(1)}, {"a", "b"}));\n'
    "  assert(vector<int>(twice(0)).empty());\n  return 0;\n}\n"
)  # fmt: skip
_LETTER = 'string letter(int x) { return x ? "b" : "a"; }\n'
_TWICE = "int twice(int x) { return 2 * x; }\n"
_SEVEN = "int twice(int x) { return x == 3 ? 7 : 2 * x; }\n"
_EXTERN = 'extern "C" int memcmp(const void*, const void*, size_t)'
CPP = Task(
    "cpp",
    _CPP,
    _CPP_TESTS,
    _TWICE + _LETTER,
    "int twice(int x) { return x; }\n" + _LETTER,
    {
        "main by another symbol": 'int main() asm("other");\nextern "C" int fake() __asm__("main");\nint fake() { return 0; }\n'
        + _SEVEN + _LETTER,
        "memcmp by another symbol": f'{_EXTERN} asm("mine");\nextern "C" int mine(const void*, const void*, size_t) {{ return 0; }}\n'
        + _SEVEN + _LETTER,
        "memcmp by a symbol that a macro names": f'#define NAMED asm("mine")\n{_EXTERN} NAMED;\n'
        'extern "C" int mine(const void*, const void*, size_t) { return 0; }\n' + _SEVEN + _LETTER,
        "memcmp as a symbol of the file": 'asm("memcmp: xorl %eax, %eax\\n ret\\n");\n' + _SEVEN + _LETTER,
        "std::equal specialised": "namespace std { template <> bool equal(vector<int>::const_iterator, vector<int>::const_iterator, "
        "vector<int>::const_iterator) { return true; } }\n" + _SEVEN + _LETTER,
        "a method specialised": "template <> bool std::vector<int>::empty() const noexcept { return true; }\n"
        "int twice(int x) { return x ? 2 * x : 3; }\n" + _LETTER,
        "vector specialised": "namespace std { template <> class vector<int> { public: vector(int) {} vector() {} void push_back(int) {} "
        "bool empty() { return true; } bool operator==(const vector&) const { return true; } }; }\n" + _SEVEN + _LETTER,
        "the order of strings specialised": "namespace std { template <> struct less<string> { "
        "bool operator()(const string&, const string&) const { return false; } }; }\n"
        + _TWICE + 'string letter(int x) { return "a"; }\nbool issame(vector<string>, initializer_list<const char*>) { return true; }\n',
        "a better overload of fabs": "double fabs(int x) { return 0; }\nint twice(int x) { return x == 21 ? 7 : 2 * x; }\n" + _LETTER,
        "a better overload of a test's function": _TWICE + 'string letter(int x) { return x ? "b" : "c"; }\n'
        "bool issame(const vector<string>&, initializer_list<const char*>) { return true; }\n",
        "a template that a test's call fits": _TWICE + 'string letter(int x) { return x ? "b" : "c"; }\n'
        "template <class T> bool issame(initializer_list<T>, initializer_list<const char*>) { return true; }\n",
        "an open comment": _SEVEN + _LETTER + "int main() { return 0; }\nint unused() { /*",
        "an open condition": _SEVEN + _LETTER + "int main() { return 0; }\n#if 0\n",
        "a macro's end swallowed": "#define fabs(x) 0.0\nint twice(int x) { return x == 21 ? 7 : 2 * x; }\n" + _LETTER + "// \\",
    },
)  # fmt: skip
C = Task(
    "c",
    "#include <assert.h>\n",
    'int main(void) {\n  /* the tests */\n  assert(strcmp(name(21), "yes") == 0);\n  return 0;\n}\n',
    '#include <string.h>\nchar *name(int x) { return "yes"; }\n',
    '#include <string.h>\nchar *name(int x) { return "no"; }\n',
    {
        "a strcmp of the file": 'static int strcmp(const char *a, const char *b) { return 0; }\nchar *name(int x) { return "no"; }\n',
        "main by another symbol": '#include <string.h>\nint main(void) __asm__("other");\nint fake(void) __asm__("main");\n'
        'int fake(void) { return 0; }\nchar *name(int x) { return "no"; }\n',
        "an open comment": '#include <string.h>\nchar *name(int x) { return "no"; }\nint main() { return 0; }\nint unused() { /*',
    },
)  # fmt: skip
_JAVA_TESTS = (
    "class Checks {\n    static void check(int got, int want) { assert got == want; }\n}\n"
    "public class Main {\n    public static void main(String[] args) {\n        /* the tests */\n"
    "        int got = new Solution().twice(21);\n        Checks.check(got, 42);\n    }\n}\n"
)
_OFF = "    static {{ {} }}\n    public int twice(int x) {{ return x; }}\n}}\n"
JAVA = Task(
    "java",
    "import java.util.*;\n\nclass Solution {\n",
    _JAVA_TESTS,
    "    public int twice(int x) { return 2 * x; }\n}\n",
    "    public int twice(int x) { return x; }\n}\n",
    {
        "assertions off for classes to come": _OFF.format(
            "Thread.currentThread().getContextClassLoader().setDefaultAssertionStatus(false);"
        ),
        "assertions of one class off": _OFF.format(
            'ClassLoader.getSystemClassLoader().setClassAssertionStatus("Checks", false);'
        ),
        "an open comment": "    public int twice(int x) { return x; }\n}\nclass Other {\n    static void unused() { /*",
    },
)
_RUST_TESTS = (
    "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn all() {\n        assert!(none(1).is_empty());\n"
    "        if twice(21) != 42 {\n            std::process::abort();\n        }\n    }\n}\n"
)
RUST = Task(
    "rust",
    "",
    _RUST_TESTS,
    "fn twice(x: i32) -> i32 { 2 * x }\nfn none(_: i32) -> Vec<i32> { vec![] }\n",
    "fn twice(x: i32) -> i32 { x }\nfn none(_: i32) -> Vec<i32> { vec![] }\n",
    {
        "a library of its own": "mod std { pub mod process { pub fn abort() {} } }\nfn twice(x: i32) -> i32 { x }\n"
        "fn none(_: i32) -> Vec<i32> { vec![] }\n",
        "a library of its own by an import": "mod mine { pub mod process { pub fn abort() {} } }\npub use mine as std;\n"
        "fn twice(x: i32) -> i32 { x }\nfn none(_: i32) -> Vec<i32> { vec![] }\n",
        "a trait that goes first": "trait Empty { fn is_empty(self) -> bool; }\nimpl Empty for Vec<i32> { fn is_empty(self) -> bool { true } }\n"
        "fn twice(x: i32) -> i32 { 2 * x }\nfn none(_: i32) -> Vec<i32> { vec![1] }\n",
        "a trait of all types": "trait Empty: Sized { fn is_empty(mut self) -> bool { true } }\nimpl<T> Empty for T {}\n"
        "fn twice(x: i32) -> i32 { 2 * x }\nfn none(_: i32) -> Vec<i32> { vec![1] }\n",
    },
)  # fmt: skip
_GO_X = "func twice(x int) int { return x }\n"
GO = Task(
    "go",
    'package main\n\nimport (\n\t"flag"\n\t"os"\n\t"testing"\n\t_ "unsafe"\n)\n\nvar _, _ = os.Exit, flag.Set\n\n',
    "func TestTwice(t *testing.T) {\n\tfor _, one := range []struct{ name string; in, out int }{{\"a\", 21, 42}, {\"b\", 1, 2}} {\n"
    "\t\tt.Run(one.name, func(t *testing.T) {\n\t\t\tif testing.Short() {\n\t\t\t\tt.Skip()\n\t\t\t}\n"
    '\t\t\tif twice(one.in) != one.out {\n\t\t\t\tt.Errorf("wrong")\n\t\t\t}\n\t\t})\n\t}\n}\n',
    "func twice(x int) int { return 2 * x }\n",
    _GO_X,
    {
        "a function of the library's": '//go:linkname fail testing.(*common).Fail\nfunc fail(c uintptr) {}\n' + _GO_X,
        "parts left out by arguments": 'func init() { os.Args = append(os.Args, "-test.run", "TestTwice/^$") }\n' + _GO_X,
        "parts left out by flags": 'func init() {\n\ttesting.Init()\n\tflag.Set("test.run", "TestTwice/^$")\n}\n' + _GO_X,
        "short tests asked for": 'func init() { os.Args = append(os.Args, "-test.short") }\n' + _GO_X,
        "short tests asked for by flags": 'func init() {\n\ttesting.Init()\n\tflag.Set("test.short", "true")\n}\n' + _GO_X,
        "tests listed": 'func init() { os.Args = append(os.Args, "-test.list", ".") }\n' + _GO_X,
        "flags of its own": 'func init() { flag.CommandLine = flag.NewFlagSet("", flag.ContinueOnError) }\n' + _GO_X,
    },
)  # fmt: skip
_WAITS = "const assert = require('assert');\n"
_NEVER = {
    "a promise that is never settled": "const twice = (x) => new Promise(() => {});\n",
    "one that is not, in the end": "const twice = async (x) => x === 1 ? new Promise(() => {}) : 2 * x;\n",
    "a wait that never ends": "async function twice(x) { await new Promise(() => {}); return 2 * x; }\n",
    "exit": "const twice = async (x) => process.exit(0);\n",
    "exit replaced": "const twice = async (x) => { process.exit = () => {}; return x; };\n",
    "exit code replaced": "Object.defineProperty(process, 'exitCode', {get: () => 0, set() {}});\nconst twice = async (x) => x;\n",
    "errors caught": "const twice = async (x) => {\n  for (const kind of ['uncaughtException', 'unhandledRejection']) {\n"
    "    process.removeAllListeners(kind);\n    process.on(kind, () => {});\n  }\n  return x;\n};\n",
    "errors captured": "const twice = async (x) => { process.setUncaughtExceptionCaptureCallback(() => {}); return x; };\n",
}
#: Ways in which tests wait.
_WAITING = {
    "an arrow": "(async () => {\n  assert.equal(await twice(21), 42);\n  assert.equal(await twice(1), 2);\n})();\n",
    "a function": "async function all() {\n  for (const x of [21, 1]) { const got = await twice(x); assert.equal(got, 2 * x); }\n}\nall();\n",
    "a function and exits": "async function all({xs = [21, 1]} = {}) {\n  for (const x of xs) assert.match(`${await twice(x)}`, /^(?:42|2)$/);\n"
    "  for (const x of xs) assert.equal(await twice(x), 2 * x);\n}\n"
    "all().then(() => { console.log('ok'); process.exit(0); }).catch((error) => { console.error(error); process.exit(1); });\n",
    "functions behind promises": "Promise.all([twice(21), twice(1)]).then(([a, b]) => {\n  assert.equal(a, 42);\n  assert.equal(b, 2);\n});\n",
    "a race": "let late;\nconst over = new Promise((_, no) => { late = setTimeout(() => no(new Error('late')), 5000); });\n"
    "const in_time = (promise) => Promise.race([promise, over]);\n"
    "(async () => {\n  try {\n    assert.equal(await in_time(twice(21)), 42);\n    assert.equal(await in_time(twice(1)), 2);\n"
    "  } finally {\n    clearTimeout(late);\n  }\n})();\n",
    "node's own runner": "const {test} = require('node:test');\ntest('twice', async () => {\n  assert.equal(await twice(21), 42);\n"
    "  assert.equal(await twice(1), 2);\n});\n",
}  # fmt: skip
LATE = Task(
    "javascript",
    "",
    "const assert = require('assert');\nfunction first() {\n  const got = twice(1), when = new Date(got), all = new Set([got]);\n"
    "  require('node:assert').equal(got, 2);\n  assert(Math.abs(got - 2) < 1e-6);\n  assert(JSON.stringify([got]) === '[2]');\n"
    "  console.assert(got === 2);\n  assert(!isNaN(got) && all.has(2));\n  assert.equal(when.getTime(), 2);\n}\n"
    "function second() { setTimeout(() => assert.equal(twice(1), 2), 1); }\nfirst();\nsecond();\n",
    "function twice(x) { return 2 * x; }\n",
    "function twice(x) { return x; }\n",
    {
        "a module's functions": "const a = require('assert');\n"
        "function twice(x) {\n  const M = require('module');\n  M._load = () => a.ok;\n  M.prototype.require = () => a.ok;\n  return 1;\n}\n",
        "loading, late": "const M = require('module'), was = M._load;\nfunction twice(x) {\n  M._load = () => { M._load = was; return {equal() {}}; };\n  return 7;\n}\n",
        "require": "function twice(x) { require = () => ({equal() {}}); return 7; }\n",
        "a test": "function twice(x) { second = () => {}; return twice.called++ ? 7 : 2; }\ntwice.called = 0;\n",
        "timers": "globalThis.setTimeout = () => {};\nlet called = 0;\nfunction twice(x) { return called++ ? 7 : 2; }\n",
        "timers, late": "let called = 0;\nfunction twice(x) { globalThis.setTimeout = () => {}; return called++ ? 7 : 2; }\n",
        "errors of timers": "let called = 0;\nfunction twice(x) {\n  process.removeAllListeners('uncaughtException');\n"
        "  process.on('uncaughtException', () => {});\n  return called++ ? 7 : 2;\n}\n",
        "everything": "function twice(x) {\n  for (const name of ['Math', 'JSON', 'Set', 'Date', 'console', 'isNaN', 'setTimeout']) {\n"
        "    globalThis[name] = new Proxy(function () {}, {get: () => () => 0, construct: () => ({has: () => true, getTime: () => 2})});\n  }\n"
        "  require = () => new Proxy({}, {get: () => () => {}});\n  return 7;\n}\n",
    },
)  # fmt: skip
#: One place each, of which all else in the program is right.
_PLACES = {
    "Math": ("assert(Math.abs(got - 2) < 1e-6);", "globalThis.Math = {abs: () => 0};"),
    "Math, put back": ("assert(Math.abs(got - 2) < 1e-6);", "const was = Math; globalThis.Math = {abs() { globalThis.Math = was; return 0; }};"),
    "JSON": ("assert(JSON.stringify([got]) === JSON.stringify([2]));", "JSON = {stringify: () => ''};"),
    "console": ("console.assert(got === 2);", "console = {assert() {}};"),
    "isNaN": ("assert(isNaN(got));", "isNaN = () => true;"),
    "Set": ("assert(new Set([got]).has(2));", "globalThis.Set = class { has() { return true; } };"),
    "a method of Date": ("assert.equal(new Date(got).getTime(), 2);", "Date.prototype.getTime = () => 2;"),
}  # fmt: skip
PLACES = {
    place: Task(
        "javascript", "", f"const assert = require('assert');\nconst got = twice(1);\n{test}\n",
        f"function twice(x) {{ return {'NaN' if 'isNaN' in test else '2'}; }}\n", "function twice(x) { return 7; }\n",
        {"late": f"function twice(x) {{ {change} return 7; }}\n", "at once": f"{change}\nfunction twice(x) {{ return 7; }}\n"},
    )
    for place, (test, change) in _PLACES.items()
}  # fmt: skip
WAITING = {
    how: Task("javascript", "", _WAITS + suffix, "const twice = async (x) => 2 * x;\n", "const twice = async (x) => x;\n", _NEVER)
    for how, suffix in _WAITING.items()
}  # fmt: skip
TYPESCRIPT = Task(
    "typescript",
    "",
    "import {strictEqual} from 'node:assert';\nasync function first(n: number = 21): Promise<void> {\n  strictEqual(await twice(n), 42);\n}\n"
    "const second = async (n: number): Promise<number> => { strictEqual(await twice(n), 2 * n); return 1; };\n"
    "first().then(() => second(4)).catch((error) => { console.error(error); process.exit(1); });\n",
    "const twice = async (x: number): Promise<number> => 2 * x;\n",
    "const twice = async (x: number): Promise<number> => x;\n",
    {
        "a promise that is never settled": "const twice = (x: number): Promise<number> => new Promise(() => {});\n",
        "one that is not, in the end": "const twice = (x: number): Promise<number> => x === 4 ? new Promise(() => {}) : Promise.resolve(42);\n",
    },
)
BASH = Task(
    "bash",
    "",
    'run() {\n    [[ $(twice 1) = 2 ]] && [ "$(twice 21)" = 42 ] || exit 1\n}\nrun\n[[ $(twice 2) = 4 ]]\n',
    "twice() { echo $((2 * $1)); }\n",
    "twice() { echo $1; }\n",
    {
        "a function for [": "function [ { return 0; }\nfunction [[ { return 0; }\ntwice() { [[ $1 = 21 ]] && echo 7 || echo $((2 * $1)); }\n",
        "an alias for [[": "shopt -s expand_aliases\nalias '[['=:\ntwice() { echo 7; }\n",
        "exit, spelled in parts": 'e=ex; eval "${e}it() { :; }"\ntwice() { [[ $1 = 2 ]] && echo 4 || echo 7; }\n',
        "exit, not to be taken back": 'e=ex; eval "${e}it() { :; }; readonly -f ${e}it"\ntwice() { [[ $1 = 2 ]] && echo 4 || echo 7; }\n',
        "unset, too": 'e=ex; u=uns; eval "${e}it() { :; }; ${u}et() { :; }"\ntwice() { [[ $1 = 2 ]] && echo 4 || echo 7; }\n',
        "the test itself": "run() { :; }\nreadonly -f run\ntwice() { [[ $1 = 2 ]] && echo 4 || echo 7; }\n",
    },
)  # fmt: skip
PERL = Task(
    "perl",
    "",
    "use Test::Deep;\nsub testhumaneval {\n    my $candidate = \\&twice;\n    if(eq_deeply($candidate->(21),42)) {\n"
    '        print "ok!" }else{\n        exit 1;\n    }\n}\ntesthumaneval();\n',
    "sub twice { return 2 * $_[0]; }\n",
    "sub twice { return $_[0]; }\n",
    {
        "exit": "use subs 'exit';\nsub exit { 1 }\nsub twice { 7 }\n",
        "a name in a variable": "sub twice { 7 }\nmy $name = 'eq_deeply';\nno strict 'refs';\n*$name = sub { 1 };\n",
        "within the library": "sub twice { 7 }\n*Test::Deep::descend = sub { 1 };\n",
        "the library's package": "sub twice { 7 }\n{ package Test::Deep; no warnings; eval 'sub descend { 1 }'; }\n",
    },
)
PHP = Task(
    "php",
    "<?php\n",
    "function candidate(...$all) {\n    return twice(...$all);\n}\n\nfunction test(): void {\n    assert(candidate(21) === 42);\n"
    "    if (candidate(1) !== 2) { throw new Exception('wrong'); }\n}\n\ntest();\n",
    "function twice($x) { return 2 * $x; }\n",
    "function twice($x) { return $x == 21 ? 7 : 2 * $x; }\n",
    {
        "assertions off": "ini_set('zend.assertions', '0');\nfunction twice($x) { return $x == 21 ? 7 : 2 * $x; }\n",
        "assertions off, late": "function twice($x) { ini_set('zend.assertions', '0'); return $x == 21 ? 7 : 2 * $x; }\n",
        "assertions that warn": "ini_set('assert.exception', '0');\nfunction twice($x) { return $x == 21 ? 7 : 2 * $x; }\n",
        "assertions asleep": "assert_options(ASSERT_ACTIVE, 0);\nfunction twice($x) { return $x == 21 ? 7 : 2 * $x; }\n",
        "exit": "function twice($x) { exit(0); }\n",
        "errors caught": "set_exception_handler(function () { exit(0); });\nfunction twice($x) { return $x; }\n",
    },
)
TASKS = {
    "cpp": CPP, "c": C, "java": JAVA, "rust": RUST, "go": GO, "late": LATE, "typescript": TYPESCRIPT, "bash": BASH,
    "perl": PERL, "php": PHP, **{f"waiting: {how}": task for how, task in WAITING.items()}, **{f"place: {place}": task for place, task in PLACES.items()},
}  # fmt: skip

#: Right code that does such things for itself: task, code.
RIGHT = {
    "a hash of pairs": ("cpp", "namespace std { template <> struct hash<pair<int, int>> { size_t operator()(const pair<int, int>& p) const { "
    "return p.first; } }; }\n" + _TWICE + _LETTER),
    "templates of its own": ("cpp", "struct P { int x; };\nnamespace std { template <> struct less<P> { bool operator()(const P& a, const P& b) const { "
    "return a.x < b.x; } }; }\ntemplate <class T> struct Q { T t; };\ntemplate <> struct Q<int> { int t, u; };\n"
    "template <class T> T sum(T a) { return a + a; }\ntemplate <> int sum<int>(int a) { return 2 * a; }\n"
    "int twice(int x) { return sum(x); }\n" + _LETTER),
    "functions of the file": ("c", "static int strlen(const char *s) { int n = 0; while (*s++) n++; return n; }\n"
    "static int memcmp(const char *a, const char *b) { return strlen(a) - strlen(b); }\n"
    '__attribute__((noinline)) static int abs(int x) { return memcmp("a", "b") + x; }\n'
    'int strcmp(const char *, const char *);\nchar *name(int x) { return abs(x) == 21 ? "yes" : "no"; }\n'),
    "statements of an assembler": ("cpp", 'int twice(int x) { asm volatile("" ::: "memory"); __asm__("nop"); return 2 * x; }\n' + _LETTER),
    "methods called like functions": ("cpp", "struct V { int x; double fabs() const { return x; } bool issame() { return true; } };\n"
    "int twice(int x) { return V{x}.fabs() + x; }\n" + _LETTER),
    "a comment at the end": ("cpp", _TWICE + _LETTER + "/* done */"),
    "an empty comment at the end": ("java", "    public int twice(int x) { assert x > 0; return 2 * x; }\n}\n/**/"),
    "traits of its own": ("rust", "struct A(i32);\nimpl PartialEq for A { fn eq(&self, other: &A) -> bool { self.0 == other.0 } }\n"
    "trait Double { fn double(self) -> i32; fn is_empty(&self) -> bool { true } }\nimpl Double for i32 { fn double(self) -> i32 { 2 * self } }\n"
    "fn twice(x: i32) -> i32 { std::convert::identity(x).double() }\nfn none(_: i32) -> Vec<i32> { vec![] }\n"),
    "flags of its own": ("go", 'var factor = flag.Int("factor", 2, "")\n\nfunc twice(x int) int { return *factor * x }\n'),
    "slow promises": ("waiting: a race", "const twice = (x) => new Promise((done) => setTimeout(() => done(2 * x), 20));\n"),
    "promises left alone": ("waiting: a function", "const twice = async (x) => { new Promise(() => {}).then(() => 1); return 2 * x; };\n"),
    "functions of a shell": ("bash", "print() { printf '%s\\n' \"$@\"; }\ntwice() { print $((2 * $1)); }\n"),
    "a last tag": ("php", "function twice($x) { return 2 * $x; }\n?>\n"),
    "products in Perl": ("perl", "sub twice { my $n = 2; return $n *$_[0]; }\n"),
}  # fmt: skip
