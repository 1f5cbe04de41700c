"""What a response makes of a prompt in other languages than Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.settings import Settings
from scalebox.gate.continued import continued
from scalebox.gate.program import program_of
from scalebox.parse import parse_sample

_PROMPT = "#include <vector>\nint f(int x) {\n"


def test_code_goes_on_where_the_prompt_ends() -> None:
    assert continued(_PROMPT, "  return x;\n}\n") == _PROMPT + "  return x;\n}\n"


def test_code_ends_at_the_first_stop() -> None:
    assert continued(_PROMPT, "  return x;\n}\nint main() {}\n", ["\nint main", "\n}"]) == _PROMPT + "  return x;"


def test_code_that_repeats_the_head_is_a_program_with_the_imports_that_it_lacks() -> None:
    code = "#include <map>\nint  f(int x)\n{\n  return x;\n}\n"
    assert continued(_PROMPT, code, ["\n}"]) == "#include <vector>\n" + code


def test_nothing_is_no_program() -> None:
    assert continued(_PROMPT, "  \n") == ""


def test_the_fields_of_a_sample_are_taken() -> None:
    record = {
        "id": "s", "language": "cpp", "prompt": _PROMPT, "stop": ["\n}"], "tests": [{"suffix": "}\nint main() {}\n"}],
        "response": "It is this:\n```cpp\n  return x;\n}\n```\n",
    }  # fmt: skip
    assert program_of(parse_sample(record, settings=Settings())) == (_PROMPT + "  return x;", "fenced")


def test_a_byte_order_mark_is_no_part_of_the_code() -> None:
    record = {"id": "s", "language": "java", "code": "\ufeffclass A {}", "tests": [{"stdin": "", "stdout": ""}]}
    assert program_of(parse_sample(record, settings=Settings())) == ("class A {}", "code")


@given(st.text(), st.text(), st.lists(st.text(min_size=1)))
def test_a_program_has_all_of_the_prompt_or_the_code(prompt: str, code: str, stop: list[str]) -> None:
    made = continued(prompt, code, stop)
    assert not made or made.startswith(prompt) or made.endswith(code)
