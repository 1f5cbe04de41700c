"""`scalebox doctor`: sound and broken machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from scalebox.cli import doctor as doctor_module
from scalebox.cli.doctor import Check
from scalebox.core.settings import Settings, describe
from scalebox.languages.toolchain import Missing, Toolchain
from scalebox.sandbox import conformance
from scalebox.sandbox.conformance import Finding

Invoke = Callable[..., Result]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """Put these checks in place of a look at the machine."""
    checks = [Check(name="thing", state="ok", text="fine"), Check(name="other", state="note", text="so-so", mend="do")]

    def examine(_: Settings) -> Iterator[Check]:
        yield from checks

    monkeypatch.setattr(doctor_module, "_EXAMINATIONS", (examine,))
    return checks


@pytest.mark.usefixtures("found")
def test_a_sound_machine(invoke: Invoke) -> None:
    result = invoke("doctor")
    assert result.exit_code == 0
    assert "→ do" in result.stdout
    assert "BROKEN" not in result.stdout


def test_a_broken_machine(invoke: Invoke, found: list[Check]) -> None:
    found.append(Check(name="bad", state="broken", text="\x1b[2J[bold]no", mend="mend it"))
    result = invoke("doctor", "--conformance")
    assert result.exit_code == 1
    assert "BROKEN" in result.stdout
    assert "\\x1b[2J[bold]no" in result.stdout
    assert "conformance was not probed" in result.stderr


@pytest.mark.parametrize(("held", "exit_code"), [(True, 0), (False, 1)])
@pytest.mark.usefixtures("found")
def test_conformance(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, held: bool, exit_code: int) -> None:
    findings = [
        Finding(name="network.inet", promise="No network.", ok=held, detail="3 attempts"),
        Finding(name="clock", promise="No clock.", ok=False, detail="", skipped="not in this tier"),
    ]

    def run(tier: str, interpreter: str, progress: Callable[[str], None]) -> list[Finding]:
        assert (tier, interpreter) == ("process", "")
        progress("network.inet")
        return findings

    monkeypatch.setattr(conformance, "run", run)
    result = invoke("doctor", "--conformance", "--tier", "process")
    assert result.exit_code == exit_code
    assert ("NO" in result.stdout) is not held
    assert f"{held:d} held, {not held:d} broken, 1 not promised by this tier" in result.stdout
    record = json.loads(invoke("doctor", "--conformance", "--tier", "process", "--json").stdout)
    assert [finding["name"] for finding in record["conformance"]] == ["network.inet", "clock"]


@pytest.mark.usefixtures("found")
def test_settings_are_listed(invoke: Invoke) -> None:
    text = invoke("doctor", "--settings", "--tier", "process", env={"COLUMNS": "250"}).stdout
    assert all(f" {setting.name} " in text for setting in describe())
    assert "'process'" in text


@pytest.mark.usefixtures("found")
def test_one_object_for_machines(invoke: Invoke) -> None:
    record = json.loads(invoke("doctor", "--json").stdout)
    assert record["checks"][1] == {"name": "other", "state": "note", "text": "so-so", "mend": "do"}
    assert record["settings"]["tier"] == "auto"


@pytest.mark.usefixtures("found")
def test_names_of_settings_are_whole_on_a_narrow_terminal(invoke: Invoke) -> None:
    text = invoke("doctor", "--settings", env={"COLUMNS": "80"}).stdout
    assert all(setting.name in text for setting in describe())
    assert max(map(len, text.splitlines())) <= 80


def test_an_unusable_interpreter_is_broken() -> None:
    (check,) = doctor_module._interpreter(Settings(interpreter="/nowhere/python"))
    assert check.state == "broken"
    assert check.text == (
        "interpreter: '/nowhere/python' does not run as a Python (No such file or directory); give the path of one"
    )


def test_what_an_unusable_interpreter_said_is_told_without_the_question(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho 'python: not found' >&2; exit 127\n")
    script.chmod(0o700)
    (check,) = doctor_module._interpreter(Settings(interpreter=str(script)))
    assert check.text.endswith("does not run as a Python (exit code 127: python: not found); give the path of one")


def test_a_tier_that_there_is_not_is_broken() -> None:
    checks = list(doctor_module._tiers(Settings(tier="microvm")))
    assert checks[-1].state == "broken"
    assert "microvm" in checks[-1].text


def test_what_an_interpreter_can_import() -> None:
    assert doctor_module._installed(sys.executable, ("json", "no_such_module")) == ["json"]
    assert doctor_module._installed("/nowhere/python", ("json",)) == []


def test_cgroups_may_be_off() -> None:
    (check,) = doctor_module._cgroup(Settings(cgroup="off"))
    assert check.state == "note"


def test_a_missing_toolchain_limits_and_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def toolchain(name: str) -> Toolchain:
        if name == "rust":
            raise Missing("toolchain missing: no rustc for Rust")
        return Toolchain(name, {}, "", "version 1", ())

    monkeypatch.setattr(doctor_module, "toolchain", toolchain)
    checks = {check.name: check for check in doctor_module._languages(Settings())}
    assert (checks["language rust"].state, checks["language rust"].mend[:7]) == ("note", "apt-get")
    assert (checks["language c"].state, checks["language c"].text) == ("ok", "C: version 1")
    assert "language python" not in checks


def test_what_speeds_up_builds_is_made_ahead(
    invoke: Invoke, found: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def make(one: Toolchain, folder: str) -> str:
        made.append(one.language)
        if one.language == "rust":
            raise Missing("it was not made in time")
        return f"{folder}/{one.language}" if one.language != "go" else ""

    def known(name: str) -> Toolchain:
        return Toolchain(language=name, tools={}, home="", version="1", readable=())

    monkeypatch.setattr(doctor_module, "toolchain", known)
    monkeypatch.setattr(doctor_module, "prepare", make)
    assert not [
        check for check in json.loads(invoke("doctor", "--json").stdout)["checks"] if "prepared" in check["name"]
    ]
    assert not made
    result = invoke("doctor", "--prepare", "--json")
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"][len(found) :]}
    assert result.exit_code == 0
    assert {"cpp", "go", "java", "rust"} <= set(made)
    states = {name.removeprefix("prepared "): check["state"] for name, check in checks.items()}
    assert (states["cpp"], states["go"], states["rust"]) == ("ok", "note", "note")
    assert checks["prepared rust"]["text"] == "it was not made in time"
