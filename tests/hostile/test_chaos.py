"""Things are taken away from an engine, and its processes killed and stopped: no label may come out wrong for it.

Each accepted sample has exactly one result, right or `internal_error`, and nothing is left.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.outside import comes_true
from tests.sandbox.stage import public_interpreter
from tests.soak.mix import Mixed, mix
from tests.soak.test_left_overs import Trainer, nothing_left

import scalebox
from scalebox import ScaleBoxClient, Settings
from scalebox.sandbox.linux import calls, cgroup, owner
from scalebox.sandbox.linux.family import children
from scalebox.sandbox.probes.host import descendants

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


class Failed(Exception):
    """The batch ended in an error, with so many results."""


def verify(
    records: list[dict[str, Any]],
    prepare: Callable[[], object] = lambda: None,
    before: tuple[str, ...] = (),
    wild: bool = False,
    **settings: Any,
) -> dict[str, str]:
    """Verify in a process of its own, after `prepare` in that and under the command `before`; return verdicts by id."""
    order = json.dumps({"settings": {"workers": 2, **settings}, "records": records, "wild": wild})
    done = subprocess.run(
        [*before, sys.executable, "-m", "tests.soak.chaos_driver"], input=order, preexec_fn=prepare,
        capture_output=True, text=True, cwd=ROOT, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    if results and "failed" in results[-1]:
        raise Failed(results.pop()["failed"], len(results))
    verdicts = {result["id"]: result["verdict"] for result in results}
    assert len(results) == len(verdicts) == len(records), "exactly one result each"
    return verdicts


def check(mixed: Mixed, verdicts: dict[str, str]) -> None:
    """Check that what is not right is `internal_error` or `unknown`."""
    assert set(verdicts) == set(mixed.right)
    assert set(mixed.wrong(verdicts).values()) <= {"internal_error", "unknown"}, mixed.wrong(verdicts)


def script(name: str, code: str, **limits: Any) -> dict[str, Any]:
    return {"id": name, "code": code, "tests": [{"stdin": "", "stdout": "1\n"}], "limits": limits}


# -- what is taken away --------------------------------------------------------------------------------------------

_HOG = "x = bytearray({} << 20)\nfor at in range(0, len(x), 4096):\n    x[at] = 1\nprint(1)\n"


@pytest.fixture
def narrow_group() -> Iterator[str]:
    """A memory group of 350 MiB, as of a container, for an engine to stand in."""
    try:
        version, home = cgroup.find_home("memory")
        folder = Path(home, f"chaos-{os.getpid()}")
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"may make no control group: {error}")
    try:
        names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes") if version == 1 else ("memory.max",)
        for name in names:
            if (folder / name).exists():
                (folder / name).write_text(str(350 * MIB))
        yield str(folder)
    finally:
        assert cgroup.remove(str(folder))


@pytest.mark.hostile
def test_memory_that_others_have_used_up_is_nobodys_fault(narrow_group: str) -> None:
    """The kernel kills programs for the group above theirs, though they are far from their own limit."""
    kinds = {"small": 8, "within": 400}
    records = [
        script(f"{kind} {number}", _HOG.format(size) + f"# {number}\n", memory_mb=512)
        for number in range(3)
        for kind, size in kinds.items()
    ]
    procs = f"{narrow_group}/cgroup.procs"
    verdicts = verify(records, before=("sh", "-c", f'echo 0 > {procs}; exec "$@"', "sh"))
    by_kind = {kind: {verdicts[name] for name in verdicts if name.startswith(kind)} for kind in kinds}
    assert by_kind["within"] == {"internal_error"}
    assert by_kind["small"] <= {"passed", "internal_error"}
    assert "passed" in by_kind["small"]


_FILL = """
import sys
with open("big", "wb") as file:
    for _ in range({}):
        file.write(bytes(1 << 20))
print(1)
"""


@pytest.fixture
def small_disk() -> Iterator[str]:
    """A disk of 8 MiB for scratch space."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - samples run as a user of their own
        try:
            calls.mount("none", folder, "tmpfs", data="size=8m,mode=755")
        except OSError as error:
            pytest.skip(f"may not mount: {error}")
        try:
            yield folder
        finally:
            calls.unmount(folder, calls.MNT_DETACH)


@pytest.mark.hostile
def test_a_full_disk_is_nobodys_fault(small_disk: str) -> None:
    """In the process tier, scratch space is on the machine's disk, which a program within its limits may fill."""
    records = [
        *(script(f"fills {number}", _FILL.format(20) + f"# {number}\n", disk_mb=100) for number in range(3)),
        *(script(f"fits {number}", _FILL.format(1) + f"# {number}\n", disk_mb=100) for number in range(3)),
        script("lies", "import errno\nraise OSError(errno.ENOSPC, 'no space left')\n"),
        script("over", _FILL.format(20) + "# over\n", disk_mb=1),
    ]
    verdicts = verify(
        records, tier="process", workers=1, scratch_dir=small_disk, interpreter=public_interpreter(), build_cache_mb=0
    )
    assert {verdicts[f"fills {number}"] for number in range(3)} == {"internal_error"}
    assert {verdicts[f"fits {number}"] for number in range(3)} == {"passed"}
    assert verdicts["lies"] == "resource_denied", "a program's word says nothing of the disk"
    assert verdicts["over"] == "resource_denied"
    assert os.listdir(small_disk) == []


@pytest.mark.hostile
@pytest.mark.parametrize("most", [24, 40, 64, 128])
def test_few_descriptors(most: int) -> None:
    """Workers that run out of them are lost, or end in no result of their own; programs have what they are promised."""
    mixed = mix(40, seed=most)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with nothing_left():
        check(mixed, verify(mixed.records, functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (most, hard))))


