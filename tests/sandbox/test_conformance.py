"""The conformance check, in both tiers and for all kinds of users, and that it finds what is broken."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.sandbox.stage import Stage, public_interpreter

from scalebox.sandbox import compiled, conformance, tiers
from scalebox.sandbox.conformance import Finding
from scalebox.sandbox.linux import bpf, landlock, seccomp
from scalebox.sandbox.linux.notifications import Notifications

_NAMES = [probe.name for probe in conformance.probes()]
_ALLOW_ALL = bpf.assemble([bpf.answer(0x7FFF_0000)], {})


@cache
def _findings() -> dict[str, Finding]:
    return {finding.name: finding for finding in conformance.run("namespace")}


@pytest.mark.parametrize("name", _NAMES)
def test_namespace_tier_holds(name: str) -> None:
    finding = _findings()[name]
    if finding.skipped:
        pytest.skip(finding.skipped)
    assert finding.ok, finding.detail


def test_every_control_shows_that_its_probe_can_fail() -> None:
    shown = [finding for finding in _findings().values() if "control" in finding.detail or "outside" in finding.detail]
    assert len(shown) > len(_NAMES) // 2
    assert [finding.name for finding in shown if "control is refused" in finding.detail] == []


def _run_as(stage: Stage, tier: str, **options: Any) -> list[Finding]:
    lines = (
        "import msgspec\nfrom scalebox.sandbox import conformance\n"
        f"seen['findings'] = msgspec.to_builtins(conformance.run({tier!r}, {stage.python!r}))\n"
    )
    answer = stage.agent(tier, lines=lines, **options)
    assert "error" not in answer, answer
    return msgspec.convert(answer["findings"], list[Finding])


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("user", "tier", "options"),
    [
        ("ordinary", "namespace", {}),
        ("ordinary", "process", {"deny": True}),
        ("contained", "process", {"deny": True}),
        ("root", "process", {}),
    ],
    ids=["ordinary-namespace", "ordinary-process", "contained-process", "root-process"],
)
def test_it_holds_for(user: str, tier: str, options: dict[str, Any], public_library: Path) -> None:
    stage = Stage(user, public_library if user == "ordinary" else None)
    interpreter = stage.python
    stage.python = public_interpreter()
    findings = _run_as(stage, tier, **options) if user == "ordinary" else _run_with(stage, interpreter, tier, options)
    assert [f"{item.name}: {item.detail}" for item in findings if not (item.ok or item.skipped)] == []
    assert len([item for item in findings if item.ok]) > len(_NAMES) // 2
    if tier == "namespace":
        assert [item.name for item in findings if item.skipped and "cgroup" not in item.skipped] == []


def _run_with(stage: Stage, interpreter: str, tier: str, options: dict[str, Any]) -> list[Finding]:
    """Run the check under our own interpreter, with one that every user can run in the jail."""
    samples_python, stage.python = stage.python, interpreter
    lines = (
        "import msgspec\nfrom scalebox.sandbox import conformance\n"
        f"seen['findings'] = msgspec.to_builtins(conformance.run({tier!r}, {samples_python!r}))\n"
    )
    answer = stage.agent(tier, lines=lines, **options)
    assert "error" not in answer, answer
    return msgspec.convert(answer["findings"], list[Finding])


# -- what is broken is found ---------------------------------------------------------------------------------------


def _broken(names: str, tier: str = "namespace", interpreter: str = "") -> list[str]:
    findings = conformance.run(tier, interpreter, names=names)
    assert findings
    return [finding.name for finding in findings if not (finding.ok or finding.skipped)]


def test_a_missing_filter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "base_filter", lambda *_, **__: _ALLOW_ALL)
    assert _broken("network.sockets") == ["network.sockets"]
    assert _broken("kernel.x32") == []
    assert "kernel.scheduling" in _broken("kernel.")


def test_a_missing_case_filter_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    base_filter = seccomp.base_filter
    monkeypatch.setattr(seccomp, "base_filter", lambda notify, **how: b"" if notify else base_filter(notify, **how))
    assert _broken("processes.none") == []
    monkeypatch.setattr(seccomp, "case_filter", lambda *_, **__: (_ALLOW_ALL, {}))
    assert _broken("processes.none") == ["processes.none"]


def test_a_supervisor_that_lets_processes_be_made_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "Notifications", lambda fd, **_: Notifications(fd, processes=True))
    assert _broken("processes.none") == ["processes.none"]


def test_missing_rules_for_files_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = public_interpreter()
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    monkeypatch.setattr(tiers, "choose", tiers.find)  # whose probe would say the same
    assert _broken("files.", "process", interpreter) == ["files.read", "files.write"]


def test_progress_is_told_and_names_choose() -> None:
    seen: list[str] = []
    findings = conformance.run("namespace", names="surroundings.", progress=seen.append)
    assert seen == [finding.name for finding in findings]
    assert all(name.startswith("surroundings.") for name in seen)
    assert len(seen) >= 3


def test_every_probe_says_what_is_promised_in_one_sentence() -> None:
    for probe in conformance.probes():
        assert probe.promise.endswith(".")
        assert probe.promise[0].isupper() or probe.promise.startswith("kill(")
    assert len(set(_NAMES)) == len(_NAMES)
