"""What languages declare is consistent, documented, and found by every name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.languages import test_labels
from tests.languages.conftest import FIRST
from tests.languages.programs import ALL

from scalebox.core.errors import InputError
from scalebox.core.settings import Settings
from scalebox.gate.program import program_of
from scalebox.gate.tags import language_of
from scalebox.languages import java, jvm, registry, toolchain
from scalebox.languages.language import Language
from scalebox.parse import parse_sample

LANGUAGES = list(registry.languages().values())
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "languages.md"
FOLDER = Path(registry.__file__).parent


def test_every_language_has_golden_programs() -> None:
    assert {language.name for language in LANGUAGES} == {*ALL, "python"}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_table_has_it(language: Language) -> None:
    def code(names: tuple[str, ...]) -> str:
        return ", ".join(f"`{name}`" for name in names)

    row = f"| `{language.name}` | {language.title} | {code(language.aliases)} | {code(language.extensions)} | "
    assert row + f"{language.install} |\n" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_table_of_labels_counts_it_and_skips_none_of_the_first(name: str) -> None:
    labels = 2 * sum(attribute.startswith("test_") for attribute in vars(test_labels))  # in each of two tiers
    found = re.search(rf"^\| `{name}` \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    expected, run, skipped = map(int, found.groups())
    assert (expected, run + skipped) == (labels, labels)
    assert name not in FIRST or not skipped


def test_no_two_languages_share_a_name_or_an_end() -> None:
    names = [name for language in LANGUAGES for name in (language.name, *language.aliases)]
    ends = [end for language in LANGUAGES for end in language.extensions]
    assert len(set(names)) == len(names)
    assert len(set(ends)) == len(ends)
    assert all(name == name.lower() for name in (*names, *ends))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_its_fences_are_told(language: Language) -> None:
    assert language_of(language.tag or language.name) == (language.tag or language.name)


def test_names_are_found_in_any_case() -> None:
    found = {name: registry.find(name) for name in ("C++", "c++20", "JS", "ts", "Golang", "py", "klingon", "")}
    assert {name: language.name if language else None for name, language in found.items()} == {
        "C++": "cpp", "c++20": "cpp20", "JS": "javascript", "ts": "typescript", "Golang": "go", "py": "python",
        "klingon": None, "": None,
    }  # fmt: skip


def test_a_file_tells_its_language() -> None:
    found = [registry.by_extension(name) for name in ("a.cpp", "dir/B.JAVA", "x.rs", "none", ".py")]
    assert [language.name if language else None for language in found] == ["cpp", "java", "rust", None, None]


def test_a_missing_tool_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Language(
        name="absent", title="Absent", tools=("no-such-tool",), self_test=LANGUAGES[0].self_test, install="pray"
    )
    monkeypatch.setattr(toolchain, "languages", lambda: {"absent": absent})
    with pytest.raises(toolchain.Missing, match="toolchain missing: no no-such-tool for Absent"):
        toolchain.toolchain("absent")


@pytest.mark.parametrize(
    ("text", "source", "main"),
    [
        ("public class A { public static void main(String[] a) {} }", "A.java", "A"),
        ("class B {}\npublic class A { static public void main (String... a) {} }", "A.java", "A"),
        ("class B { public static void main(String[] a) {} }\nclass C {}", "B.java", "B"),
        ("public class A {}\nclass B { static class C { public static void main(String[] a) {} } }", "A.java", "B"),
        ('// public class X {\n/* public class Y { */ class A { String s = "public class Z {"; }', "A.java", "A"),
        ("package a.b;\npublic final class A { public static void main(String[] a) {} }", "A.java", "a.b.A"),
        ("public record P(int x) { public static void main(String[] a) { if (true) { } } }", "P.java", "P"),
        ("nothing", "Main.java", "Main"),
        ("class B { void main() {} }\npublic class A { public static void main(String[] a) {} }", "A.java", "A"),
        ("class B { static void main(int x) {} }\nclass A { public static void main(String[] a) {} }", "A.java", "A"),
        ("class B { void main(String s) {} }\nclass A { static public void main(final String[] a) {} }", "A.java", "A"),
        (
            "class B { public static void main(String[] a) {} }\n"
            "public class A { public static void main(String[] a) {} }",
            "A.java",
            "A",
        ),
        (
            "class B { static class C { public static void main(String[] a) {} } }\n"
            "class A { public static void main(String[] a) {} }",
            "A.java",
            "A",
        ),
        ("public class A { char c = '{'; }\nclass B { public static void main(String[] a) {} }", "A.java", "B"),
    ],
)
def test_java_names_its_file_and_its_class(text: str, source: str, main: str) -> None:
    assert java.layout(text) == {"source": source, "main": main}


@pytest.mark.parametrize(
    ("text", "main"),
    [
        ("fun main() {}", "FileKt"),
        ("package a.b\nfun main(args: Array<String>) {}", "a.b.FileKt"),
        ("object A { fun main() {} }\nfun main() {}", "FileKt"),
        ("object A { fun f() = 1 }\nclass B { fun main() {} }\nfun main() {}", "FileKt"),
        ("fun main() {}\nobject A { @JvmStatic fun main(args: Array<String>) {} }", "FileKt"),
        ("object A { @JvmStatic fun main(args: Array<String>) {} }", "A"),
        ("class A { companion object { @JvmStatic fun main(vararg args: String) {} } }", "A"),
        ("object B { val x = 1 }\nclass A { companion object { @JvmStatic fun main(args: Array<String>) {} } }", "A"),
        ("object A { def main(args: Array[String]): Unit = {} }", "A"),
        ("object B { def main(x: Int): Int = x }\nobject A { def main(args: Array[String]): Unit = {} }", "A"),
        ("class B { def main(): Unit = {} }\nobject A extends App { }", "A"),
        ("trait T\nobject A extends T with App { }", "A"),
        ("class A(x: Int)\nobject A { def main(args: Array[String]): Unit = {} }", "A"),
        ("nothing", "FileKt"),
    ],
)
def test_kotlin_and_scala_name_the_class_that_is_entered(text: str, main: str) -> None:
    assert jvm.main_class(text, "FileKt") == main


def _extracted(language: str, response: str) -> str:
    record = {"id": "s", "language": language, "response": response, "tests": [{"stdin": "", "stdout": ""}]}
    return program_of(parse_sample(record, settings=Settings()))[0].strip()


@pytest.mark.parametrize(
    ("language", "response", "code"),
    [
        ("cpp", "```python\nx\n```\n```cpp\nint main() {}\n```\n", "int main() {}"),
        ("cpp20", "```text\nx\n```\n```c++\nint main() {}\n```\n", "int main() {}"),
        ("cpp", "```cpp\nint main() {}\n```\nThe core is\n```cpp\nx += 1;\n```\n", "int main() {}"),
        ("java", "```java\nclass A { void main() {} }\n```\n```java\nimport x;\n```\n", "class A { void main() {} }"),
        ("typescript-transpile", "```js\na\n```\n```ts\nb\n```\n", "b"),
        ("javascript", "```js\na\n```\nBetter:\n```javascript\nb\n```\n", "b"),
        ("rust", "fn main() {}", "fn main() {}"),
    ],
)
def test_the_block_of_the_language_is_the_program(language: str, response: str, code: str) -> None:
    assert _extracted(language, response) == code


def test_other_kinds_of_test_are_for_python() -> None:
    record = {"id": "s", "language": "c++", "code": "x", "tests": [{"assert": "f() == 1"}]}
    with pytest.raises(InputError, match="assert tests are not supported by this version for cpp"):
        parse_sample(record, settings=Settings())
