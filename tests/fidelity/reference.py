"""What programs return in a plain Python of their own: the truth that ScaleBox's labels are held against."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

# Each program runs in a fork, so that one that hangs or exhausts memory costs itself alone. Values come back as
# `repr`, an exception as "!" and its name.
_SCRIPT = """
import json, os, resource, signal, sys
sys.set_int_max_str_digits(0)
job = json.load(sys.stdin)

def values(code):
    space = {"__name__": "solution"}
    exec(code, space)
    function, answers = space[job["entry"]], []
    for arguments in job["arguments"]:
        given = eval(arguments, {"inf": float("inf"), "nan": float("nan")})
        try:
            answers.append(repr(function(*given)))
        except Exception as error:
            answers.append("!" + type(error).__name__)
    return answers

for code in job["programs"]:
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"], job["seconds"]))
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        answers = None
        try:
            answers = values(code)
        finally:
            with open(sink, "w") as pipe:
                json.dump(answers, pipe)
            os._exit(0)
    os.close(sink)
    with open(source) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    print(text or "null", flush=True)
"""


def evaluate(
    programs: Sequence[str], entry: str, arguments: Sequence[str], seconds: int = 60
) -> list[list[str] | None]:
    """Return, for each program, what its function `entry` gives for each tuple of arguments (source text of one).

    None stands for a program that failed as a whole: at its start, by a crash, or after `seconds` of CPU time.
    """
    job = {"programs": list(programs), "entry": entry, "arguments": list(arguments), "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-I", "-c", _SCRIPT], input=json.dumps(job), capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
