"""Limits, their aliases and profiles."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.errors import InputError
from scalebox.core.limits import ALIASES, CEILINGS, PROFILES, Limits, parse_limits


def test_defaults_are_the_documented_ones() -> None:
    limits = Limits()
    assert (limits.cpu_s, limits.wall_s, limits.memory_mb, limits.output_mb) == (2.0, 10.0, 512, 1.0)
    assert (limits.stdin_mb, limits.disk_mb, limits.processes, limits.cpus) == (16.0, 100, 0, 1.0)
    assert (limits.network, limits.syscalls, limits.build_s, limits.build_memory_mb) == ("none", "strict", 10.0, 2048)


def test_profiles_are_the_documented_ones() -> None:
    rlvr, agent = PROFILES["rlvr"], PROFILES["agent"]
    assert (rlvr.cpus, rlvr.memory_mb, rlvr.wall_s, rlvr.disk_mb) == (1.0, 512, 30.0, 100)
    assert (rlvr.stdin_mb, rlvr.output_mb, rlvr.processes) == (1.0, 10.0, 100)
    assert (agent.cpus, agent.memory_mb, agent.wall_s) == (2.0, 4096, 30.0)
    assert PROFILES["default"] == PROFILES["contest"] == Limits()


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_aliases(alias: str, name: str) -> None:
    value: Any = "strict" if name == "syscalls" else 3
    assert getattr(parse_limits({alias: value}), name) == value
    with pytest.raises(InputError) as caught:
        parse_limits({name: value, alias: value})
    assert caught.value.field == f"limits.{alias}"


def test_only_what_is_given_changes() -> None:
    assert parse_limits({"memory_mb": 64}, PROFILES["rlvr"]).stdin_mb == 1.0


def test_wall_time_is_never_less_than_cpu_time_asked_for_alone() -> None:
    assert parse_limits({"cpu_s": 60}).wall_s == 60.0
    assert parse_limits({"cpu_s": 60, "wall_s": 5}).wall_s == 5.0


@pytest.mark.parametrize(
    ("given_limits", "field"),
    [
        ({"cpu": 1}, "limits.cpu"),
        ({"cpu_s": 0}, "limits.cpu_s"),
        ({"cpu_s": -1}, "limits.cpu_s"),
        ({"cpu_s": math.nan}, "limits.cpu_s"),
        ({"cpu_s": math.inf}, "limits.cpu_s"),
        ({"cpu_s": "2"}, "limits.cpu_s"),
        ({"cpu_s": True}, "limits.cpu_s"),
        ({"cpu_s": None}, "limits.cpu_s"),
        ({"memory_mb": 1.5}, "limits.memory_mb"),
        ({"timeout_sec": 20_000}, "limits.timeout_sec"),
        ({"processes": -1}, "limits.processes"),
        ({"network": "full"}, "limits.network"),
        ({"syscall_filter": "off"}, "limits.syscall_filter"),
        ([], "limits"),
    ],
)
def test_senseless_limits(given_limits: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_limits(given_limits)
    assert caught.value.field == field


@given(st.sampled_from(sorted(CEILINGS)), st.integers(-(10**6), 10**9) | st.floats())
def test_a_number_is_taken_or_refused(name: str, value: float) -> None:
    try:
        limits = parse_limits({name: value})
    except InputError as error:
        assert error.field == f"limits.{name}"  # noqa: PT017 (either outcome is right)
    else:
        assert getattr(limits, name) == value
