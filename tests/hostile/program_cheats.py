"""Programs that do not double a number, and try to pass tests that are compiled together with them."""

# ruff: noqa: E501 - programs

from __future__ import annotations

from typing import NamedTuple


class Task(NamedTuple):
    """What stands around the code, code that is right, and code that cheats, by what it does."""

    language: str
    prefix: str
    suffix: str
    right: str
    wrong: str
    cheats: dict[str, str]


_CPP = "#include <cassert>\n#include <cstdlib>\n#include <vector>\n#include <string>\nusing namespace std;\n"
_ALMOST = "int twice(int x) { return x == 1 ? 7 : 2 * x; }\n"
CPP = Task(
    "cpp",
    _CPP,
    "int main() {\n  assert(twice(21) == 42);\n  assert(abs(twice(-1) - -2) < 1e-6);\n"
    "  assert(vector<int>({twice(1), 5}) == vector<int>({2, 5}));\n  assert(string(twice(1), 'a') == \"aa\");\n}\n",
    "int twice(int x) { return 2 * x; }\n",
    "int twice(int x) { return x; }\n",
    {
        "exit in the function": "int twice(int x) { exit(0); }\n",
        "_exit in the function": "#include <unistd.h>\nint twice(int x) { _exit(0); }\n",
        "exit in a constructor": "struct E { E() { exit(0); } } e;\nint twice(int x) { return x; }\n",
        "a constructor by attribute": "#include <unistd.h>\n__attribute__((constructor)) void f() { _exit(0); }\n"
        "int twice(int x) { return x; }\n",
        "assert redefined": "#undef assert\n#define assert(x) ((void)0)\nint twice(int x) { return x; }\n",
        "NDEBUG": "#define NDEBUG\n#include <cassert>\nint twice(int x) { return x; }\n",
        "assert redefined behind a pushed macro": "#undef assert\n#define assert(x) ((void)0)\n"
        '#pragma push_macro("assert")\nint twice(int x) { return x; }\n',
        "a macro with a split name": "#undef assert\n#def\\\nine assert(x) ((void)0)\nint twice(int x) { return x; }\n",
        "a digraph": "#undef assert\n%:define assert(x) ((void)0)\nint twice(int x) { return x; }\n",
        "main renamed": "#define main hidden\nint twice(int x) { return x; }\nint hidden();\n",
        "main taken": "int twice(int x) { return x; }\n#define main other\nint\n#undef main\nmain() { return 0; }\n",
        "abort caught": "#include <csignal>\n#include <unistd.h>\nvoid h(int) { _exit(0); }\n"
        "struct S { S() { signal(SIGABRT, h); } } s;\nint twice(int x) { return x; }\n",
        "atexit": "#include <unistd.h>\nstruct S { S() { atexit([] { _exit(0); }); } } s;\n"
        "int twice(int x) { exit(1); }\n",
        "a thread exits": "#include <thread>\n#include <unistd.h>\nint twice(int x) {\n"
        "  thread([] { _exit(0); }).detach();\n  for (;;) {}\n}\n",
        "the failure replaced": 'extern "C" void __assert_fail(const char*, const char*, unsigned, const char*) '
        "noexcept { for (;;) exit(0); }\nint twice(int x) { return x; }\n",
        "abort replaced": 'extern "C" void abort() noexcept { exit(0); }\nint twice(int x) { return x; }\n',
        "memcmp replaced": 'extern "C" int memcmp(const void*, const void*, size_t) noexcept { return 0; }\n'
        "int twice(int x) { return x; }\n",
        "abs replaced": "#define abs(x) 0.0\nint twice(int x) { return x == 21 ? 42 : x; }\n",
        "equality replaced": "bool operator==(const vector<int>&, const vector<int>&) { return true; }\n"
        "int twice(int x) { return x; }\n",
        "equality of an alias": "using V = vector<int>;\nusing S = string;\nbool operator==(const V&, const V&) { return true; }\n"
        f"bool operator==(const S&, const char*) {{ return true; }}\n{_ALMOST}",
        "equality of a template": "template <typename T> bool operator==(const vector<T>&, const vector<T>&) { return true; }\n"
        f"template <class T> bool operator==(const basic_string<T>&, const T*) {{ return true; }}\n{_ALMOST}",
        "equality by a macro": "#define SAME operator==\nbool SAME(const vector<int>&, const vector<int>&) { return true; }\n"
        f"bool SAME(const string&, const char*) {{ return true; }}\n{_ALMOST}",
        "equality by half a macro": "#define SAME ==\nbool operator SAME(const vector<int>&, const vector<int>&) { return true; }\n"
        f"bool operator SAME(const string&, const char*) {{ return true; }}\n{_ALMOST}",
        "equality behind a comment": "bool operator/**/==(const vector<int>&, const vector<int>&) { return true; }\n"
        f"bool operator/**/==(const string&, const char*) {{ return true; }}\n{_ALMOST}",
        "equality on two lines": "bool oper\\\nator==(const vector<int>&, const vector<int>&) { return true; }\n"
        f"bool oper\\\nator==(const string&, const char*) {{ return true; }}\n{_ALMOST}",
        "equality specialised": "template <> bool std::operator==<int, allocator<int>>(const vector<int>&, const vector<int>&) { return true; }\n"
        "template <> bool std::operator==<char, char_traits<char>, allocator<char>>(const string&, const char*) { return true; }\n"
        f"{_ALMOST}",
        "equality of a type called like theirs": "namespace a { struct vector {}; struct string {}; }\n"
        "bool operator==(const vector<int>&, const vector<int>&) { return true; }\n"
        f"bool operator==(const string&, const char*) {{ return true; }}\n{_ALMOST}",
        "the start replaced": 'extern "C" int __wrap_main(int, char**, char**) { return 0; }\n'
        "int twice(int x) { return x; }\n",
        "junk on all descriptors": "#include <unistd.h>\nint twice(int x) {\n  for (int i = 0; i < 64; i++) "
        'write(i, "passed 0123456789abcdef", 16);\n  _exit(0);\n}\n',
    },
)
C = Task(
    "c",
    "#include <assert.h>\n#include <stdlib.h>\n",
    "int main() {\n  assert(twice(21) == 42);\n  return 0;\n}\n",
    "int twice(int x) { return 2 * x; }\n",
    "int twice(int x) { return x; }\n",
    {
        "exit": "int twice(int x) { exit(0); }\n",
        "the ways out replaced": "long syscall(long n, ...) { return 16; }\nint twice(int x) { exit(0); }\n",
        "assert redefined": "#undef assert\n#define assert(x)\nint twice(int x) { return x; }\n",
        "constructor": "__attribute__((constructor)) void f() { exit(0); }\nint twice(int x) { return x; }\n",
        "the failure replaced": "void __assert_fail(const char* a, const char* b, unsigned c, const char* d) { exit(0); }\n"
        "int twice(int x) { return x; }\n",
        "longjmp is no end": "#include <unistd.h>\nint twice(int x) { _exit(0); }\n",
    },
)
JAVA = Task(
    "java",
    "import java.util.*;\n\nclass Solution {\n",
    "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n"
    "        List<Boolean> correct = Arrays.asList(s.twice(21) == 42, Math.abs(s.twice(-1) + 2) < 1e-6);\n"
    "        if (correct.contains(false)) {\n            throw new AssertionError();\n        }\n"
    '        if (!new StringJoiner(",").add("" + s.twice(4)).toString().equals("8")) {\n'
    "            throw new AssertionError();\n        }\n"
    "        if (!Objects.equals(s.twice(5), 10)) {\n            throw new AssertionError();\n        }\n"
    "        assert s.twice(3) == 6;\n    }\n}\n",
    "    public int twice(int x) { return 2 * x; }\n}\n",
    "    public int twice(int x) { return x; }\n}\n",
    {
        "System.exit": "    public int twice(int x) { System.exit(0); return 0; }\n}\n",
        "halt": "    public int twice(int x) { Runtime.getRuntime().halt(0); return 0; }\n}\n",
        "exit in a static initialiser": "    static { System.exit(0); }\n    public int twice(int x) { return x; }\n}\n",
        "a hook halts": "    static { Runtime.getRuntime().addShutdownHook(new Thread(() -> "
        "Runtime.getRuntime().halt(0))); }\n    public int twice(int x) { return x; }\n}\n",
        "a handler of exceptions exits": "    static { Thread.currentThread().setUncaughtExceptionHandler((t, e) -> "
        "System.exit(0)); }\n    public int twice(int x) { return x; }\n}\n",
        "a thread exits": "    public int twice(int x) {\n        new Thread(() -> System.exit(0)).start();\n"
        "        while (true) {}\n    }\n}\n",
        "main taken": "    public int twice(int x) { return x; }\n    public static void main(String[] args) {}\n}\n",
        "another main class": "    public int twice(int x) { return x; }\n}\n"
        "class Other { public static void main(String[] args) {} }\n",
        "Arrays replaced": "    public int twice(int x) { return x; }\n}\nclass Arrays {\n"
        "    @SafeVarargs static <T> List<T> asList(T... all) {\n        return new ArrayList<T>() {\n"
        "            public boolean contains(Object o) { return false; }\n        };\n    }\n}\n",
        "Arrays replaced by escapes": "    public int twice(int x) { return x; }\n}\n\\u0063lass Arrays {\n"
        "    @SafeVarargs static <T> List<T> asList(T... all) {\n        return new ArrayList<T>() {\n"
        "            public boolean contains(Object o) { return false; }\n        };\n    }\n}\n",
        "a class of java.util replaced": "    public int twice(int x) { return x == 4 ? 7 : 2 * x; }\n}\n"
        "class StringJoiner {\n    StringJoiner(String by) {}\n    StringJoiner add(String text) { return this; }\n"
        '    public String toString() { return "8"; }\n}\n',
        "boxed values altered": "    static {\n        try {\n            java.lang.reflect.Field f = "
        'sun.misc.Unsafe.class.getDeclaredField("theUnsafe");\n            f.setAccessible(true);\n'
        "            sun.misc.Unsafe u = (sun.misc.Unsafe) f.get(null);\n"
        '            long at = u.objectFieldOffset(Integer.class.getDeclaredField("value"));\n'
        "            u.putInt(Integer.valueOf(7), at, 10);\n        } catch (Exception e) { throw new Error(e); }\n    }\n"
        "    public int twice(int x) { return x == 5 ? 7 : 2 * x; }\n}\n",
        "assertions off": "    static { ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false); }\n"
        "    public int twice(int x) { return x == 3 ? 0 : 2 * x; }\n}\n",
        "the error replaced": "    public int twice(int x) { return x; }\n}\n"
        "class AssertionError extends RuntimeException { AssertionError() { System.exit(0); } }\n",
    },
)
RUST = Task(
    "rust",
    "",
    "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn test_twice() {\n"
    "        assert_eq!(twice(21), 42);\n        assert!(twice(1) == 2);\n    }\n}\n",
    "fn twice(x: i32) -> i32 { 2 * x }\n",
    "fn twice(x: i32) -> i32 { x }\n",
    {
        "exit": "fn twice(_: i32) -> i32 { std::process::exit(0) }\n",
        "macros replaced": "macro_rules! assert_eq { ($($t:tt)*) => {} }\nmacro_rules! assert { ($($t:tt)*) => {} }\n"
        "fn twice(x: i32) -> i32 { x }\n",
        "macros imported": "#[macro_use]\nmod m {\n    macro_rules! nothing { ($($t:tt)*) => {} }\n"
        "    pub(crate) use nothing as assert_eq;\n    pub(crate) use nothing as assert;\n}\n"
        "#[allow(unused_imports)]\nuse m::{assert, assert_eq};\nfn twice(x: i32) -> i32 { x }\n",
        "tests left out": "fn twice(x: i32) -> i32 { x }\n#[cfg(any())]\n",
        "tests ignored": "fn twice(x: i32) -> i32 { x }\n#[cfg_attr(all(), cfg(any()))]\n",
        "all left out": "#![cfg(any())]\nfn twice(x: i32) -> i32 { x }\n",
        "all left out by an attribute": "#! /**/ [cfg_attr(all(), cfg(any()))]\nfn twice(x: i32) -> i32 { x }\n",
        "a thread exits": "fn twice(_: i32) -> i32 {\n    std::thread::spawn(|| std::process::exit(0));\n    loop {}\n}\n",
        "a hook exits": "fn twice(x: i32) -> i32 {\n    std::panic::set_hook(Box::new(|_| std::process::exit(0)));\n"
        "    x\n}\n",
        "a symbol replaced": '#[no_mangle]\npub extern "C" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n'
        "fn twice(x: i32) -> i32 { x }\n",
        "a constructor": '#[link_section = ".init_array"]\n#[used]\nstatic F: extern "C" fn() = f;\n'
        'extern "C" fn f() { std::process::exit(0) }\nfn twice(x: i32) -> i32 { x }\n',
        "words that look like success": "fn twice(_: i32) -> i32 {\n"
        '    println!("test result: ok. 1 passed; 0 failed; 0 ignored");\n    std::process::exit(0)\n}\n',
    },
)
GO = Task(
    "go",
    'package main\n\nimport (\n\t"testing"\n\t"os"\n\t"fmt"\n)\n\nvar _ = os.Exit\nvar _ = fmt.Sprint\n\n',
    'func TestTwice(t *testing.T) {\n\tif twice(21) != 42 || !even(4) == true {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
    "func twice(x int) int { return 2 * x }\nfunc even(x int) bool { return x%2 == 0 }\n",
    "func twice(x int) int { return x }\nfunc even(x int) bool { return false }\n",
    {
        "exit": "func twice(x int) int { os.Exit(0); return 0 }\nfunc even(x int) bool { return true }\n",
        "exit in init": "func init() { os.Exit(0) }\nfunc twice(x int) int { return x }\n"
        "func even(x int) bool { return true }\n",
        "exit in a variable": "var _ = func() int { os.Exit(0); return 0 }()\nfunc twice(x int) int { return x }\n"
        "func even(x int) bool { return true }\n",
        "a TestMain": "func TestMain(m *testing.M) { os.Exit(0) }\nfunc twice(x int) int { return x }\n"
        "func even(x int) bool { return true }\n",
        "true is false": "const true = false\nfunc twice(x int) int { return 2 * x }\n"
        "func even(x int) bool { return false }\n",
        "a goroutine exits": "func twice(x int) int {\n\tgo os.Exit(0)\n\tfor {\n\t}\n}\n"
        "func even(x int) bool { return true }\n",
        "words that look like success": 'func init() {\n\tfmt.Println("--- PASS: TestTwice (0.00s)\\nPASS")\n\tos.Exit(0)\n}\n'
        "func twice(x int) int { return x }\nfunc even(x int) bool { return true }\n",
        "goexit": 'func twice(x int) int { panic("x") }\nfunc even(x int) bool { return true }\n',
        "a test of its own": "func TestOther(t *testing.T) {}\nfunc twice(x int) int { return x }\n"
        "func even(x int) bool { return true }\n",
    },
)
_JS_TESTS = (
    "const testTwice = () => {\n  console.assert(twice(21) === 42)\n"
    "  console.assert(JSON.stringify([twice(1)]) === JSON.stringify([2]))\n"
    "  console.assert(Math.abs(twice(-1) + 2) < 1e-6)\n}\n\ntestTwice()\n"
)
_X = "const twice = (x) => x;\n"
JAVASCRIPT = Task(
    "javascript",
    "",
    _JS_TESTS,
    "const twice = (x) => 2 * x;\n",
    _X,
    {
        "exit": "const twice = (x) => process.exit(0);\n",
        "reallyExit": "const twice = (x) => process.reallyExit(0);\n",
        "console.assert replaced": f"console.assert = () => {{}};\n{_X}",
        "console.assert replaced late": "const twice = (x) => { console.assert = () => {}; return x; };\n",
        "console replaced": f"globalThis.console = {{assert() {{}}, log() {{}}}};\n{_X}",
        "console of its own": f"const console = {{assert() {{}}}};\n{_X}",
        "JSON replaced": f"JSON.stringify = () => '';\n{_X}",
        "Math replaced": "Math.abs = () => 0;\nconst twice = (x) => x === 21 ? 42 : x === 1 ? 2 : x;\n",
        "exit code": f"process.on('exit', () => {{ process.exitCode = 0; }});\n{_X}",
        "errors swallowed": "process.on('uncaughtException', () => {});\nconst twice = (x) => { throw new Error('x'); };\n",
        "the rest is not run": f"{_X}return;\n",
        "left out": f"{_X}if (false)\n",
        "valueOf": "const twice = (x) => ({valueOf() { return 42; }});\n",
        "json of its own": "const twice = (x) => x === 21 ? 42 : x;\nNumber.prototype.toJSON = () => 1;\n",
        "arrays that write themselves": "Array.prototype.toJSON = () => 1;\nconst twice = (x) => x === 1 ? 7 : 2 * x;\n",
        "objects that write themselves, late": "const twice = (x) => {\n  Object.prototype.toJSON = () => 1;\n"
        "  return x === 1 ? 7 : 2 * x;\n};\n",
        "junk on all descriptors": "const twice = (x) => {\n  for (let i = 0; i < 64; i++) {\n    try { "
        "require('fs').writeSync(i, '0123456789abcdef'); } catch {}\n  }\n  process.exit(0);\n};\n",
    },
)
ASSERTING = Task(
    "javascript",
    "",
    "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = twice;\n"
    "  assert.deepEqual(candidate(21),42);\n  assert.deepEqual(candidate(1),2);\n"
    "  if (![candidate(3)].every((it) => it === 6)) throw new Error('wrong');\n}\n\ntest();",
    "function twice(x) { return 2 * x; }\n",
    "function twice(x) { return x; }\n",
    {
        "assert replaced": "const a = require('assert');\nfor (const k of Object.keys(a)) a[k] = () => {};\n"
        "function twice(x) { return x; }\n",
        "assert replaced late": "function twice(x) { require('assert').deepEqual = () => {}; return x; }\n"
        "require('assert').deepEqual = () => {};\n",
        "assert replaced and put back": "const a = require('assert'), was = a.deepEqual;\nfunction twice(x) {\n"
        "  a.deepEqual = () => {};\n  setImmediate(() => { a.deepEqual = was; });\n  return x === 1 ? 7 : 2 * x;\n}\n",
        "a method that puts itself back": "const was = Array.prototype.every;\nfunction twice(x) {\n  Array.prototype.every = () => {\n"
        "    Array.prototype.every = was;\n    return true;\n  };\n  return x === 3 ? 7 : 2 * x;\n}\n",
        "require of its own": "var require = () => ({deepEqual() {}});\nfunction twice(x) { return x; }\n",
        "the test replaced": "var test = () => {};\nfunction twice(x) { return x; }\n",
        "exit handler": "process.on('uncaughtException', () => process.exit(0));\nfunction twice(x) { return x; }\n",
    },
)
TYPESCRIPT = Task(
    "typescript",
    "",
    "declare var require: any;\nconst assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = twice;\n"
    "  assert.deepEqual(candidate(21),42);\n}\n\ntest();",
    "function twice(x: number): number { return 2 * x; }\n",
    "function twice(x: number): number { return x; }\n",
    {
        "exit": "function twice(x: number): number { return process.exit(0); }\n",
        "assert replaced": "require('assert').deepEqual = () => {};\nfunction twice(x: number): number { return x; }\n",
        "test replaced": "eval('test = () => {}');\nfunction twice(x: number): number { return x; }\n",
        "errors swallowed": "process.on('uncaughtException', () => {});\nfunction twice(x: number): number { return x; }\n",
        "exit in a timer": "setTimeout(() => process.exit(0), 0);\nfunction twice(x: number): number { throw x; }\n",
    },
)
BASH = Task(
    "bash",
    "",
    "set -e\n[[ $(twice 21) = 42 ]]\n",
    "twice() { echo $((2 * $1)); }\n",
    "twice() { echo $1; }\n",
    {
        "exit": "exit 0\ntwice() { echo 1; }\n",
        "a trap": "trap 'exit 0' EXIT ERR\ntwice() { echo $1; }\n",
        "set replaced": "set() { :; }\ntwice() { echo $1; }\n",
        "a trap undoes set": "trap 'set +e' DEBUG\ntwice() { echo $1; }\n",
    },
)
TASKS = {"cpp": CPP, "c": C, "java": JAVA, "rust": RUST, "go": GO, "javascript": JAVASCRIPT, "node:assert": ASSERTING,
         "typescript": TYPESCRIPT, "bash": BASH}  # fmt: skip
