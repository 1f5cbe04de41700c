"""Samples as the body of a request: what MessagePack cannot say of calls is written as Python literals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from scalebox.core import codec, values
from scalebox.core.errors import InputError
from scalebox.core.literals import check_plain
from scalebox.core.sample import AssertTest, CallTest, HarnessTest, Match, Sample, Test

#: Types of plain data that are the same after MessagePack.
_CARRIED = frozenset({type(None), bool, int, float, str, list, dict})
_EMPTY = Sample(id="", tests=())


def encode_batch(samples: Sequence[Sample | Mapping[str, Any]], deadline_s: float | None) -> bytes:
    """Return the body of a request that submits samples; raises InputError, which names the sample."""
    return body_of([encode_sample(sample, f"samples[{index}]") for index, sample in enumerate(samples)], deadline_s)


def body_of(records: Sequence[bytes], deadline_s: float | None) -> bytes:
    """Return the body of a request that submits encoded samples."""
    return msgspec.msgpack.encode({"samples": [msgspec.Raw(record) for record in records], "deadline_s": deadline_s})


def encode_sample(sample: Sample | Mapping[str, Any], place: str) -> bytes:
    """Return one sample of such a body; raises InputError, which names it by `place`."""
    try:
        return _encode_record(_portable(_record_of(sample) if isinstance(sample, Sample) else sample))
    except InputError as error:
        field = ".".join(part for part in (place, error.field) if part)
        raise InputError(error.problem, field=field, mend=error.mend) from None


def _encode_record(record: Mapping[str, Any]) -> bytes:
    meta = msgspec.Raw(codec.encode_plain(record.get("meta")))  # may hold anything
    try:
        return _strict.encode({**record, "meta": meta})
    except OverflowError:
        return codec.encode_plain(record)  # it knows integers beyond 64 bits
    except UnicodeEncodeError:
        raise InputError("holds a lone surrogate, which cannot be sent") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be sent: {error}", mend="give plain data") from None


def _refuse(value: Any) -> Any:
    raise TypeError(f"holds {type(value).__name__}, which is no plain data")


_strict = msgspec.msgpack.Encoder(enc_hook=_refuse)


def _portable(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record whose calls mean the same after MessagePack."""
    if not isinstance(raw, Mapping):
        raise InputError(f"a sample must be an object, not {type(raw).__name__}")
    record = dict(raw)
    for name in ("code", "response"):
        if isinstance(record.get(name), str):
            record[name] = record[name].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    tests = record.get("tests")
    if isinstance(tests, (list, tuple)):
        record["tests"] = [_portable_test(test, f"tests[{index}]") for index, test in enumerate(tests)]
    return record


def _portable_test(test: Any, field: str) -> Any:
    if not isinstance(test, Mapping) or "call" not in test:
        return test
    record = dict(test)
    for name in ("args", "expect"):
        value = record.get(name)
        if name == "args" and isinstance(value, tuple):
            value = record[name] = list(value)
        if not _is_carried(value, f"{field}.{name}"):
            del record[name]
            record[f"{name}_repr"] = repr(value)
    if not _is_carried(record.get("kwargs"), f"{field}.kwargs"):
        raise InputError("hold what cannot be sent", field=f"{field}.kwargs", mend="put them into args_repr")
    return record


def _is_carried(value: Any, field: str) -> bool:
    """Return whether plain data is the same after MessagePack; raises InputError for other data."""
    try:
        check_plain(value)
    except ValueError as error:
        raise InputError(str(error), field=field, mend="plain data alone can be carried to the program") from None
    pending = [value]
    while pending:
        kinds = set(map(type, pending))
        if not kinds <= _CARRIED:
            return False
        if kinds.isdisjoint((list, dict)):
            return True
        containers = [item for item in pending if type(item) in (list, dict)]
        pending = [part for item in containers for part in item]  # the keys of a dict
        pending += [part for item in containers if type(item) is dict for part in item.values()]
    return True


def _record_of(sample: Sample) -> dict[str, Any]:
    """Return a checked sample as the record that it could have been made of; raises InputError where none could."""
    for name in ("extract", "early_stop"):
        if getattr(sample, name) != getattr(_EMPTY, name):
            raise InputError("is a setting of the server", field=name, mend="set it there, and leave it out here")
    record: dict[str, Any] = {
        name: getattr(sample, name)
        for name in ("id", "problem_id", "language", "response", "code", "limits", "reward", "meta")
    }
    for name in ("prompt", "setup", "solution_files", "checker", "interactor", "main"):
        if getattr(sample, name) != getattr(_EMPTY, name):
            record[name] = getattr(sample, name)
    if sample.prompt:
        record["stop"] = sample.stop
    if sample.entry_points:
        record["entry_point"] = sample.entry_points
    if sample.steps is not None:
        record["trajectory"] = [{}] * sample.steps
    if sample.match != Match():
        record["match"] = {"mode": sample.match.mode} | _changed(sample.match, Match())
    return record | {"tests": [_record_of_test(test) for test in sample.tests]}


def _changed(value: msgspec.Struct, default: msgspec.Struct) -> dict[str, Any]:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: item for name, item in fields.items() if item != getattr(default, name)}


def _record_of_test(test: Test) -> dict[str, Any]:
    record = {name: getattr(test, name) for name in test.__struct_fields__}
    if record.pop("binary_files", None):
        raise InputError("are not of the input format", field="tests.binary_files", mend="give texts, as files")
    if isinstance(test, AssertTest):
        record["assert"] = record.pop("source")
    if isinstance(test, HarnessTest):
        record["harness"] = record.pop("source")
    if isinstance(test, CallTest):
        record["args"], record["kwargs"] = _decode(record.pop("arguments"))
        expect = record["expect"] = _decode(test.expect)
        if not record.pop("expect_json"):
            record["expect_repr"] = repr(expect)
            del record["expect"]
    return record


def _decode(data: bytes) -> Any:
    return values.decode(data, len(data) + 1, float("inf"))