@pytest.mark.hostile
def test_where_programs_cannot_have_their_descriptors_no_jail_starts() -> None:
    prepare = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (64, 64))
    with nothing_left(), pytest.raises(Failed, match=r"allow 1024 open files .*ulimit -Hn") as failed:
        verify(mix(5, seed=1).records, prepare)
    assert failed.value.args[1] == 0


# -- clocks --------------------------------------------------------------------------------------------------------


@pytest.mark.hostile
def test_a_calendar_clock_that_jumps_decides_nothing() -> None:
    mixed = mix(40, seed=11)
    assert mixed.wrong(verify(mixed.records, wild=True, cache="off")) == {}


@pytest.mark.hostile
def test_a_time_namespace_changes_nothing() -> None:
    before = ("unshare", "--fork", "--time", "--monotonic", "900000", "--boottime", "1900000")
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("may make no time namespace")
    mixed = mix(40, seed=12)
    with nothing_left():
        assert mixed.wrong(verify(mixed.records, before=before)) == {}


#: What may ask for the time of day: what is written down for people, ages of files of other PID namespaces, and which
#: cached thing was used least recently.
_CALENDAR = {
    "engine.py", "cache/store.py", "execute/builds.py", "sandbox/leftovers.py", "cli/cache.py", "bench/native.py",
    # What outlasts a boot of the machine: books, and how long is left of a deadline, which labels nobody.
    "cli/problems.py", "problems/store.py", "server/batches.py", "server/journal.py", "server/tokens.py",
    "sinks/audit_log/writer.py",
}  # fmt: skip
_CALENDAR_CALLS = {"time", "time_ns", "localtime", "gmtime", "now", "utcnow", "today"}


def test_only_what_decides_no_label_asks_for_the_time_of_day() -> None:
    root = Path(scalebox.__file__).parent
    asking = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="time" | "datetime" | "date"), attr=name)) if (
                    name in _CALENDAR_CALLS
                ):
                    asking.add(str(path.relative_to(root)))
                case ast.ImportFrom(module="time", names=names):
                    assert not {alias.name for alias in names} & _CALENDAR_CALLS, path
    assert asking <= _CALENDAR, asking - _CALENDAR


# -- kills and stops -----------------------------------------------------------------------------------------------


class Chaos:
    """Does something to a worker or an agent at some of the results, which a seed decides."""

    def __init__(self, seed: int, act: Callable[[int], None]) -> None:
        self._draw = random.Random(seed)  # noqa: S311 - when, not a secret
        self._act = act
        self._others = set(children(os.getpid()))  # of other tests
        self.acts = 0

    def __call__(self) -> None:
        if self._draw.random() > 0.1:
            return
        workers = [pid for pid in children(os.getpid()) if pid not in self._others]
        agents = [agent for worker in workers for agent in children(worker)]
        victims = sorted(self._draw.choice([workers, agents]))
        if victims:
            with contextlib.suppress(ProcessLookupError):
                self._act(self._draw.choice(victims))
                self.acts += 1


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _stop_for_a_while(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    timer = threading.Timer(0.5, _go_on, [pid, owner.start_time(pid)])
    timer.daemon = True
    timer.start()


def _go_on(pid: int, start: int | None) -> None:
    if start is not None and owner.start_time(pid) == start:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@pytest.mark.hostile
@pytest.mark.parametrize("act", [_kill, _stop_for_a_while], ids=["killed", "stopped"])
@pytest.mark.parametrize("tier", ["namespace", "process"])
def test_workers_and_agents_at_random(act: Callable[[int], None], tier: str) -> None:
    mixed = mix(150, seed=20)
    verdicts: dict[str, str] = {}
    with nothing_left() as seen:
        settings = Settings(workers=2, tier=tier, interpreter=public_interpreter())
        chaos = Chaos(21, act)
        with ScaleBoxClient(settings=settings) as client:
            for result in client.stream(client.submit_batch(mixed.records)):
                assert result.id not in verdicts, "one result each"
                verdicts[result.id] = result.verdict.value
                seen.update(children(os.getpid()))
                chaos()
    check(mixed, verdicts)
    assert chaos.acts
    right = len(verdicts) - len(mixed.wrong(verdicts))
    assert right > 0.8 * len(verdicts), mixed.wrong(verdicts)


@pytest.mark.hostile
def test_an_engine_that_dies_while_all_its_own_are_stopped_leaves_nothing() -> None:
    """Stopped workers could not see the end of their engine: the kernel lets them go on for it, and they end the rest.

    They wait half a minute for an agent that does not answer.
    """
    with nothing_left():
        trainer = Trainer("never")
        own = descendants(trainer.process.pid)
        trainer.family()
        random.Random(8).shuffle(own)  # noqa: S311 - an order, not a secret
        for pid in own:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        trainer.family()
        trainer.process.kill()
        trainer.is_all_gone(within_s=120)


@pytest.mark.hostile
def test_a_worker_that_stays_stopped_is_replaced_in_its_time() -> None:
    """It has what its limits add up to, and half a minute; then its sample is verified by another."""
    others = set(children(os.getpid()))
    with ScaleBoxClient(settings=Settings(workers=1)) as client:
        client.fetch(client.submit("first", "print(1)", [{"stdin": "", "stdout": "1\n"}]))
        (worker,) = set(children(os.getpid())) - others
        os.kill(worker, signal.SIGSTOP)
        limits = {"wall_s": 1, "cpu_s": 1, "build_s": 1}
        batch = client.submit("second", "print(1)", [{"stdin": "", "stdout": "1\n"}], limits=limits)
        (result,) = client.fetch(batch, timeout=280)
    assert result.verdict.value == "passed"
    assert comes_true(lambda: worker not in children(os.getpid()))
