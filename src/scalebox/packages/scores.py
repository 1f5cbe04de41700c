"""Points: what the cases of a problem with scores come to, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from scalebox.core.verdicts import Verdict

Aggregation = Literal["sum", "min", "max", "avg"]

_AGGREGATE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "min": min,
    "max": max,
    "avg": lambda points: sum(points) / len(points),
}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Cases and groups of them, in the order they are judged in.

    A case that passes has `accept` points, one that does not `reject`; both may be a group's own. With `stop` a group
    is over at its first failure. `whole` counts the group's `accept` once, if every case in it passes.
    """

    members: tuple[Group | str, ...] = ()
    aggregation: Aggregation = "sum"
    accept: float = 1.0
    reject: float = 0.0
    stop: bool = True
    whole: bool = False

    def points(self, verdicts: Mapping[str, Verdict]) -> float | None:
        """Return the points for the verdicts of cases by name; None where one that counts is in doubt."""
        if self.whole:
            seen = [verdicts.get(name) for name in self.names()]
            if all(verdict is Verdict.PASSED for verdict in seen):
                return self.accept
            failed = any(verdict in FAILED for verdict in seen)
            return self.reject if failed else None
        found: list[float] = []
        for member in self.members:
            points = member.points(verdicts) if isinstance(member, Group) else self._case(verdicts.get(member))
            if points is None:
                return None
            found.append(points)
            names = member.names() if isinstance(member, Group) else [member]
            if self.stop and any(verdicts.get(name) is not Verdict.PASSED for name in names):
                break
        return _AGGREGATE[self.aggregation](found) if found else 0.0

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
