"""The whole proof: probes and forgeries as one batch, then the load, then the logs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from scalebox.acceptance import blocked, forgeries, isolation, load, logs
from scalebox.acceptance.audit import Auditor
from scalebox.acceptance.blocked import Blocked
from scalebox.acceptance.isolation import Canary, Target
from scalebox.acceptance.model import Check, Failed, Finding, find
from scalebox.client import AsyncScaleBoxClient
from scalebox.core.errors import ScaleBoxError
from scalebox.core.result import VerificationResult

Progress = Callable[[str, int], None]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to prove. `targets` are called from inside jails; `canary` is a file of the workers' machine, else made."""

    targets: tuple[Target, ...] = ()
    canary: str = ""
    logs: tuple[str, ...] = ()
    load: load.Load = load.Load()


class Report(msgspec.Struct, kw_only=True):
    """What was proved, what became of each hostile sample, and how fast it went."""

    passed: bool
    seconds: float
    checks: list[Finding]
    blocked: list[Blocked]
    load: load.Figures


async def prove(
    client: AsyncScaleBoxClient, plan: Plan, progress: Progress = lambda *_: None, auditor: Auditor | None = None
) -> Report:
    """Prove a deployment through `client`, and `auditor` for what an operator may see.

    `progress` is called with what is under way and by how many steps it went on. Raises the client's errors where the
    deployment cannot be used at all, and InputError for a log that cannot be read.
    """
    begun = time.monotonic()
    prefix = f"acceptance-{secrets.token_hex(4)}"
    canary = Canary(plan.canary)
    try:
        progress("probes and forgeries", 0)
        checks = [*isolation.checks(canary, (canary.target, *plan.targets)), *forgeries.checks()]
        control = find("isolation.control", *_CONTROL, lambda: _control(canary))
        batch_id, results = await _results(client, checks, prefix, plan.load.patience_s)
        judged = list(map(_judged, checks, results))
        found = [control, *judged]
    finally:
        canary.close()
    loaded, figures, steps = await load.run(client, plan.load, prefix, lambda count: progress("load", count))
    progress("logs", 0)
    records = logs.read(plan.logs, prefix) if plan.logs else None
    of_server = None if auditor is None else await auditor.records(prefix)
    # What a server's own log lacks of an exploit is not made up for by another log.
    its_log = records if of_server is None else of_server
    outcomes = list(zip(results, judged, strict=True))
    hostile = blocked.section(checks, outcomes, batch_id, its_log, of_server=of_server is not None)
    records = records if of_server is None else {**(records or {}), **of_server}
    found += [*loaded, *logs.findings(records, [*results, *steps]), blocked.finding(hostile, its_log)]
    if auditor is not None:
        found += await auditor.findings()
    passed = all(finding.state != "failed" for finding in found)
    return Report(passed=passed, seconds=time.monotonic() - begun, checks=found, blocked=hostile, load=figures)


_CONTROL = (
    "A listener that hears nobody, and a file that nobody can read, would prove nothing by silence.",
    "run the command where it may listen on the loopback interface and write to its temporary folder",
)


def _control(canary: Canary) -> str:
    canary.control()
    if canary.secret:
        with open(canary.path, encoding="utf-8") as file:
            if canary.secret not in file.read():
                raise Failed("the canary file does not hold its secret")
    return "this process reaches the listener and reads the file: programs under test must not"


async def _results(
    client: AsyncScaleBoxClient, checks: Sequence[Check], prefix: str, patience_s: float
) -> tuple[str, list[VerificationResult]]:
    """Return the batch in which the samples of all checks went out, and its results."""
    samples: list[dict[str, Any]] = [
        {"reward": "pass_rate", **check.sample, "id": f"{prefix}.{check.name}"} for check in checks
    ]
    try:
        batch_id = await client.submit_batch(samples, wait_s=patience_s)
        return batch_id, await client.fetch(batch_id, timeout=patience_s)
    except TimeoutError as error:
        raise ScaleBoxError(f"the deployment does not answer: {error}") from None


def _judged(check: Check, result: VerificationResult) -> Finding:
    def look() -> str:
        seen = check.judge(result)
        return f"{seen}; {blocked.refusal(check, result)}" if check.verdicts else seen

    return find(check.name, check.why, check.mend, look)
