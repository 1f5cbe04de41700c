"""What was blocked: every hostile sample, how it was refused, and what the log says of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from scalebox.acceptance.logs import Record
from scalebox.acceptance.model import Check, Failed, Finding, Skipped, find
from scalebox.core.result import VerificationResult

_MENTIONED = 3


class Blocked(msgspec.Struct, frozen=True, kw_only=True):
    """A hostile sample: `documented` are the verdicts that it may have, `amiss` is what is wrong with its refusal.

    `logged` says whether the log tells the same of it, by batch and sample; None where there is no log to look into.
    `unlogged` is what the log has otherwise.
    """

    check: str
    batch_id: str
    sample_id: str
    verdict: str
    documented: list[str]
    reward: float | None
    masked: bool
    integrity: str
    risk: str
    denied: list[str]
    amiss: str = ""
    logged: bool | None = None
    unlogged: str = ""


def refusal(check: Check, result: VerificationResult) -> str:
    """Return how a hostile sample was refused; raises Failed where that is not as the documentation says."""
    if result.verdict not in check.verdicts:
        documented = " or ".join(sorted(check.verdicts))
        raise Failed(f"it is {result.verdict}, documented is {documented}: {result.message}")
    if result.integrity != "separate":
        raise Failed(f"its tests shared a process with it: {result.integrity_reason}")
    if result.denied and result.risk not in ("medium", "high"):
        raise Failed(f"denied {', '.join(result.denied)}, and its risk is {result.risk}")
    return ", ".join([result.verdict, *(f"denied {what}" for what in result.denied)])


def section(
    checks: Sequence[Check],
    judged: Sequence[tuple[VerificationResult, Finding]],
    batch_id: str,
    records: Mapping[str, Record] | None,
    *,
    of_server: bool,
) -> list[Blocked]:
    """Return what became of the hostile ones among `checks`, which went out as one batch and were `judged` already.

    `of_server` says that the log is a server's own, which has the submission too.
    """
    return [
        _blocked(check, *one, batch_id, records, of_server=of_server)
        for check, one in zip(checks, judged, strict=True)
        if check.verdicts
    ]


def finding(blocked: Sequence[Blocked], records: Mapping[str, Record] | None) -> Finding:
    """Return whether the log says of every hostile sample that, and how, it was refused."""
    by_batch = records is not None and any(record.of_events for record in records.values())
    return find(
        "log.blocked",
        "An exploit that is refused and not recorded is tried again by the next policy, and nobody learns of it.",
        "set audit_log on the server, and compare the record with the result that the trainer got",
        lambda: _all_logged(blocked, by_batch=by_batch),
    )


def _blocked(
    check: Check,
    result: VerificationResult,
    found: Finding,
    batch_id: str,
    records: Mapping[str, Record] | None,
    *,
    of_server: bool,
) -> Blocked:
    unlogged = ""
    if records is not None:
        unlogged = "; ".join(_differences(result, batch_id, records.get(result.id), of_server=of_server))
    return Blocked(
        check=check.name,
        batch_id=batch_id,
        sample_id=result.id,
        verdict=result.verdict.value,
        documented=sorted(check.verdicts),
        reward=result.reward,
        masked=result.masked,
        integrity=result.integrity,
        risk=result.risk,
        denied=result.denied,
        amiss=found.detail if found.state == "failed" else "",
        logged=None if records is None else not unlogged,
        unlogged=unlogged,
    )


def _differences(result: VerificationResult, batch_id: str, record: Record | None, *, of_server: bool) -> Iterator[str]:
    """Yield where the log does not say what the trainer was told."""
    if record is None:
        yield "not in the log"
        return
    told = {"verdict": result.verdict.value, "reward": result.reward, "masked": result.masked}
    told |= {"integrity": result.integrity, "risk": result.risk}
    for name, value in told.items():
        if name not in record.said or record.said[name] != value:
            yield f"{name} is {record.said.get(name, 'not there')} in the log, not {value}"
    if missing := {*result.denied} - {*record.denied}:
        yield f"the log has no denial of {', '.join(sorted(missing))}"
    if record.of_events and record.executed_in != batch_id:
        yield f"executed in the batch {record.executed_in or '(none)'}, not {batch_id}"
    if of_server and record.submitted_in != batch_id:
        yield f"submitted in the batch {record.submitted_in or '(none)'}, not {batch_id}"


def _all_logged(blocked: Sequence[Blocked], *, by_batch: bool) -> str:
    if any(one.logged is None for one in blocked):
        raise Skipped("no log was named: give --log, or --operator-token-file for the audit log of a server")
    missed = [f"{one.check} ({one.unlogged})" for one in blocked if not one.logged]
    if missed:
        raise Failed(
            f"{len(missed)} of {len(blocked)} are not in the log as they were: {'; '.join(missed[:_MENTIONED])}"
        )
    told = "with verdict, reward, integrity, risk and denials"
    return f"all {len(blocked)} hostile samples, {told}{', each in its batch' if by_batch else ''}"
