"""QuixBugs in Java as programs with their JUnit tests around them: packages are taken out, JUnit is a class of ours."""

# ruff: noqa: E501 - Java

from __future__ import annotations

import re
from typing import Any

Record = dict[str, Any]

_PACKAGES = re.compile(r"\b(?:correct_java_programs|java_programs(?:\.extra)?|java_testcases(?:\.junit)?)\.(?=\w)")
_HEAD = re.compile(r"^\s*(?:package|import)\s[^;]*;", re.MULTILINE)
_PUBLIC = re.compile(r"^public\s+(?=(?:class|interface)\b)", re.MULTILINE)
_TEST = re.compile(r"@(?:org\.junit\.)?Test(?:\([^)]*\))?\s+public\s+void\s+(\w+)")
_IGNORED = re.compile(r"@(?:org\.junit\.)?Test(?:\([^)]*\))?\s+@org\.junit\.Ignore\s")
_CLASS = re.compile(r"^class\s+(\w+)", re.MULTILINE)

_JUNIT = """
class Assert {
    static void assertEquals(Object a, Object b) { if (!Objects.equals(a, b)) throw new AssertionError(a + " != " + b); }
    static void assertEquals(long a, long b) { if (a != b) throw new AssertionError(a + " != " + b); }
    static void assertEquals(double a, double b, double d) { if (!(Math.abs(a - b) <= d)) throw new AssertionError(b); }
    static void assertTrue(boolean a) { if (!a) throw new AssertionError(); }
    static void assertFalse(boolean a) { if (a) throw new AssertionError(); }
}
class QuixFixOracleHelper {
    static String format(Object value, boolean cut) {
        if (value instanceof Iterable) {
            StringJoiner all = new StringJoiner(",", "[", "]");
            for (Object one : (Iterable<?>) value) all.add(format(one, cut));
            return all.toString();
        }
        if (value != null && value.getClass().isArray()) {
            StringJoiner all = new StringJoiner(",", "[", "]");
            for (int i = 0; i < java.lang.reflect.Array.getLength(value); i++) {
                all.add(format(java.lang.reflect.Array.get(value, i), cut));
            }
            return all.toString();
        }
        String text = String.valueOf(value).replace(" ", "").replace('(', '[').replace(')', ']');
        return cut && text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
"""


def as_program(record: Record, candidate: Record) -> dict[str, Any] | None:
    """Return the fields of a sample; None where the record has no JUnit tests."""
    name = record["entry_point"].upper()
    text = _plain(record["junit"].get(f"java_testcases/junit/{name}_TEST.java", ""))
    text = _IGNORED.sub("", text)
    tests = _TEST.findall(text)
    if not tests:
        return None
    kind = _CLASS.search(text)
    assert kind is not None
    calls = "\n".join(f"        new {kind.group(1)}().{test}();" for test in tests)
    main = (
        f"public class Main {{\n    public static void main(String[] args) throws Throwable {{\n{calls}\n    }}\n}}\n"
    )
    support = "\n".join(map(_plain, record["support"].values()))
    text = _TEST.sub(r"public void \1", text).replace("org.junit.Assert.", "Assert.")
    text = text.replace(f"class {kind.group(1)}", f"class {kind.group(1)} extends Assert", 1)
    prefix = "import java.util.*;\nimport java.util.function.*;\n"
    return {
        "problem_id": record["id"],
        "code": _plain(candidate["code"]),
        "tests": [{"prefix": prefix, "suffix": f"{support}\n{text}\n{_JUNIT}\n{main}"}],
    }


def _plain(text: str) -> str:
    """Return a file of Java as a part of another: without package, imports and public classes."""
    return _PUBLIC.sub("", _PACKAGES.sub("", _HEAD.sub("", text)))
