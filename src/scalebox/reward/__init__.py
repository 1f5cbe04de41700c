"""From a sample's result to its reward.

A shaping is a file of this folder, found by its name. It defines `shape(facts: Facts) -> dict[str, float]`: the
named parts, whose sum is the reward. It has the same keys for every sample, and its sum never falls when
a case comes to pass. Whether a doubtful case decides is found out here, by shaping twice: as if every
doubtful case had failed, and as if it had passed. Where the two agree no doubt matters.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache

import msgspec

from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult
from scalebox.reward._facts import Facts, facts_of, may_be_in_doubt, pass_rate_of

__all__ = ["Reward", "check_reward", "names", "pass_rate_of", "reward_of"]


class Reward(msgspec.Struct, frozen=True):
    """What a sample earns. `value` is None, and `masked` true, where it rests on a doubtful case.

    `parts` add up to `value`; of a masked reward they are the least that is certain.
    """

    value: float | None
    masked: bool
    parts: dict[str, float]


@cache
def names() -> tuple[str, ...]:
    """Return the names of the shapings, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


def check_reward(name: str, field: str) -> str:
    """Return `name` if there is such a shaping, else raise InputError at `field`."""
    if name not in names():
        raise InputError(f"no such reward: {name[:60]!r}", field=field, mend=f"one of {', '.join(names())}")
    return name


def reward_of(name: str, result: VerificationResult, weights: Mapping[str, float], *, extracted: str) -> Reward:
    """Return the reward of `result` by the shaping `name`.

    `weights` gives the weight of each case of a test by the test's id, 1 where it has none; `extracted` says how
    the code was found in the response: "fenced", "incomplete_fenced", "bare", "code" (no response, source as it
    is) or "empty". Raises InputError for an unknown shaping or way of extraction.
    """
    shape = _shaping(name)
    least = shape(facts_of(result, weights, extracted, doubts_pass=False))
    most = shape(facts_of(result, weights, extracted, doubts_pass=True)) if may_be_in_doubt(result) else least
    masked = least != most
    return Reward(value=None if masked else math.fsum(least.values()), masked=masked, parts=least)


@cache
def _shaping(name: str) -> Callable[[Facts], dict[str, float]]:
    module = importlib.import_module(f"{__name__}.{check_reward(name, 'reward')}")
    shape: Callable[[Facts], dict[str, float]] = module.shape
    return shape
