"""`scalebox doctor`: what this machine gives to ScaleBox, what is missing, and how to mend it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Column, Table
from rich.text import Text

from scalebox.cli.text import printable
from scalebox.client import ScaleBoxClient
from scalebox.core import settings as settings_module
from scalebox.core.errors import SandboxError, ScaleBoxError, SettingsError
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.languages import python, registry
from scalebox.languages.toolchain import Missing, prepare, toolchain
from scalebox.sandbox import tiers
from scalebox.sandbox.linux.cgroup import CaseCgroup, why_not
from scalebox.schedule.cores import cpu_quota, physical_cores, worker_cores

if TYPE_CHECKING:
    from scalebox.sandbox.conformance import Finding

EXIT_BROKEN = 1
_SELF_TEST_S = 60.0

_MARKS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("BROKEN", "bold red")}
_VERSIONS = """
import importlib.util, json
print(json.dumps([name for name in %r if importlib.util.find_spec(name) is not None]))
"""


class Check(msgspec.Struct, kw_only=True):
    """One thing looked at. A `note` limits what can be had and breaks nothing."""

    name: str
    state: Literal["ok", "note", "broken"]
    text: str
    mend: str = ""


@click.command()
@click.option("--conformance", is_flag=True, help="Also probe every promise of the sandbox with hostile programs.")
@click.option("--prepare", "ahead", is_flag=True, help="Also make what speeds up builds, before samples wait for it.")
@click.option("--settings", "show_settings", is_flag=True, help="List the settings in force and what they mean.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--config", metavar="FILE", help="Settings file (TOML) instead of scalebox.toml.")
@click.option("--tier", metavar="NAME", help="Isolation tier: auto, namespace, process, container or gvisor.")
@click.option("--interpreter", metavar="PATH", help="The Python that runs samples.")
def doctor(
    *,
    conformance: bool,
    ahead: bool,
    show_settings: bool,
    as_json: bool,
    config: str | None,
    tier: str | None,
    interpreter: str | None,
) -> None:
    """Say what this machine gives, and what is broken.

    Exit code: 0 if samples can be verified as the settings ask, and, with --conformance, every
    promise held; else 1.
    """
    settings = settings_module.load(config, tier=tier, interpreter=interpreter)
    if settings.token:
        settings = msgspec.structs.replace(settings, token="(not shown)")  # noqa: S106 - no token
    examinations = (*_EXAMINATIONS, _prepared) if ahead else _EXAMINATIONS
    checks = [check for examine in examinations for check in examine(settings)]
    broken = any(check.state == "broken" for check in checks)
    findings = _conformance(settings, show=not as_json) if conformance and not broken else []
    if as_json:
        click.echo(json.dumps(_record(checks, findings, settings)))
    else:
        _print(checks, findings, settings if show_settings else None)
    if conformance and broken:
        click.echo("conformance was not probed: mend what is broken first", err=True)
    sys.exit(EXIT_BROKEN if broken or any(_failed(finding) for finding in findings) else 0)


def _machine(_: Settings) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check(name="python", state="ok", text=f"{version} at {sys.executable}")
    supported = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    yield Check(
        name="system",
        state="ok" if supported else "broken",
        text=f"{platform.system()} {platform.release()} on {platform.machine()}",
        mend="" if supported else "Linux on x86_64 or aarch64 is needed",
    )


def _cores(settings: Settings) -> Iterator[Check]:
    quota = cpu_quota()
    limit = "no quota" if quota is None else f"a quota of {quota:g} CPUs"
    workers = len(worker_cores(settings.workers))
    text = f"{len(physical_cores())} physical cores ({os.cpu_count()} logical CPUs), {limit}: {workers} workers"
    yield Check(name="cores", state="ok", text=text)


def _tiers(settings: Settings) -> Iterator[Check]:
    for name in tiers.names():
        probe = tiers.find(name).probe()
        text = "works here" if probe.ok else f"{probe.step}: {probe.reason} (errno {probe.errno})"
        yield Check(name=f"tier {name}", state="ok" if probe.ok else "note", text=text, mend=probe.mend)
        for note in probe.notes if probe.ok else ():
            yield Check(name=f"tier {name}", state="note", text=f"not covered: {note}")
    try:
        chosen = tiers.choose(settings.tier).name
    except SandboxError as error:
        yield Check(name="isolation", state="broken", text=error.problem, mend=error.mend)
    else:
        yield Check(name="isolation", state="ok", text=f"{settings.tier} is {chosen}")


def _cgroup(settings: Settings) -> Iterator[Check]:
    if settings.cgroup == "off":
        yield Check(name="cgroup", state="note", text="off by the setting cgroup: memory limits by rlimit alone")
        return
    group = CaseCgroup.create("doctor")
    if group is None:
        mend = "delegate a cgroup with the memory and pids controllers to this user"
        text = f"none can be made ({why_not()}): memory limits by rlimit alone"
        yield Check(name="cgroup", state="note", text=text, mend=mend)
        return
    group.remove()
    yield Check(name="cgroup", state="ok", text="memory and processes are limited and measured by cgroup")


def _interpreter(settings: Settings) -> Iterator[Check]:
    try:
        found = python.interpreter(settings.interpreter)
    except SettingsError as error:
        yield Check(name="interpreter", state="broken", text=str(error))
        return
    yield Check(name="interpreter", state="ok", text=f"samples run on CPython {found.version} at {found.executable}")
    wanted = tuple(name for name in python.SCIENTIFIC if "." not in name)
    here = _installed(settings.interpreter or sys.executable, wanted)
    missing = [name for name in wanted if name not in here]
    yield Check(
        name="libraries",
        state="note" if missing else "ok",
        text=f"samples can import {', '.join(here) or 'the standard library alone'}",
        mend=f"not installed there: {', '.join(missing)}" if missing else "",
    )


def _installed(executable: str, names: tuple[str, ...]) -> list[str]:
    """Return which of the modules an interpreter can import."""
    command = [executable, "-I", "-c", _VERSIONS % (names,)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL)
        return [str(name) for name in json.loads(done.stdout)]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []


def _languages(_: Settings) -> Iterator[Check]:
    for language in registry.languages().values():
        if not language.tools:
            continue
        name = f"language {language.name}"
        try:
            yield Check(name=name, state="ok", text=f"{language.title}: {toolchain(language.name).version}")
        except Missing as missing:
            yield Check(name=name, state="note", text=str(missing), mend=language.install)


def _prepared(settings: Settings) -> Iterator[Check]:
    """Make what speeds up builds: seconds for each language, and half a minute for some."""
    languages = [language for language in registry.languages().values() if language.prepare]
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for language in progress.track(languages, description="preparing"):
            name = f"prepared {language.name}"
            try:
                place = prepare(toolchain(language.name), settings.cache_folder())
            except Missing as missing:
                yield Check(name=name, state="note", text=str(missing), mend=language.install)
                continue
            if place:
                yield Check(name=name, state="ok", text=place)
            else:
                yield Check(name=name, state="note", text="it cannot be made, and builds are slower, or lack libraries")


def _left_overs(settings: Settings) -> Iterator[Check]:
    from scalebox.sandbox.leftovers import sweep

    left = len(sweep(settings.scratch_dir, dry_run=True))
    if left:
        text = f"{left} things of engines that are gone"
        yield Check(name="left-overs", state="note", text=text, mend="run `scalebox sweep`")
    else:
        yield Check(name="left-overs", state="ok", text="nothing is left of engines that are gone")


def _self_test(settings: Settings) -> Iterator[Check]:
    """Verify one program for real, from the client to the jail and back."""
    test = {"stdin": python.SELF_TEST_INPUT, "stdout": python.SELF_TEST_OUTPUT}
    try:
        with ScaleBoxClient(settings=msgspec.structs.replace(settings, workers=1, result_log="")) as client:
            (result,) = client.fetch(client.submit("self-test", python.SELF_TEST, [test]), timeout=_SELF_TEST_S)
    except (ScaleBoxError, TimeoutError) as error:
        yield Check(name="self-test", state="broken", text=str(error) or f"no result within {_SELF_TEST_S:g} s")
        return
    if result.verdict is Verdict.PASSED:
        yield Check(name="self-test", state="ok", text=f"a program was verified in the {result.tier} tier")
    else:
        text = f"a right program came out as {result.verdict}: {result.message or result.cases}"
        yield Check(name="self-test", state="broken", text=text)


_EXAMINATIONS: tuple[Callable[[Settings], Iterator[Check]], ...] = (
    _machine,
    _cores,
    _tiers,
    _cgroup,
    _interpreter,
    _languages,
    _left_overs,
    _self_test,
)


def _conformance(settings: Settings, *, show: bool) -> list[Finding]:
    from scalebox.sandbox import conformance  # many probes, wanted only here

    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True,
        disable=not (show and console.is_terminal),
    ) as progress:  # fmt: skip
        task = progress.add_task("probing")
        return conformance.run(
            settings.tier, settings.interpreter, lambda name: progress.update(task, description=f"probing {name}")
        )


def _failed(finding: Finding) -> bool:
    return not finding.ok and not finding.skipped


def _record(checks: list[Check], findings: list[Finding], settings: Settings) -> dict[str, Any]:
    return {
        "checks": msgspec.to_builtins(checks),
        "conformance": msgspec.to_builtins(findings),
        "settings": msgspec.to_builtins(settings),
    }


def _print(checks: list[Check], findings: list[Finding], settings: Settings | None) -> None:
    console = Console()
    table = Table("what", "state", "found", box=None, pad_edge=False)
    for check in checks:
        mark, style = _MARKS[check.state]
        text = f"{check.text}\n→ {check.mend}" if check.mend else check.text
        table.add_row(check.name, f"[{style}]{mark}[/]", _plain(text))
    console.print(table)
    if findings:
        _print_findings(console, findings)
    if settings is not None:
        _print_settings(console, settings)


def _print_findings(console: Console, findings: list[Finding]) -> None:
    table = Table("promise", "held", "evidence", title="conformance")
    for finding in findings:
        held = "[yellow]not promised[/]" if finding.skipped else "[green]yes[/]" if finding.ok else "[bold red]NO[/]"
        table.add_row(_plain(f"{finding.name}: {finding.promise}"), held, _plain(finding.detail))
    console.print(table)
    broken = sum(map(_failed, findings))
    skipped = sum(bool(finding.skipped) for finding in findings)
    console.print(f"{len(findings) - broken - skipped} held, {broken} broken, {skipped} not promised by this tier")


def _print_settings(console: Console, settings: Settings) -> None:
    table = Table(Column("setting", no_wrap=True), "value", "default", "meaning", title="settings")
    for described in settings_module.describe():
        value = msgspec.to_builtins(getattr(settings, described.name))
        default = msgspec.to_builtins(described.default)
        table.add_row(described.name, _plain(repr(value)), _plain(repr(default)), _plain(described.description))
    console.print(table)


def _plain(text: str) -> Text:
    return Text(printable(text))
