"""Whatever a body holds, it is a submission or an InputError."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scalebox import InputError, Settings
from scalebox.core import codec
from scalebox.server.bodies import Submission, read_submission

ANY = settings(max_examples=60)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
#: What JSON has not.
PACKED = st.recursive(
    PLAIN
    | st.binary(max_size=8)
    | st.datetimes(timezones=st.timezones())
    | st.builds(msgspec.msgpack.Ext, st.integers(-128, 127), st.binary(max_size=9)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 9) | st.binary(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = (
    "id problem_id language response code tests match limits profile reward meta prompt stop setup entry_point "
    "solution_files main checker interactor trajectory reference tests_written patch repo"
).split()
TEST_FIELDS = (
    "id stdin stdout files call args kwargs expect args_repr expect_repr assert harness prefix suffix required "
    "mutant_control hidden weight"
).split()


def sample_like(value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects that are almost samples: right ones with some fields put wrong."""
    test = st.sampled_from(
        [
            {"stdin": "1", "stdout": "2"},
            {"call": "f", "args": [1], "expect": 2},
            {"assert": "assert f(1) == 2"},
        ]
    )
    tests = st.lists(
        st.builds(
            lambda right, wrong: right | wrong, test, st.dictionaries(st.sampled_from(TEST_FIELDS), value, max_size=1)
        ),
        min_size=1,
        max_size=2,
    )
    right = st.fixed_dictionaries({"id": st.just("s"), "code": st.just("def f(x): return x + 1"), "tests": tests})
    return changed(right, FIELDS, value, 2)


def changed(
    right: st.SearchStrategy[dict[str, Any]], fields: list[str], value: st.SearchStrategy[Any], most: int
) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects with at most so many fields replaced or added."""
    wrong = st.dictionaries(st.sampled_from(fields), value, max_size=most)
    return st.builds(lambda right, wrong: right | wrong, right, wrong)


def read(body: bytes, packed: bool) -> Submission | None:
    """Return what is read, None for what is refused."""
    try:
        return read_submission(body, packed=packed, settings=Settings())
    except InputError:
        return None


@ANY
@given(st.lists(sample_like(PLAIN), max_size=2) | PLAIN, PLAIN)
def test_json(samples: Any, deadline: Any) -> None:
    read(msgspec.json.encode({"samples": samples, "deadline_s": deadline}), False)


@ANY
@given(st.lists(sample_like(PACKED), max_size=2) | PACKED, PACKED)
@example([{"id": "s", "code": "x = 1", "tests": [{"stdin": "", "stdout": ""}], "meta": {1: b"x"}}], None)
def test_messagepack(samples: Any, deadline: Any) -> None:
    taken = read(msgspec.msgpack.encode({"samples": samples, "deadline_s": deadline}), True)
    for record in taken.records if taken is not None else ():
        codec.decode_sample(record)


@ANY
@given(st.integers(0, 200), st.binary(max_size=4), st.booleans())
def test_damaged(at: int, noise: bytes, packed: bool) -> None:
    whole = {"samples": [{"id": "s", "code": "print(1)", "tests": [{"stdin": "ä", "stdout": "1"}]}], "deadline_s": 2.5}
    body = msgspec.msgpack.encode(whole) if packed else msgspec.json.encode(whole)
    taken = read(body, packed)
    assert taken is not None
    assert (len(taken.records), taken.deadline_s) == (1, 2.5)
    read(body[:at] + noise + body[at + len(noise) :], packed)
    assert at >= len(body) or read(body[:at], packed) is None, "a part is not the whole"


@ANY
@given(st.binary(max_size=60), st.booleans())
def test_noise(body: bytes, packed: bool) -> None:
    read(body, packed)
