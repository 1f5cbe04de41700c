"""YAML of packages: total, bounded, and every refusal says where."""

from __future__ import annotations

import builtins
import contextlib
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.errors import InputError
from scalebox.packages.documents import Entry, read_yaml


def _plain(entry: Entry) -> Any:
    if isinstance(entry.data, dict):
        return {name: _plain(item) for name, item in entry.data.items()}
    return [_plain(item) for item in entry.data] if isinstance(entry.data, list) else entry.data


def test_values_know_their_field_and_line() -> None:
    document = read_yaml("a: 1\nlimits:\n  memory: [x, 2.5]\n  on: true\n", "p.yaml")
    assert _plain(document) == {"a": 1, "limits": {"memory": ["x", 2.5], "on": True}}
    item = document.mapping()["limits"].mapping()["memory"].items()[1]
    assert (item.field, item.line, item.source) == ("limits.memory[1]", 3, "p.yaml")
    assert str(item.error("is odd", "mend it")) == "p.yaml:3: limits.memory[1]: is odd (mend it)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: [\n", "p.yaml:3: no YAML"),
        ("a: 1\na: 2\n", "p.yaml:2: a: is given twice"),
        ("[x]: 1\n", "has a key that is no text"),
        ("a: &x [1]\nb: *x\n", "p.yaml:1: b: is an alias"),
        ("a: &x [*x]\n", "is an alias"),
        ("--- 1\n--- 2\n", "p.yaml:2: no YAML"),
        ("a: !!python/object/apply:os.system [id]\n", ""),
        ("a: !!python/name:os.system\n", "p.yaml:1: no YAML"),
        ("a: 2024-13-45\n", "holds a value that is none"),
        ("a: " + "9" * 5000, "holds a value that is none"),
        ("a: \x07", "no YAML"),
        ("[" * 40 + "]" * 40, "nested too deep"),
        ("[" * 20_000, "nested too deep"),
        ("#" * 600_000, "more than 512 KiB"),
    ],
)
def test_what_is_not_read_is_told(text: str, problem: str) -> None:
    if not problem:  # a tag on a list is passed over: it makes nothing
        assert _plain(read_yaml(text, "p.yaml")) == {"a": ["id"]}
        return
    with pytest.raises(InputError) as caught:
        read_yaml(text, "p.yaml")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("value", "read", "problem"),
    [
        ("[1]", Entry.text, "must be a text, not a list"),
        ("true", Entry.text, "must be a text, not a truth value"),
        ("x", Entry.number, "must be a number, not 'x'"),
        ("true", Entry.number, "must be a number"),
        (".nan", Entry.number, "nan makes no sense"),
        ("0", Entry.number, "0 makes no sense"),
        ("1e12", Entry.number, "makes no sense"),
        ("x", Entry.flag, "must be true or false"),
        ("x", Entry.items, "must be a list, not a text"),
        ("[]", Entry.mapping, "must be a mapping, not a list"),
    ],
)
def test_a_value_of_another_kind_is_told(value: str, read: Any, problem: str) -> None:
    entry = read_yaml(f"\na: {value}\n", "p.yaml").mapping()["a"]
    with pytest.raises(InputError) as caught:
        read(entry)
    assert str(caught.value).startswith("p.yaml:2: a: ")
    assert problem in str(caught.value)


def test_null_is_left_out_and_an_empty_document_is_an_empty_mapping() -> None:
    assert read_yaml("a: null\n", "p.yaml").get("a") is None
    assert read_yaml("", "p.yaml").mapping() == {}
    assert read_yaml("a: 12.5 x\n", "p.yaml").mapping()["a"].words() == ["12.5", "x"]


@given(st.text(alphabet="ab:-[]{},&*!|>'\"#%@? \n\t1.", max_size=60) | st.text(max_size=30))
def test_any_text_is_a_document_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        _plain(read_yaml(text, "p.yaml"))


def test_without_pyyaml_the_mend_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "yaml", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install scalebox\[packages\]"):
        read_yaml("a: 1", "p.yaml")
