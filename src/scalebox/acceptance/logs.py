"""Completeness of the log: what was run and what was denied is found in it, sample by sample."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from scalebox.acceptance.model import Failed, Finding, Skipped, find
from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult

#: Where a record may have the sample's id: those of the result log, and those of events.
_IDS = ("id", "sample_id")
#: Fields of an execution that are kept.
_SAID = ("verdict", "reward", "masked", "integrity", "risk")
_MENTIONED = 3


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says of one sample: `said` has the fields of its execution that are looked at.

    Logs of events name batches: that in which it was executed, and, a server's, that in which it was submitted.
    """

    said: dict[str, Any] = {}
    denied: tuple[str, ...] = ()
    of_events: bool = False
    executed_in: str = ""
    submitted_in: str = ""

    @property
    def verdict(self) -> str:
        """The verdict of the execution, "" where there was none."""
        return str(self.said.get("verdict", ""))


def read(places: Sequence[str], prefix: str) -> dict[str, Record]:
    """Return the records of samples whose id begins with `prefix`, in files of JSON Lines or folders of such.

    A denial of its own record counts for its sample. Raises InputError for what cannot be read.
    """
    found: dict[str, Record] = {}
    for place in places:
        for line in _lines(place):
            if prefix.encode() in line:
                note(found, _record(line, place), prefix)
    return found


def note(found: dict[str, Record], record: Mapping[str, Any], prefix: str) -> None:
    """Add what a record of a log says to what is known of its sample, whose id begins with `prefix`."""
    event, batch = record.get("event"), str(record.get("batch_id", ""))
    if event == "batch_submitted":
        for sample_id in _texts(record.get("ids")):
            if sample_id.startswith(prefix):
                found[sample_id] = msgspec.structs.replace(found.get(sample_id, Record()), submitted_in=batch)
        return
    name = next((record[key] for key in _IDS if str(record.get(key, "")).startswith(prefix)), None)
    if name is None:
        return
    known = found.get(name, Record())
    denied = {*known.denied, *_texts(record.get("denied")), *_texts(record.get("what"))}
    found[name] = msgspec.structs.replace(known, denied=tuple(sorted(denied)))
    if record.get("verdict"):
        said = {field: record[field] for field in _SAID if field in record}
        found[name] = msgspec.structs.replace(found[name], said=said, of_events=event is not None, executed_in=batch)


def findings(records: Mapping[str, Record] | None, results: Sequence[VerificationResult]) -> list[Finding]:
    """Return whether every execution and every denial among `results` is in the logs; None: no log was named."""
    mend = "set result_log or audit_log on every engine, and name it here by --log or --operator-token-file"
    return [
        find(
            "log.executions",
            "What is not in the log cannot be traced: nobody can say later why a sample was rewarded.",
            mend,
            lambda: _executions(_named(records), results),
        ),
        find(
            "log.denials",
            "A policy that tries the walls is seen by its denials alone, long before one gives way.",
            mend,
            lambda: _denials(_named(records), results),
        ),
    ]


def _executions(records: Mapping[str, Record], results: Sequence[VerificationResult]) -> str:
    missing = [result.id for result in results if not records.get(result.id, Record()).said]
    if missing:
        raise Failed(f"{len(missing)} of {len(results)} executions are not in the log, such as {_some(missing)}")
    other = [result.id for result in results if records[result.id].verdict != result.verdict]
    if other:
        raise Failed(f"{len(other)} of {len(results)} have another verdict in the log, such as {_some(other)}")
    return f"all {len(results)} executions, with their verdicts"


def _denials(records: Mapping[str, Record], results: Sequence[VerificationResult]) -> str:
    denied = [result for result in results if result.denied]
    nothing = Record()
    missing = [r.id for r in denied if not {*r.denied} <= {*records.get(r.id, nothing).denied}]
    if missing:
        raise Failed(f"{len(missing)} of {len(denied)} denials are not in the log, such as {_some(missing)}")
    if not denied:
        raise Skipped("nothing was denied: this deployment's walls stand outside of the jail, where no denial is seen")
    return f"all {len(denied)} samples to which something was denied, with its name"


def _named(records: Mapping[str, Record] | None) -> Mapping[str, Record]:
    if records is None:
        raise Skipped("no log was named: give --log, or --operator-token-file for the audit log of a server")
    return records


def _lines(place: str) -> Iterator[bytes]:
    path = Path(place)
    try:
        for file in sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]:
            with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
                yield from stream
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=place, field="--log") from None


def _record(line: bytes, place: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise InputError(f"not JSON Lines: {error}", source=place, field="--log") from None


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MENTIONED])
