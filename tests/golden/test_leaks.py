"""What a program leaves behind is gone when its result is there: processes, files, memory segments, mounts."""

from __future__ import annotations

from pathlib import Path

from tests.golden.table import Row, check_table, stdin

from scalebox import ScaleBoxClient

#: A time to sleep that no other program of this machine sleeps: by it the children that stay are known.
MARK = "86399.25"

DETACHED = [
    Row(
        "daemon",
        "a child of a child, in a session of its own",
        f"""
        import os
        print(3, flush=True)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp('sleep', ['sleep', '{MARK}'])
        """,
        limits={"processes": 8},
    ),
    Row(
        "no-hang-up",
        "a child that ignores signals",
        f"""
        import signal, subprocess
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
        subprocess.Popen(['sleep', '{MARK}'], start_new_session=True)
        print(3)
        """,
        limits={"processes": 8},
    ),
    Row(
        "many",
        "as many as are allowed",
        f"""
        import subprocess
        for _ in range(8): subprocess.Popen(['sleep', '{MARK}'])
        print(3)
        """,
        limits={"processes": 8},
    ),
    Row(
        "left-by-a-hang",
        "children of a program that is stopped",
        f"""
        import subprocess
        subprocess.Popen(['sleep', '{MARK}'], start_new_session=True)
        while True: pass
        """,
        verdict="time_out",
        limits={"processes": 8, "cpu_s": 0.3},
    ),
    Row(
        "left-by-a-crash",
        "children of a program that kills itself",
        f"""
        import os, subprocess
        subprocess.Popen(['sleep', '{MARK}'], start_new_session=True)
        os.kill(os.getpid(), 9)
        """,
        verdict="runtime_error",
        limits={"processes": 8},
    ),
]

PLACES = "'mark', '/tmp/mark', '/dev/shm/mark'"
LEFT_OVERS = [
    Row(
        "files",
        "no case finds what another wrote",
        f"""
        import os, tempfile
        places = [{PLACES}, os.path.join(tempfile.gettempdir(), 'mark')]
        print(sum(map(os.path.exists, places)))
        for place in places:
            try: open(place, 'w').write('left')
            except OSError: pass
        """,
        [stdin("", "0")] * 3,
    ),
    Row(
        "files-again",
        "no sample finds what another wrote",
        f"import os\nprint(sum(map(os.path.exists, ({PLACES}))))",
        [stdin("", "0")],
    ),
    Row(
        "folders-and-links",
        "whatever the kind and the mode of what was left",
        """
        import os
        print(sorted(os.listdir('.')))
        os.makedirs('a/b/c')
        os.symlink('/etc', 'link')
        os.mkfifo('pipe')
        open('a/b/c/file', 'w').write('x' * 100_000)
        os.chmod('a/b', 0)
        """,
        [stdin("", "[]")] * 3,
    ),
    Row(
        "shared-memory",
        "no case finds the segment of another; where there are none at all, that is the same",
        """
        from multiprocessing import shared_memory
        try:
            shared_memory.SharedMemory('rl_cache')
            print('found')
        except OSError:
            print('none')
        try:
            shared_memory.SharedMemory('rl_cache', create=True, size=16)
        except OSError:
            pass
        """,
        [stdin("", "none")] * 3,
        limits={"processes": 2},
    ),
]


def test_no_child_survives_its_case(client: ScaleBoxClient) -> None:
    check_table(client, DETACHED)
    assert _sleeping() == []


def test_nothing_is_left_for_the_next_case(client: ScaleBoxClient) -> None:
    check_table(client, LEFT_OVERS)


def test_mounts_are_those_from_before(client: ScaleBoxClient) -> None:
    before = _mounts()
    check_table(client, DETACHED + LEFT_OVERS)
    assert _mounts() == before


def _sleeping() -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:  # it ended meanwhile
            continue
        if MARK.encode() in command.split(b"\0"):
            found.append(f"{folder.name}: {command!r}")
    return found


def _mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()
