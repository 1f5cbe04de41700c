"""Choosing a tier: what works here, what does not and why, and never less than was asked for."""

from __future__ import annotations

import errno
import importlib

import pytest
from tests.sandbox.stage import Stage

from scalebox.core.errors import SandboxError
from scalebox.sandbox import probe, tiers

CHOOSE = """
tier = tiers.choose({name!r})
seen["tier"] = tier.name
"""


def test_auto_takes_the_strongest(stage: Stage) -> None:
    assert stage.agent("auto", lines=CHOOSE.format(name="auto"))["tier"] == "namespace"


def test_auto_takes_the_process_tier_where_namespaces_are_refused(stage: Stage) -> None:
    seen = stage.agent("auto", lines=CHOOSE.format(name="auto"), deny=True)
    assert seen["tier"] == "process"
    assert seen["children"] == []


def test_asking_for_more_than_the_machine_has_is_an_error(stage: Stage) -> None:
    seen = stage.agent("namespace", lines=CHOOSE.format(name="namespace"), deny=True)
    assert "tier" not in seen
    assert seen["errno"] == errno.EPERM
    assert seen["step"] == ("create PID namespace" if stage.user == "root" else "create user namespace")
    assert seen["step"] in seen["error"]
    assert "seccomp" in seen["mend"]
    assert seen["children"] == []


def test_probe_says_what_a_tier_does_not_cover(stage: Stage) -> None:
    lines = "seen['notes'] = {name: tiers.find(name).probe().notes for name in tiers.names()}"
    notes = stage.agent("auto", lines=lines)["notes"]
    assert list(notes) == ["gvisor", "container", "namespace", "process"], "the strongest first"
    assert all(notes.values())
    assert any("names, sizes" in note for note in notes["process"])


def test_unknown_tier_is_an_error() -> None:
    with pytest.raises(SandboxError, match="no isolation tier 'strong'") as caught:
        tiers.choose("strong")
    assert "namespace" in caught.value.mend


def test_every_tier_is_found_by_its_file_and_documents_itself() -> None:
    for name in tiers.names():
        module = importlib.import_module(f"scalebox.sandbox.{name}")
        tier: tiers.Tier = module.TIER
        assert tier.name == name
        assert "does not cover" in (module.__doc__ or "").replace("\n", " ")


@pytest.mark.parametrize(
    ("step", "number", "sysctls", "mend"),
    [
        ("create user namespace", errno.ENOSPC, {}, "user.max_user_namespaces"),
        ("create user namespace", errno.EPERM, {"user.max_user_namespaces": "0"}, "user.max_user_namespaces"),
        (
            "create user namespace",
            errno.EPERM,
            {"kernel.unprivileged_userns_clone": "0"},
            "unprivileged_userns_clone=1",
        ),
        ("map ids", errno.EPERM, {"kernel.apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ("mount the root tmpfs", errno.EACCES, {"kernel.apparmor_restrict_unprivileged_userns": "1"}, "AppArmor"),
        ("create user namespace", errno.EPERM, {}, "seccomp"),
        ("create user namespace", errno.EINVAL, {}, "kernel"),
        ("use Landlock", errno.EOPNOTSUPP, {}, "CONFIG_SECURITY_LANDLOCK"),
    ],
)
def test_mend_follows_the_step_and_the_errno(step: str, number: int, sysctls: dict[str, str], mend: str) -> None:
    assert mend in probe.mend_for(step, number, sysctls)
