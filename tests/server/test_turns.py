"""Fair sharing of the engine among clients, and how much of it is kept filled."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scalebox.server.turns import Pace, Turns


def fill(turns: Turns, window: int) -> list[tuple[str, str, int]]:
    taken = []
    while (slice_ := turns.take(window)) is not None:
        taken.append(slice_)
    return taken


def test_a_small_batch_does_not_wait_for_a_big_one() -> None:
    turns = Turns()
    turns.add("big", "b", 10_000)
    assert sum(count for _, _, count in fill(turns, 100)) == 100
    turns.add("small", "s", 3)
    assert fill(turns, 100) == [("small", "s", 3)], "though the window is full"
    turns.gone("big", 60)
    assert fill(turns, 100) == [], "of two clients, each has half of the window"


def test_the_window_is_shared_in_equal_parts() -> None:
    turns = Turns()
    for name in "abc":
        turns.add(name, f"batch of {name}", 1000)
    counts = Counter[str]()
    for name, _, count in fill(turns, 90):
        counts[name] += count
    assert counts == {"a": 30, "b": 30, "c": 30}


def test_who_was_served_longest_ago_comes_first() -> None:
    turns = Turns()
    for name in "abc":
        turns.add(name, name, 100)
    served = [name for name, _, _ in fill(turns, 12)]
    assert served[:3] == ["a", "b", "c"]


def test_batches_of_a_client_have_turns() -> None:
    turns = Turns()
    turns.add("a", "long", 100)
    turns.add("a", "short", 2)
    assert [batch for _, batch, _ in fill(turns, 8)][:2] == ["long", "short"]


def test_what_is_dropped_is_not_taken() -> None:
    turns = Turns()
    turns.add("a", "b", 5)
    turns.drop("a", "b")
    turns.drop("nobody", "b")
    assert turns.take(100) is None


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(1, 500)), min_size=1, max_size=12),
    st.integers(1, 300),
    st.randoms(use_true_random=False),
)
def test_everything_is_taken_once_and_no_share_is_exceeded(
    batches: list[tuple[str, str, int]], window: int, chance: object
) -> None:
    turns, waiting, flying = Turns(), Counter[tuple[str, str]](), Counter[str]()
    for client, batch, samples in batches:
        turns.add(client, client + batch, samples)
        waiting[client, client + batch] += samples
    while sum(waiting.values()) or sum(flying.values()):
        for client, batch, count in fill(turns, window):
            waiting[client, batch] -= count
            flying[client] += count
            assert count > 0
            assert flying[client] <= window
        assert sum(flying.values()), "work waits, and none of it is in the engine"
        client = chance.choice(sorted(name for name, count in flying.items() if count))  # type: ignore[attr-defined]
        gone = max(1, flying[client] // 2)
        turns.gone(client, gone)
        flying[client] -= gone
    assert not +waiting
    assert min(waiting.values()) == 0
    assert turns.take(window) is None


def test_the_window_follows_the_cost_of_samples() -> None:
    pace = Pace(workers=2)
    for _ in range(1000):
        pace.learn(0.002)
    assert 200 <= pace.window <= 300
    for _ in range(1000):
        pace.learn(5.0)
    assert pace.window == 8
    assert 20 <= pace.seconds_for(10) <= 30
