"""Two programs that talk to each other, each in a jail of its own, under one watch: one run of an interactive case.

The supervisor carries what either says to the other. That costs some microseconds a message, and tells what could not
be told otherwise: who was the first to end (nobody sees the end of the other's output before the supervisor knows why
that ended), who has left something unread, and how much was said. It is also where a transcript comes from.
"""

from __future__ import annotations

import functools
import select
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from scalebox.sandbox import usage
from scalebox.sandbox.batch import Case
from scalebox.sandbox.channel import HungUp
from scalebox.sandbox.jail import Jail
from scalebox.sandbox.link import Link
from scalebox.sandbox.outcome import Cause, Outcome
from scalebox.sandbox.pipes import OutputPipe
from scalebox.sandbox.sides import Side, Sides
from scalebox.sandbox.supervision import Cancelled

Who = Literal["solution", "interactor"]

#: An interactor that has all it needs to reject gets so much CPU time to do it when the solution fails, unless it
#: sleeps at so many looks in a row: having read all, or leaving something unread.
_GRACE_CPU_S, _LOOK_S, _LOOKS_ASLEEP = 0.05, 0.01, (2, 6)


class Interacted(msgspec.Struct, kw_only=True):
    """One run. A side that was stopped has the limit as its cause; one stopped because of the other has no exit code.

    `decided` says that the interactor settled the run by its end, without knowing of an end of the solution; `unread`
    is how many bytes solution and interactor had left to read. `spoken` is what was said, by whom, in order, and `cut`
    how many bytes of it are left out.
    """

    solution: Outcome
    interactor: Outcome
    decided: bool = False
    unread: tuple[int, int] = (0, 0)
    spoken: list[tuple[Who, bytes]] = []
    cut: int = 0


class _Party(Side):
    """One of the two programs, and what carries its words."""

    def __init__(self, who: Who, jail: Jail, case: Case) -> None:
        super().__init__(jail.program, [OutputPipe(case.output_bytes)])
        self.who: Who = who
        self.jail = jail
        self.limits = jail.limits
        self.case = case
        self.says = Link(case.output_bytes)
        self.cpu_s = self.waited_s = self.age_s = 0.0

    def measure(self) -> None:
        """Take note of what it has used; what one that is over has used does not shrink."""
        if not self.over:
            cpu_s, waited_s, self.age_s = usage.seconds_of(self.jail.agent_pid)
            self.cpu_s, self.waited_s = max(self.cpu_s, cpu_s), max(self.waited_s, waited_s)


