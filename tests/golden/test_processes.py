"""Threads, stacks, children and signals as honest programs use them."""

from __future__ import annotations

import os
from typing import Any

import pytest
from tests.golden.table import Row, check_table, stdin

from scalebox import ScaleBoxClient

PROCESSES = [
    Row(
        "threads",
        "threads are no processes",
        """
        import threading
        t = threading.Thread(target=lambda: print(3))
        t.start()
        t.join()
        """,
    ),
    Row(
        "thread-not-joined",
        "the end waits for threads",
        """
        import threading, time
        threading.Thread(target=lambda: (time.sleep(0.05), print(3))).start()
        """,
    ),
    Row(
        "thread-with-a-large-stack",
        "contest boilerplate for deep recursion",
        """
        import sys, threading
        sys.setrecursionlimit(1 << 20)
        threading.stack_size(128 << 20)
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        def main(): print(3 if depth(100_000) == 100_000 else 0)
        thread = threading.Thread(target=main)
        thread.start()
        thread.join()
        """,
    ),
    Row(
        "deep-recursion",
        "recursion up to a raised limit",
        """
        import sys
        sys.setrecursionlimit(50_000)
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        print(3 if depth(40_000) == 40_000 else 0)
        """,
    ),
    Row(
        "recursion-to-the-default",
        "900 calls deep under the default limit",
        """
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        print(3 if depth(900) == 900 else 0)
        """,
    ),
    Row(
        "recursion-error-caught",
        "a RecursionError can be caught",
        """
        def f(): return f()
        try: f()
        except RecursionError: print(3)
        """,
    ),
    Row(
        "pool-of-threads",
        "a pool of threads",
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool: print(sum(pool.map(int, '12')))
        """,
    ),
    Row(
        "asyncio",
        "an event loop needs no network",
        """
        import asyncio
        async def main(): print(3)
        asyncio.run(main())
        """,
    ),
    Row(
        "signal-handler",
        "a program may handle signals of its own",
        """
        import signal, os
        signal.signal(signal.SIGUSR1, lambda *a: print(3))
        os.kill(os.getpid(), signal.SIGUSR1)
        """,
    ),
    Row(
        "background-child-holds-stdout",
        "a child left behind that holds stdout open is killed, not waited for",
        """
        import os, time
        print(3, flush=True)
        if os.fork() == 0:
            time.sleep(600)
        """,
        limits={"processes": 2},
    ),
    Row(
        "background-program-holds-stdout",
        "a program left behind that holds stdout open is killed, not waited for",
        """
        import subprocess
        print(3, flush=True)
        subprocess.Popen(['sleep', '600'])
        """,
        limits={"processes": 2},
    ),
    Row(
        "background-child-forbidden",
        "without processes allowed, a fork is refused at once, not waited for",
        """
        import os, time
        print(4, flush=True)
        if os.fork() == 0: time.sleep(600)
        """,
        verdict="resource_denied",
    ),
    Row(
        "fork-refused-but-not-needed",
        "something denied that did not matter: the output is right",
        """
        import os
        try: os.fork()
        except OSError: pass
        print(3)
        """,
    ),
    Row(
        "subprocess-allowed",
        "a child's output is the program's",
        "import subprocess\nsubprocess.run(['echo', '3'])",
        limits={"processes": 4},
    ),
]


def test_threads_and_children_are_judged_by_what_they_do(client: ScaleBoxClient) -> None:
    check_table(client, PROCESSES)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_a_program_has_the_cpus_that_its_limits_give_it(client: ScaleBoxClient) -> None:
    asks = "import os\nprint(len(os.sched_getaffinity(0)))"
    most = len(os.sched_getaffinity(0))
    given: list[tuple[str, dict[str, Any], int]] = [
        ("one", {}, 1), ("a part of one", {"cpu_limit": 0.5}, 1), ("two", {"cpus": 2}, 2),
        ("more than there are", {"cpus": 1000}, most),
    ]  # fmt: skip
    rows = [Row(name, "", asks, [stdin("", f"{cpus}\n")], limits=limits) for name, limits, cpus in given]
    profile = Row("a profile's", "", asks, [stdin("", "2\n")], fields={"profile": "agent"})
    called = Row(
        "calls and tests as one", "", "import os\ndef f(): return len(os.sched_getaffinity(0))",
        [{"assert": "assert f() == 2"}], limits={"cpus": 2},
    )  # fmt: skip
    check_table(client, [*rows, profile, called])
