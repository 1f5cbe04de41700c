"""Jails in containers: what a bundle says, that programs run, and that nothing is left of them, however they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.golden.table import Row, check_table, stdin
from tests.hostile.outside import comes_true
from tests.sandbox.stage import Stage

from scalebox import ScaleBoxClient, Settings
from scalebox.core.errors import SandboxError
from scalebox.core.limits import Limits
from scalebox.parse import parse_sample
from scalebox.sandbox import bundle, conformance, leftovers, oci, tiers
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.linux import cgroup, family, owner, tree
from scalebox.worker import Verifier

VARIANTS = ("container:crun", "container:runc", "gvisor")
#: Starts a jail, tells its agent, and runs a program in it for as long as it is let.
_HOLD = """
import sys
from scalebox.core.limits import Limits
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.jail import Jail
jail = Jail(tiers.find(sys.argv[1]), conformance.config(""))
jail.start()
jail.open(b"while True: pass", Limits(cpu_s=600, wall_s=600), None)
print(jail.agent_pid, flush=True)
jail.run()
"""
#: Opens whatever descriptor or memory of other processes it can, but for the null device.
_OPENING = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        print("own")
        continue
    for path in [f"/proc/{pid}/mem", *(f"/proc/{pid}/fd/{number}" for number in range(64))]:
        try:
            fd = os.open(path, os.O_RDWR)
        except OSError:
            continue
        if os.fstat(fd).st_rdev != os.stat("/dev/null").st_rdev:
            print(path, os.fstat(fd))
"""
#: One program for each verdict that the tier has a part in.
_ROWS = [
    Row("output", "the output matches", "print(sum(map(int, input().split())))"),
    Row("wrong", "another output", "print(4)", verdict="output_mismatch"),
    Row("syntax", "no program", "def f(:", verdict="compile_error"),
    Row("exception", "uncaught", "1 / 0", verdict="runtime_error"),
    Row("killed", "by its own signal", "import os\nos.kill(os.getpid(), 9)", verdict="runtime_error"),
    Row("loop", "no end", "while True: pass", verdict="time_out", limits={"cpu_s": 0.5}),
    Row("sleep", "no end, and no CPU time", "import time\ntime.sleep(60)", verdict="time_out", limits={"wall_s": 1}),
    Row("memory", "more than there is", "x = bytearray(1 << 30)\nx[::4096] = x[::4096]", verdict="memory_exceed"),
    Row("flood", "output without end", "while True: print('x' * 1000)", verdict="output_exceed"),
    Row("network", "no socket", "import socket\nsocket.socket()", verdict="resource_denied"),
    Row("child", "no process", "import os\nos.fork()", verdict="resource_denied"),
    Row("two", "no file of one case is there in the next",
        "import os\nprint(os.path.exists('left'))\nopen('left', 'w').close()",
        [stdin("", "False\n"), stdin("", "False\n")]),
    Row("ends", "each case ends as it does", "n = int(input())\nprint(n)\nraise SystemExit(n)",
        [stdin(f"{n}\n", f"{n}\n") for n in (0, 3, 0)], "runtime_error", cases=("passed", "runtime_error", "passed")),
    Row("signals", "a later case is killed",
        "import os\nn = int(input())\nprint(n, flush=True)\nos.kill(os.getpid(), n)",
        [stdin(f"{n}\n", f"{n}\n") for n in (0, 9)], "runtime_error", cases=("passed", "runtime_error")),
    Row("later loop", "a later case has no end", "n = input()\nwhile n == '1': pass",
        [stdin(f"{n}\n", "") for n in (0, 1, 0)], "time_out", limits={"cpu_s": 0.5},
        cases=("passed", "time_out", "passed")),
]  # fmt: skip