class Interaction(Sides):
    """One run under way. `decides` tells of an interactor that has ended whether that settles the run."""

    def __init__(
        self, solution: tuple[Jail, Case], interactor: tuple[Jail, Case], *, decides: Callable[[Outcome], bool],
        keep_bytes: int,
    ) -> None:  # fmt: skip
        super().__init__(solution[0].watch, solution[0].limits, solution[0].pace)
        self._solution = _Party("solution", *solution)
        self._interactor = _Party("interactor", *interactor)
        self._decides = decides
        self._keep = keep_bytes
        self._deadline = 0.0
        self._judging = False
        self._grace_until = 0.0
        self._looks_asleep = 0
        self._begun = time.process_time()
        self._stopped: tuple[_Party, Cause] | None = None
        self._supervised_s = 0.0
        self._said = 0
        self._silent_since = time.monotonic()
        self._asleep = False
        self._result = Interacted(solution=Outcome(), interactor=Outcome())

    def run(self) -> None:
        """Have the two talk until both have ended, or one has settled it, or must be stopped."""
        try:
            self._start()
        except HungUp:
            self._blame(self._solution, "lost")
            return
        cause = self._wait(min(self.limits.cpu_s / max(1.0, self.limits.cpus), self.limits.wall_s))
        if cause == "exited" and not self._interactor.over:
            self._await_interactor()
        self._supervised_s = time.process_time() - self._begun
        self._result.unread = (self._interactor.says.unread(), self._solution.says.unread())

    def _await_interactor(self) -> None:
        """Have the interactor judge what it was told.

        That a solution has failed it does not see: if it rejects nonetheless, it was the first.
        """
        self._judging = self._solution.outcome().clean
        limits = self._interactor.limits
        self._deadline = time.monotonic() + limits.wall_s
        self._drop(self._interactor)
        if not self._judging:
            self._interactor.measure()
            self._grace_until = self._interactor.cpu_s + _GRACE_CPU_S
            self._wait(_LOOK_S)
        elif self._finish(self._solution) is None:
            self._wait(min(limits.wall_s, limits.cpu_s))

    def _has_had_its_chance(self) -> bool:
        """Return whether an interactor would have rejected by now a solution that has failed, had it wanted to.

        That depends on what it was given, not on the clock: the machine may be too busy to run it.
        """
        interactor = self._interactor
        pid = interactor.jail.agent_pid
        sleeps = usage.is_asleep(pid) and not usage.is_ending(pid)
        self._looks_asleep = self._looks_asleep + 1 if sleeps else 0
        enough = _LOOKS_ASLEEP[self._solution.says.unread() > 0]
        return self._looks_asleep >= enough or interactor.cpu_s > self._grace_until

    def _start(self) -> None:
        parties = (self._solution, self._interactor)
        for party, other in (parties, parties[::-1]):
            fds = [other.says.reader_end, party.says.writer_end, *party.child_ends]
            party.start(party.case.order(party.limits), fds)
        for party in parties:
            party.says.hand_over()
            self._hear_side(party)
            self._hear(party.says.source, functools.partial(self._carry, party))

    def is_tidy(self, jail: Jail) -> bool:
        """Return whether the party in this jail has ended by itself, and left nothing behind."""
        return all(party.ended for party in (self._solution, self._interactor) if party.jail is jail)

    def close(self) -> None:
        """Let go of all descriptors."""
        for party in (self._solution, self._interactor):
            party.close()
            party.says.close()

    # -- what is said -----------------------------------------------------------------------------------------

    def _carry(self, party: _Party, _: int) -> Cause | None:
        link = party.says
        while True:
            data = link.take()
            if data and self._keep:
                self._note(party, data)
            if link.plain:
                return None
            if link.over:
                return self._blame(party, "output")
            if link.full or link.ended:
                self._forget(link.source)
                if link.full:
                    self._hear(link.sink, functools.partial(self._push, party), select.POLLOUT)
                return None
            if not link.finishing:
                return None

    def _push(self, party: _Party, _: int) -> Cause | None:
        link, fd = party.says, party.says.sink
        link.push()
        if link.full:
            return None
        self._forget(fd)
        return self._go_on(party)

    def _go_on(self, party: _Party) -> Cause | None:
        """Take what a party says again, after a time when there was no room for it."""
        if party.says.ended:
            return None
        self._hear(party.says.source, functools.partial(self._carry, party))
        return self._carry(party, 0) if party.says.finishing else None

    def _finish(self, party: _Party) -> Cause | None:
        """Carry the last words of a party that has ended, and the end of them."""
        link = party.says
        link.finish()
        return None if link.full or link.ended else self._carry(party, 0)

    def _drop(self, party: _Party) -> None:
        """Throw away what a party still says: nobody is there to hear it."""
        link, fd = party.says, party.says.sink
        full = link.full
        link.drop()
        if full:
            self._forget(fd)
            self._go_on(party)

    def _note(self, party: _Party, data: bytes) -> None:
        self._result.spoken.append((party.who, data[: self._keep]))
        self._keep = max(0, self._keep - len(data))

    def _look_at_pipes(self) -> bool:
        """Also let the end of what a party says be seen that has closed its output, and goes on."""
        for party in (self._solution, self._interactor):
            if party.says.held and not party.over and not usage.is_ending(party.jail.agent_pid):
                party.says.release()
        said = self._solution.says.size + self._interactor.says.size
        if said != self._said:
            self._said, self._silent_since = said, time.monotonic()
        return super()._look_at_pipes()

    def _outputs(self) -> list[OutputPipe]:
        return [*self._solution.outputs, *self._interactor.outputs]

    def _too_much(self, pipe: OutputPipe) -> bool:
        if pipe.over:
            self._blame(self._solution if pipe in self._solution.outputs else self._interactor, "output")
        return pipe.over

    # -- how it ends ------------------------------------------------------------------------------------------

    def _blame(self, party: _Party, cause: Cause) -> Cause:
        self._stopped = self._stopped or (party, cause)
        return cause

    def _on_end(self, side: Side, cause: Cause) -> Cause | None:
        party, other = self._solution, self._interactor
        if cause == "lost":
            return self._blame(party if side is party else other, "lost")
        if side is party or (party.over and self._judging):
            return "exited"
        self._result.decided = self._decides(other.outcome())
        if self._result.decided or party.over:
            return "exited"
        self._drop(party)
        return self._finish(other)

    def _check_limits(self) -> tuple[Cause | None, float]:
        """Compare what both have had. The time in which the interactor computes, or would, is not the solution's."""
        solution, interactor = self._solution, self._interactor
        solution.measure()
        interactor.measure()
        rest = interactor.limits.cpu_s - interactor.cpu_s
        if rest < 0 and not interactor.over:
            return self._blame(interactor, "cpu"), 0.0
        if solution.over:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return self._blame(interactor, "wall"), 0.0
            if self._judging:
                return None, max(0.01, min(left, rest))
            return ("exited" if self._has_had_its_chance() else None), _LOOK_S
        cpu_left = self.clock.cpu_s() - solution.cpu_s
        wall_s = self.clock.wall_s(solution.cpu_s + interactor.cpu_s, solution.waited_s, solution.age_s)
        wall_left = wall_s - (solution.age_s - interactor.cpu_s - interactor.waited_s)
        if cpu_left < 0:
            return self._blame(solution, "cpu"), 0.0
        if wall_left < 0:
            self._asleep = self._are_asleep()
            return self._blame(self._who_hangs(), "wall"), 0.0
        return None, max(0.01, min(cpu_left / max(1.0, self.limits.cpus), wall_left, max(rest, 0.1)))

    def _are_asleep(self) -> bool:
        """Return whether both wait for something else than a CPU, and have said nothing for long.

        Then it is not the machine that keeps them from going on, however busy that is.
        """
        long = time.monotonic() - self._silent_since > self.limits.wall_s / 2
        return long and all(usage.is_asleep(party.jail.agent_pid) for party in (self._solution, self._interactor))

    def _who_hangs(self) -> _Party:
        """Return the interactor only if it alone leaves something unread: it neither listens nor waits to be heard."""
        stuck = not self._interactor.over and self._solution.says.unread() and not self._interactor.says.unread()
        return self._interactor if stuck else self._solution

    # -- results ----------------------------------------------------------------------------------------------

    def result(self, kills: tuple[int, int]) -> Interacted:
        """Return what became of the run, once nothing of it is alive; `kills` on each side were for memory."""
        result = self._result
        result.solution = self._outcome(self._solution, kills[0])
        result.interactor = self._outcome(self._interactor, kills[1])
        said = self._solution.says.size + self._interactor.says.size
        result.cut = said - sum(len(text) for _, text in result.spoken)
        return result

    def _outcome(self, party: _Party, kills: int) -> Outcome:
        outcome = party.outcome()
        outcome.stderr = party.outputs[0].data()
        if self._stopped is not None and self._stopped[0] is party:
            outcome.cause = self._stopped[1]
            self._tell_of_stopped(outcome)
        elif outcome.cause == "lost" and not party.over:  # stopped because of the other
            outcome.cause = "exited"
        elif outcome.cpu_s > party.limits.cpu_s and (party is not self._solution or outcome.cpu_s > self.clock.cpu_s()):
            outcome.cause = "cpu"
        elif party.says.over or any(pipe.over for pipe in party.outputs):
            outcome.cause = "output"
        if kills:
            outcome.cause = "memory"
        if party is self._solution and outcome.exit_code is None and outcome.signal is None:
            outcome.cpu_s, outcome.wall_s = party.cpu_s, party.age_s
        outcome.doubt = self.clock.doubt(outcome)
        return outcome

    def _tell_of_stopped(self, outcome: Outcome) -> None:
        solution, interactor = self._solution, self._interactor
        waited = solution.waited_s + interactor.waited_s
        outcome.cpu_s, outcome.wall_s = solution.cpu_s, solution.age_s
        lost = self.clock.others(solution.cpu_s + interactor.cpu_s, waited, solution.age_s, self._supervised_s)
        outcome.waited_s = 0.0 if self._asleep else lost


def interact(
    solution: tuple[Jail, Case], interactor: tuple[Jail, Case], *, decides: Callable[[Outcome], bool],
    keep_bytes: int = 0,
) -> Interacted:  # fmt: skip
    """Run the programs that are open in two jails against each other, and clear up after them.

    What is left of either is killed before this returns; a jail in which something was left has no program open then.
    """
    parties = (solution[0], interactor[0])
    run = Interaction(solution, interactor, decides=decides, keep_bytes=keep_bytes)
    try:
        run.run()
        kills = [jail.settle(dirty=not run.is_tidy(jail)) for jail in parties]
        result = run.result((kills[0], kills[1]))
        for jail, outcome in zip(parties, (result.solution, result.interactor), strict=True):
            if jail.robbed:
                outcome.cause = "lost"
        return result
    except Cancelled:
        for jail in parties:
            jail.clean()
        raise
    finally:
        run.close()
