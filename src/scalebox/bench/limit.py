"""The machine's own limit: runs samples with one fork per case and no protection at all.

A script, not a module: `python -I -S limit.py HOOKS SAMPLES CORE QUEUE_FD PRELOAD…`. It loads the same modules as a
jail, compiles each sample once, and gives every case real pipes. One such process runs on each core; they take the
indices of samples (4 bytes each) from a pipe that they share. HOOKS is `hooks` for forks as CPython makes them, `none`
for forks without what `random`, `threading` and others have done at each (a trick of the engine's own). Says "ready",
waits for a byte, works, and prints cases, passes and CPU seconds.
"""

from __future__ import annotations

import os
import sys

if sys.argv[1:2] == ["none"]:  # before the first import that registers a hook
    setattr(os, "register_at_fork", lambda **_: None)  # noqa: B010 - a stub that types do not allow

import gc
import importlib
import marshal
import resource
from types import CodeType
from typing import Any

CHUNK = 65536
RESULT_FD = 9


def read_all(fd: int) -> bytes:
    """Return what comes from `fd` until its end, and close it."""
    parts = []
    while part := os.read(fd, CHUNK):
        parts.append(part)
    os.close(fd)
    return b"".join(parts)


def child(code: CodeType, call: str | None, cpu_s: int, ends: list[int]) -> None:
    """Run one case in this process, which is a fresh fork, and leave."""
    for fd, end in enumerate(ends[:3]):
        os.dup2(end, fd)
    os.dup2(ends[3], RESULT_FD)
    os.closerange(3, RESULT_FD)
    os.closerange(RESULT_FD + 1, 64)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    status = 0
    namespace: dict[str, Any] = {"__name__": "solution" if call else "__main__"}
    try:
        exec(code, namespace)
        if call:
            arguments = marshal.loads(read_all(0))
            os.write(RESULT_FD, marshal.dumps(namespace[call](*arguments)))
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # whatever the program raises ends this child alone
        status = 1
    try:
        sys.stdout.flush()
    finally:
        os._exit(status)


def run_case(code: CodeType, sample: dict[str, Any], feed: bytes, expected: Any) -> bool:
    """Run one case and say whether it is right. `feed` fits into a pipe's buffer."""
    pipes = [os.pipe() for _ in range(4)]
    (stdin, feeding), *outputs = pipes
    os.write(feeding, feed)
    os.close(feeding)
    pid = os.fork()
    if pid == 0:
        child(code, sample["call"], sample["cpu_s"], [stdin, *(write for _, write in outputs)])
    for end in (stdin, *(write for _, write in outputs)):
        os.close(end)
    out, _, value = (read_all(read) for read, _ in outputs)
    _, status, _ = os.wait4(pid, 0)
    if status:
        return False
    if sample["call"]:
        return bool(value) and bool(marshal.loads(value) == expected)
    return bool(out.split() == expected)


def main() -> None:
    """Preload, report, and work until the shared pipe is empty."""
    path, core, queue, *preload = sys.argv[2:]
    os.sched_setaffinity(0, {int(core)})
    for name in preload:
        importlib.import_module(name)
    with open(path, "rb") as file:
        samples = marshal.load(file)
    gc.collect()
    gc.freeze()
    os.write(1, b"ready\n")
    os.read(0, 1)
    cases = passed = 0
    before = sum(os.times()[:4])
    while index := os.read(int(queue), 4):
        sample = samples[int.from_bytes(index, "little")]
        code = compile(sample["code"], "solution.py", "exec", dont_inherit=True)
        for feed, expected in sample["tests"]:
            cases += 1
            passed += run_case(code, sample, feed, expected)
    os.write(1, b"%d %d %f\n" % (cases, passed, sum(os.times()[:4]) - before))


main()
