"""The limits of time of one run, quiet and busy, for a first run and for one that labels."""

from __future__ import annotations

import pytest

from scalebox.core.limits import Limits
from scalebox.sandbox import pace
from scalebox.sandbox.linux.pressure import Load
from scalebox.sandbox.outcome import Outcome
from scalebox.sandbox.pace import LEAST_STRETCH_S, MARGIN, STRETCH, Clock, Pace
from scalebox.sandbox.yardstick import Yardstick

LIMITS = Limits(cpu_s=2.0, wall_s=10.0)
QUIET, BUSY = Load(0.0, 0.0, 0.5), Load(0.9, 0.0, 5.0)


class Machine:
    """What is measured of the machine, as a test sets it."""

    load_is = QUIET
    slow = 1.0

    def load(self) -> Load:
        return self.load_is

    def mark(self) -> None:
        pass

    def slowness(self) -> float:
        return self.slow


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    monkeypatch.setattr(pace, "METER", made)
    monkeypatch.setattr(pace, "YARDSTICK", made)
    return made


def first(soft_s: float = 0.0) -> Clock:
    return Clock(LIMITS, Pace(soft_s=soft_s))


def alone() -> Clock:
    return Clock(LIMITS, Pace(alone=True))


def test_on_a_quiet_machine_limits_are_limits_and_nothing_is_in_doubt(machine: Machine) -> None:
    for clock in (first(), alone()):
        assert clock.check(2.01, 0.0, 2.1) == ("cpu", 0.0)
        assert clock.check(0.1, 0.0, 10.1) == ("wall", 0.0)
        cause, rest = clock.check(1.5, 0.0, 1.6)
        assert cause is None
        assert rest == pytest.approx(0.5)
        for outcome in (Outcome(cause="cpu", cpu_s=2.01, wall_s=2.1), Outcome(exit_code=1, cpu_s=0.1, wall_s=9.0)):
            assert clock.doubt(outcome) == ""
    machine.load_is = BUSY
    assert first().doubt(Outcome(exit_code=1, cpu_s=0.1, wall_s=0.2)) == "", "it was not slow"


def test_on_a_busy_machine_a_little_more_cpu_time_is_a_doubt_and_much_more_is_none(machine: Machine) -> None:
    machine.load_is = BUSY
    clock = first()
    cause, rest = clock.check(2.5, 3.0, 6.0)
    assert cause is None
    assert rest == pytest.approx(2.0 * MARGIN - 2.5)
    assert "CPU pressure 90%" in clock.doubt(Outcome(cause="cpu", cpu_s=2.5, wall_s=6.0))
    assert clock.check(2.0 * MARGIN + 0.01, 3.0, 8.0) == ("cpu", 0.0)
    assert clock.doubt(Outcome(cause="cpu", cpu_s=2.0 * MARGIN + 0.01, wall_s=8.0, waited_s=3.0)) == ""


def test_who_waited_for_a_cpu_is_given_the_doubt_though_others_do_not(machine: Machine) -> None:
    assert machine.load_is is QUIET
    assert first().check(2.5, 3.0, 6.0)[0] is None
    doubt = first().doubt(Outcome(cause="wall", cpu_s=0.5, wall_s=10.0, waited_s=9.0))
    assert doubt == "it waited 9.0 of 10.0 s for a CPU"


def test_who_slept_through_its_time_is_over_it_however_busy_the_machine(machine: Machine) -> None:
    machine.load_is = BUSY
    slept = Outcome(cause="wall", cpu_s=0.01, wall_s=10.0, waited_s=0.1)
    assert first().doubt(slept) == ""
    machine.load_is = Load(0.9, 0.3, 5.0)
    assert "30% stolen" in first().doubt(slept)


def test_a_slow_failure_on_a_busy_machine_is_suspect(machine: Machine) -> None:
    machine.load_is = BUSY
    failed = Outcome(exit_code=1, cpu_s=0.1, wall_s=1.0)
    assert first(soft_s=0.6).doubt(failed)
    assert not first(soft_s=1.5).doubt(failed)
    assert not first().doubt(failed), "nothing known: the limit of CPU time is the soft one"
    assert not first(soft_s=0.6).doubt(Outcome(exit_code=1, cpu_s=0.99, wall_s=1.0)), "it was not slowed"
    assert not alone().doubt(failed)


def test_alone_it_has_more_time_by_the_clock_as_it_waits_up_to_a_bound(machine: Machine) -> None:
    assert machine.load_is is QUIET
    assert alone().check(1.0, 8.0, 17.9)[0] is None
    assert alone().check(1.0, 8.0, 18.1) == ("wall", 0.0)
    most = max(STRETCH * 10.0, 10.0 + LEAST_STRETCH_S)
    assert alone().check(0.5, 1000.0, most - 0.1)[0] is None
    assert alone().check(0.5, 1000.0, most + 0.1) == ("wall", 0.0)
    assert alone().doubt(Outcome(cause="wall", cpu_s=0.5, wall_s=40.0, waited_s=39.0)), "it never got to run"
    assert not alone().doubt(Outcome(cause="wall", cpu_s=0.5, wall_s=10.0, waited_s=0.0))


def test_alone_who_slept_through_its_own_time_is_over_it_though_it_waited_too(machine: Machine) -> None:
    machine.load_is = BUSY
    for waited in (1.5, 8.0, 29.0):
        ended = 10.0 + waited + 0.1
        assert alone().check(0.2, waited, ended) == ("wall", 0.0)
        assert not alone().doubt(Outcome(cause="wall", cpu_s=0.2, wall_s=ended, waited_s=waited))
        assert first().doubt(Outcome(cause="wall", cpu_s=0.2, wall_s=10.1, waited_s=waited))
    assert alone().doubt(Outcome(cause="wall", cpu_s=0.2, wall_s=5.0, waited_s=3.0)), "all cases had had their time"


def test_what_it_waits_for_its_own_threads_is_not_others_doing(machine: Machine) -> None:
    assert machine.load_is is QUIET
    assert alone().others(9.5, 60.0, 10.0) == pytest.approx(0.5)


def test_alone_it_has_more_cpu_time_on_a_slow_cpu_up_to_a_bound(machine: Machine) -> None:
    machine.load_is, machine.slow = BUSY, 1.4
    assert alone().check(2.7, 0.0, 3.0)[0] is None
    assert alone().check(2.9, 0.0, 3.0) == ("cpu", 0.0)
    machine.slow = 50.0
    assert alone().check(2.0 * MARGIN + 0.1, 0.0, 5.0) == ("cpu", 0.0)
    machine.load_is = QUIET
    assert alone().check(2.1, 0.0, 3.0) == ("cpu", 0.0)


def test_a_yardstick_tells_how_many_times_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 2.0, 0.0, 1.0, 0.0, 3.0])
    monkeypatch.setattr("scalebox.sandbox.yardstick.time.thread_time", lambda: next(times))
    yardstick = Yardstick()
    assert [yardstick.slowness() for _ in range(3)] == [1.0, 1.0, 3.0]
