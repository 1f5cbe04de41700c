"""The seccomp profile: what it says, and that jails can be made under it, by the kernel's own word."""

from __future__ import annotations

import copy
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalebox.sandbox import tiers
from scalebox.sandbox.linux import policy
from scalebox.sandbox.linux.syscalls import ARCHITECTURES

FOLDER = Path(__file__).parents[2] / "deploy" / "seccomp"
PROFILE = FOLDER / "scalebox.json"
UNDER = Path(__file__).parent / "under_profile.py"
#: What the profile that Docker has by itself keeps from a container without CAP_SYS_ADMIN, of what ours gives.
NEW_NAMESPACES = 0x7E02_0000
ADMINISTRATION = {"unshare", "mount", "mount_setattr", "umount2", "pivot_root", "sethostname", "keyctl"}


def profile() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(PROFILE.read_text(encoding="utf-8"))
    return read


def allowed() -> set[str]:
    return {name for rule in profile()["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}


def test_the_file_is_what_the_script_makes_of_the_sandbox() -> None:
    spec = importlib.util.spec_from_file_location("make_profile", FOLDER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.profile() == profile()


def test_it_is_an_allow_list_of_calls_that_exist() -> None:
    assert profile()["defaultAction"] == "SCMP_ACT_ERRNO"
    known = {name for architecture in ARCHITECTURES.values() for name in architecture.number_of}
    assert allowed() - known == set()


def test_it_gives_nothing_of_the_kernel_away() -> None:
    for kind in ("kernel", "clock", "debugging", "files", "semaphores", "message queues"):
        assert allowed() & set(policy.DENIED[kind].split()) == set()


def run(path: Path, tier: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a tier, in a process that has a container's seccomp profile."""
    command = [sys.executable, str(UNDER), str(path), sys.executable, "-m", "scalebox.cli", "run", "-"]
    # Other users must be able to run it in the process tier, and this one may be in somebody's home.
    interpreter = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
    return subprocess.run(
        [*command, "--tier", tier, "--interpreter", interpreter, "--workers", "1", "--json"],
        input="print(6 * 7)", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("tier", [name for name in tiers.names() if tiers.find(name).automatic])
def test_jails_are_made_under_it(tier: str) -> None:
    if not tiers.find(tier).probe().ok:
        pytest.skip(f"the {tier} tier does not work here")
    done = run(PROFILE, tier)
    assert done.returncode == 0, done.stderr
    assert (json.loads(done.stdout)["stdout"], json.loads(done.stdout)["tier"]) == ("42\n", tier)


def test_a_runtimes_own_profile_keeps_the_namespace_tier_out(tmp_path: Path) -> None:
    """The control: one like Docker's, without what it reserves to CAP_SYS_ADMIN, is refused at the first step."""
    if not tiers.find("namespace").probe().ok:
        pytest.skip("the namespace tier does not work here")
    usual = copy.deepcopy(profile())
    names = usual["syscalls"][0]["names"]
    usual["syscalls"][0]["names"] = [name for name in names if name not in ADMINISTRATION | {"clone"}]
    condition = {"index": 0, "value": NEW_NAMESPACES, "op": "SCMP_CMP_MASKED_EQ"}
    usual["syscalls"].append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [condition]})
    path = tmp_path / "usual.json"
    path.write_text(json.dumps(usual), encoding="utf-8")
    done = run(path, "namespace")
    assert done.returncode == 3
    assert "namespace failed: [Errno 1] unshare" in done.stderr
    assert "seccomp" in done.stderr  # the mend
