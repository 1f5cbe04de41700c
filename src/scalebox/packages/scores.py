"""Points: what the cases of a problem with scores come to, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from scalebox.core.verdicts import Verdict

Aggregation = Literal["sum", "min", "max", "avg"]
#: When a group counts as accepted: if all in it is, if anything is, or whatever becomes of it.
Accepts = Literal["all", "any", "always"]

_AGGREGATE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "avg": lambda points: sum(points) / len(points),
}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Cases and groups of them, in the order they are judged in.

    A case that passes has `accept` points, one that does not `reject`; both may be a group's own. With `stop` a group
    is over at the first case or group in it that is not accepted. `whole` counts the group's `accept` once, if every
    case in it passes; where that is nothing, and it does not pass, what comes after it is not judged.
    """

    members: tuple[Group | str, ...] = ()
    aggregation: Aggregation = "sum"
    accept: float = 1.0
    reject: float = 0.0
    stop: bool = True
    whole: bool = False
    accepts: Accepts = "all"

    def points(self, verdicts: Mapping[str, Verdict]) -> float | None:
        """Return the points for the verdicts of cases by name; None where one that counts is in doubt."""
        if self.whole:
            seen = [verdicts.get(name) for name in self.names()]
            if all(verdict is Verdict.PASSED for verdict in seen):
                return self.accept
            failed = any(verdict in FAILED for verdict in seen)
            return self.reject if failed else None
        found: list[float] = []
        for member, _ in self._judged(verdicts):
            points = member.points(verdicts) if isinstance(member, Group) else self._case(verdicts.get(member))
            if points is None:
                return None
            found.append(points)
        return _AGGREGATE[self.aggregation](found) if found else 0.0

    def _accepted(self, verdicts: Mapping[str, Verdict]) -> bool:
        if self.accepts == "always":
            return True
        found = [accepted for _, accepted in self._judged(verdicts)]
        return any(found) if self.accepts == "any" else all(found)

    def _judged(self, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[Group | str, bool]]:
        """Yield what judging comes to, and whether it is accepted."""
        for member in self.members:
            if isinstance(member, Group):
                accepted, gate = member._accepted(verdicts), member.whole and member.accept == 0
            else:
                accepted, gate = verdicts.get(member) is Verdict.PASSED, False
            yield member, accepted
            if not accepted and (self.stop or gate):
                return

    def names(self) -> Iterator[str]:
        """Yield the names of all cases."""
        for member in self.members:
            if isinstance(member, Group):
                yield from member.names()
            else:
                yield member

    def _case(self, verdict: Verdict | None) -> float | None:
        if verdict is Verdict.PASSED:
            return self.accept
        return self.reject if verdict in FAILED else None


FAILED = frozenset(Verdict) - {Verdict.PASSED, Verdict.NOT_RUN, Verdict.UNKNOWN, Verdict.INTERNAL_ERROR}
