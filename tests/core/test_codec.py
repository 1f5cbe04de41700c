"""Samples and results as bytes, and the frames between engine and worker."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core import codec, wire
from scalebox.core.errors import InputError
from scalebox.core.result import CaseResult, Summary, Timings, VerificationResult
from scalebox.core.sample import CallTest, Match, Sample, StdinTest
from scalebox.core.values import encode
from scalebox.core.verdicts import Verdict

texts = st.text(st.characters(exclude_categories=["Cs"]))
any_text = st.text(st.characters())
finite = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
verdicts = st.sampled_from(Verdict)
cases = st.builds(
    CaseResult, id=texts, verdict=verdicts, cpu_s=finite, memory_bytes=st.integers(0, 1 << 40), stdout=texts,
    exit_code=st.none() | st.integers(0, 255),
)  # fmt: skip
results = st.builds(
    VerificationResult, id=texts, problem_id=st.none() | texts, verdict=verdicts, reward=st.none() | finite,
    timings=st.builds(Timings, queue_s=finite), cases=st.lists(cases, max_size=3), meta=plain,
    summary=st.builds(Summary, verdicts=st.dictionaries(texts, st.integers(0, 9), max_size=2)),
)  # fmt: skip
tests = st.lists(st.builds(StdinTest, id=texts, stdin=texts, stdout=texts), min_size=1, max_size=3) | st.lists(
    st.builds(CallTest, id=texts, call=texts, arguments=st.binary(), expect=st.binary()), min_size=1, max_size=3
)
samples = st.builds(
    Sample, id=texts, tests=tests.map(tuple), code=st.none() | texts, match=st.builds(Match, mode=texts), meta=plain
)  # fmt: skip


@given(st.lists(results, max_size=3))
def test_results_survive(given_results: list[VerificationResult]) -> None:
    assert codec.decode_results(codec.encode_results(given_results)) == given_results


@given(results)
def test_result_lines_survive(result: VerificationResult) -> None:
    line = codec.encode_result_line(result)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert codec.decode_result_line(line) == result


@given(samples)
def test_samples_survive(sample: Sample) -> None:
    assert codec.decode_sample(codec.encode_sample(sample)) == sample
    assert codec.decode_sample_line(codec.encode_sample_line(sample)) == sample


def test_both_encodings_have_the_same_field_names() -> None:
    result = VerificationResult(id="s", verdict=Verdict.PASSED, cases=[CaseResult(id="0", verdict=Verdict.PASSED)])
    packed = msgspec.msgpack.decode(codec.encode_results([result]))
    assert packed == [json.loads(codec.encode_result_line(result))]


class Odd:
    """No plain data."""

    def __repr__(self) -> str:
        return "an odd thing \udc80"


def cyclic() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize("meta", [Odd(), {Odd(): {1, 2}}, {(1, 2): "x"}, "\ud800", 1 << 200, cyclic(), b"\xff", 1j])
def test_encoding_is_total(meta: Any) -> None:
    result = VerificationResult(id="s\udfff", verdict=Verdict.PASSED, meta=meta)
    (packed,) = codec.decode_results(codec.encode_results([result]))
    assert packed.id == codec.decode_result_line(codec.encode_result_line(result)).id == "s\ufffd"
    tests = (CallTest(id="0", call="f", arguments=encode(((), {})), expect=encode(None)),)
    sample = codec.decode_sample(codec.encode_sample(Sample(id="s\udfff", tests=tests, code="", meta=meta)))
    assert sample.tests == tests


@given(st.binary(max_size=60))
def test_decoding_is_total(data: bytes) -> None:
    for decode in (codec.decode_results, codec.decode_sample, codec.decode_result_line, codec.decode_sample_line):
        with contextlib.suppress(InputError):
            decode(data)


messages: st.SearchStrategy[wire.ToEngine] = st.one_of(
    st.builds(wire.Hello, st.integers(0, 1 << 30), texts),
    st.builds(wire.Started, st.integers(0, 1 << 60)),
    st.builds(
        wire.Finished, st.integers(0, 1 << 60), results.map(lambda r: msgspec.structs.replace(r, meta=None)), texts
    ),
    st.builds(wire.Returned, st.integers(0, 1 << 60)),
    st.builds(wire.Fatal, texts, st.booleans()),
)


@given(st.lists(messages, max_size=5), st.integers(1, 50))
def test_frames_survive_any_cutting(sent: list[wire.ToEngine], size: int) -> None:
    data = b"".join(map(wire.pack, sent))
    frames = wire.from_worker()
    received = [message for at in range(0, len(data), size) for message in frames.feed(data[at : at + size])]
    assert received == sent


@given(st.binary(max_size=100))
def test_reading_frames_is_total(data: bytes) -> None:
    for frames in (wire.from_worker(), wire.from_engine()):
        with contextlib.suppress(wire.WireError):
            list(frames.feed(data))


def test_what_cannot_be_sent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(wire.WireError, match="cannot be sent"):
        wire.pack(wire.Fatal("\ud800"))
    monkeypatch.setattr(wire, "MAX_FRAME", 10)
    with pytest.raises(wire.WireError, match="more than a frame holds"):
        wire.pack(wire.Fatal("far too long"))
