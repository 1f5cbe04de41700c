"""Cases share nothing: what one leaves in its module, its libraries or its files the next does not find."""

from __future__ import annotations

from tests.golden.table import Row, call, check_table, stdin

from scalebox import ScaleBoxClient

STATE = [
    Row(
        "counter-of-the-module",
        "each call begins with a fresh module",
        """
        n = 0
        def tick():
            global n
            n += 1
            return n
        """,
        [call("tick", expect=1)] * 4,
    ),
    Row(
        "list-of-the-module",
        "each call begins with a fresh module",
        """
        seen = []
        def add(x):
            seen.append(x)
            return seen
        """,
        [call("add", x, expect=[x]) for x in range(4)],
    ),
    Row(
        "default-argument",
        "each call begins with fresh defaults",
        """
        def add(x, into=[]):
            into.append(x)
            return into
        """,
        [call("add", x, expect=[x]) for x in range(4)],
    ),
    Row(
        "attribute-of-the-class",
        "each call begins with a fresh class",
        """
        class Solution:
            count = 0
            def tick(self):
                Solution.count += 1
                return Solution.count
        """,
        [call("Solution.tick", expect=1)] * 4,
    ),
    Row(
        "attribute-of-the-function",
        "each call begins with a fresh function",
        """
        def tick():
            tick.n = getattr(tick, 'n', 0) + 1
            return tick.n
        """,
        [call("tick", expect=1)] * 4,
    ),
    Row(
        "attribute-of-a-library",
        "each call begins with fresh modules, the library's too",
        """
        import math
        def tick():
            math.ticks = getattr(math, 'ticks', 0) + 1
            return math.ticks
        """,
        [call("tick", expect=1)] * 4,
    ),
    Row(
        "cache",
        "a cache holds nothing of an earlier call",
        """
        from functools import cache
        @cache
        def value(x): return []
        def fill(x):
            value(0).append(x)
            return value(0)
        """,
        [call("fill", x, expect=[x]) for x in range(4)],
    ),
    Row(
        "generator-at-module-level",
        "each call begins with a fresh iterator",
        """
        from itertools import count
        numbers = count(1)
        def tick(): return next(numbers)
        """,
        [call("tick", expect=1)] * 4,
    ),
    Row(
        "arguments-altered",
        "each call has arguments of its own",
        """
        def last(xs):
            xs.append(len(xs))
            return xs[-1]
        """,
        [call("last", [1, 2], expect=2)] * 4,
    ),
    Row(
        "file-of-the-program",
        "each case begins with an empty working directory",
        """
        import os
        print(os.path.exists('mark'), os.listdir('.'))
        open('mark', 'w').write('1')
        """,
        [stdin("", "False []")] * 3,
    ),
    Row(
        "recursion-limit-set",
        "what one case sets does not hold for the next",
        """
        import sys
        print(sys.getrecursionlimit() < 5000)
        sys.setrecursionlimit(10000)
        """,
        [stdin("", "True")] * 2,
    ),
]


def test_every_case_begins_afresh(client: ScaleBoxClient) -> None:
    check_table(client, STATE)