@pytest.fixture(scope="module", params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    """Return a tier that works here."""
    probe = tiers.find(request.param).probe()
    if not probe.ok:
        pytest.skip(f"{request.param} does not work here: {probe.reason}")
    return str(request.param)


@pytest.fixture
def jail(variant: str) -> Iterator[Jail]:
    made = Jail(tiers.find(variant), conformance.config(""))
    yield made
    made.stop()


def _marked(pid: int) -> list[str]:
    """Return the files and control groups that bear the mark of a process."""
    folders = Path(os.environ.get("TMPDIR", "/tmp")).glob(f"{owner.PREFIX}n*-{pid}-*-*")  # noqa: S108 - only looked at
    groups = [folder for folder, mark in cgroup.marked() if mark.pid == pid]
    return [*map(str, folders), *groups]


def test_programs_run_and_nothing_is_left(jail: Jail) -> None:
    before, marked = set(family.children(os.getpid())), _marked(os.getpid())  # other tests' jails may still be there
    jail.start()
    assert jail.open(b"print(input()[::-1])", Limits(), None).ok
    assert jail.run(stdin=b"abc").stdout == b"cba\n"
    agent = jail.agent_pid
    assert agent in family.children(os.getpid())
    jail.stop()
    assert not Path(f"/proc/{agent}").exists()
    assert set(family.children(os.getpid())) <= before, "helpers of the runtime are left"
    assert _marked(os.getpid()) == marked


def test_what_is_seen_is_what_the_namespace_tier_shows(variant: str, jail: Jail) -> None:
    plain = Jail(tiers.find("namespace"), conformance.config(""))
    try:
        expected = _seen(plain)
    finally:
        plain.stop()
    seen = _seen(jail)
    if variant == "gvisor":  # an empty folder, and what its kernel brings along
        seen["/"].remove("sys")
        seen["/dev"] = expected["/dev"]
    assert seen == expected


def _seen(jail: Jail) -> dict[str, Any]:
    code = (
        "import json, os\n"
        "seen = {place: sorted(os.listdir(place)) for place in ('/', '/dev', '/etc', '/work', '/tmp')}\n"
        "print(json.dumps({**seen, 'user': os.getuid(), 'at': os.getcwd(), 'host': os.uname().nodename}))\n"
    )
    assert jail.open(code.encode(), Limits(), None).ok
    seen: dict[str, Any] = json.loads(jail.run().stdout)
    return seen


def test_a_jail_that_is_lost_is_replaced(jail: Jail) -> None:
    jail.start()
    os.kill(jail.agent_pid, signal.SIGKILL)
    jail.open(b"print(1)", Limits(), None)
    jail.close()
    assert jail.open(b"print(1)", Limits(), None).ok
    assert jail.run().stdout == b"1\n"


def test_it_ends_with_its_worker_and_the_rest_is_swept(variant: str) -> None:
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, variant], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    agent = int(holder.stdout.readline())
    holder.kill()
    holder.wait()
    holder.stdout.close()
    assert comes_true(lambda: owner.start_time(agent) is None), "the container outlives its worker"
    assert comes_true(lambda: leftovers.sweep() is not None and _marked(holder.pid) == [])


def test_the_same_verdicts(variant: str) -> None:
    with ScaleBoxClient(settings=Settings(tier=variant, workers=1, cache="off")) as client:
        check_table(client, _ROWS)
        result = client.fetch(client.submit_batch([_ROWS[0].sample()]))[0]
    assert result.tier == variant.partition(":")[0]
    assert result.time_scale == tiers.find(variant).slowness


@pytest.mark.hostile
def test_every_promise_holds(variant: str) -> None:
    findings = conformance.run(variant)
    assert [f"{item.name}: {item.detail}" for item in findings if not (item.ok or item.skipped)] == []
    skipped = [item.name for item in findings if item.skipped and "cgroup" not in item.skipped]
    assert not skipped or variant == "gvisor", "a container promises what the namespace tier does"


def test_runc_works_for_ordinary_users(public_library: Path) -> None:
    if os.geteuid() != 0 or not oci.find("runc"):
        pytest.skip("needs root, to be somebody else, and runc")
    lines = "found = tiers.find('container:runc').probe()\nseen['found'] = [found.ok, found.reason]"
    assert Stage("ordinary", public_library).agent("auto", lines=lines)["found"] == [True, ""]


