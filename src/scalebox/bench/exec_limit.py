"""Runs built programs with no protection, on one core: `exec_limit.py CASES.json CORE`.

Prints [cases, right, seconds, CPU seconds]. A case is [command, environment, standard input, standard output]; it has
pipes for standard input, output and error, and a process of its own. Standard library alone.
"""

import contextlib
import json
import os
import sys
import time

#: Seconds that are measured at least.
_LEAST_S = 1.0


def run(command: list[str], env: dict[str, str], stdin: bytes) -> bytes:
    """Run a program whose input and output fit into a pipe; return what it printed."""
    (stdin_read, stdin_write), (out_read, out_write), (err_read, err_write) = os.pipe(), os.pipe(), os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((stdin_read, out_write, err_write))]
    pid = os.posix_spawn(command[0], command, env, file_actions=actions)
    for fd in (stdin_read, out_write, err_write):
        os.close(fd)
    with contextlib.suppress(BrokenPipeError):  # it may end without reading
        os.write(stdin_write, stdin)
    os.close(stdin_write)
    text = b""
    while part := os.read(out_read, 65536):
        text += part
    os.wait4(pid, 0)
    os.close(out_read)
    os.close(err_read)
    return text


def _cpu_s() -> float:
    return sum(os.times()[:4])


def main(path: str, core: str) -> None:
    """Run all cases, and again while it took too little time to tell, after one of each program to warm up."""
    os.sched_setaffinity(0, {int(core)})
    with open(path, encoding="utf-8") as file:
        cases = [(command, env, stdin.encode(), out.encode()) for command, env, stdin, out in json.load(file)]
    count = right = 0
    for command, env, stdin, _ in {tuple(case[0]): case for case in cases}.values():
        run(command, env, stdin)
    begun, used = time.perf_counter(), _cpu_s()
    while not count or time.perf_counter() - begun < _LEAST_S:
        for command, env, stdin, stdout in cases:
            right += run(command, env, stdin) == stdout
        count += len(cases)
    print(json.dumps([count, right, time.perf_counter() - begun, _cpu_s() - used]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
