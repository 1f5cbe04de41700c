"""What samples are expected to cost, learnt from what samples of the same problem did cost."""

from __future__ import annotations

from collections import OrderedDict

#: A mean follows the last so many samples: programs get better as a policy learns.
_MEMORY = 16
_MAX_GROUPS = 65_536


class CostBook:
    """Mean seconds per group of samples, and per case over all groups for those not seen yet."""

    def __init__(self, per_case_s: float = 0.01) -> None:
        self._groups: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._per_case = (per_case_s, 0)  # a guess, gone with the first thing learnt

    def estimate(self, group: str, cases: int) -> float:
        """Return the seconds that a sample of `group` with so many cases should take."""
        known = self._groups.get(group)
        return known[0] if known is not None else self._per_case[0] * cases

    def learn(self, group: str, cases: int, seconds: float) -> None:
        """Take note of what a sample cost."""
        known = self._groups.pop(group, (0.0, 0))
        self._groups[group] = _follow(known, seconds)  # last: the one longest unused is forgotten first
        self._per_case = _follow(self._per_case, seconds / max(cases, 1))
        if len(self._groups) > _MAX_GROUPS:
            self._groups.popitem(last=False)


def _follow(mean: tuple[float, int], value: float) -> tuple[float, int]:
    count = min(mean[1] + 1, _MEMORY)
    return mean[0] + (value - mean[0]) / count, count