def test_nothing_of_the_agent_can_be_opened_in_gvisor() -> None:
    jail = Jail(tiers.find("gvisor"), conformance.config(""))
    if not jail.tier.probe().ok:
        pytest.skip("gvisor does not work here")
    try:
        assert jail.open(_OPENING.encode(), Limits(), None).ok
        outcome = jail.run()
    finally:
        jail.stop()
    assert outcome.stdout.decode() == "own\n", outcome.stderr.decode()


def test_tests_that_are_code_are_refused_in_gvisor() -> None:
    if not tiers.find("gvisor").probe().ok:
        pytest.skip("gvisor does not work here")
    verifier = Verifier(Settings(tier="gvisor", cache="off"), [0])
    try:
        record = {"id": "1", "code": "def f(): return 1", "tests": [{"assert": "assert f() == 1"}]}
        result, _ = verifier.verify(parse_sample(record, settings=verifier._settings))
    finally:
        verifier.close()
    assert result.verdict == "internal_error"
    assert "do not run in the gvisor tier" in result.message
    assert "namespace or container" in result.message


# -- without a runtime -----------------------------------------------------------------------------------------------


def test_a_runtime_that_is_not_there_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(SandboxError, match="no no-such-runtime is installed") as caught:
        tiers.choose("container:no-such-runtime")
    assert "apt-get install crun" in caught.value.mend
    with pytest.raises(SandboxError, match="there is no isolation tier 'gvisor:fast'"):
        tiers.choose("gvisor:fast")


def test_a_runtime_that_fails_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    broken = tmp_path / "runtime"
    broken.write_text('#!/bin/sh\nwhile [ "$1" != --log ]; do shift; done\necho no luck >"$2"\nexit 3\n')
    broken.chmod(0o755)
    with pytest.raises(SandboxError, match="run runtime failed: no luck"):
        tiers.choose(f"container:{broken}")


def test_auto_takes_none_of_them() -> None:
    automatic = [name for name in tiers.names() if tiers.find(name).automatic]
    assert automatic == ["namespace", "process"]


def test_a_bundle_gives_nothing_away(tmp_path: Path) -> None:
    spec = tiers.LaunchSpec(argv=[sys.executable, "-X", "x", "-c", "boot", "9"], env={}, pass_fds=[7, 9])
    bundle.write(tmp_path, spec, bundle.Shape(user=20000, group=20000))
    told = json.loads((tmp_path / "config.json").read_text())
    assert told["process"]["noNewPrivileges"] is True
    assert not any(told["process"]["capabilities"].values())
    assert told["process"]["user"] == {"uid": 20000, "gid": 20000}
    assert told["root"] == {"path": "rootfs", "readonly": True}
    kinds = {namespace["type"] for namespace in told["linux"]["namespaces"]}
    assert kinds == {"pid", "network", "ipc", "uts", "mount", "cgroup"}
    binds = [mount for mount in told["mounts"] if mount["type"] == "bind"]
    binds = [mount for mount in binds if not mount["destination"].startswith("/dev")]
    assert binds
    assert all("ro" in mount["options"] and "nosuid" in mount["options"] for mount in binds)
    assert set(told["linux"]["maskedPaths"]) == {f"/proc/{name}" for name in tree.PROC_MASKED}


def test_an_ordinary_user_is_mapped_alone(tmp_path: Path) -> None:
    spec = tiers.LaunchSpec(argv=[sys.executable, "-c", "boot", "9"], env={})
    bundle.write(tmp_path, spec, bundle.Shape(user=20000, group=20000, mapped=True))
    told = json.loads((tmp_path / "config.json").read_text())
    assert told["linux"]["uidMappings"] == [{"containerID": 0, "hostID": 20000, "size": 1}]
    assert {"type": "user"} in told["linux"]["namespaces"]
