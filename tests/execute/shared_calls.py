"""Runs calls of programs both ways, in a process of its own: a fresh namespace per call, and one for all of them.

Started as `python shared_calls.py`; reads a JSON line per program, answers with a JSON line.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from scalebox.core import values

SECONDS_PER_CALL = 0.5
ENDLESS = "endless"


class Endless(BaseException):
    """The call does not come to an end."""


def _stop(*_: object) -> None:
    raise Endless


def outcome(namespace: dict[str, Any], call: str, arguments: str) -> str:
    """Return what `call` gives, as text without addresses."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS_PER_CALL)
    try:
        head, _, method = call.partition(".")
        target = getattr(namespace[head](), method) if method else namespace[head]
        result = target(*eval(arguments))  # noqa: S307 - literals of a test
        return repr(values.decode(values.encode(result)))
    except Endless:
        return ENDLESS
    except BaseException as error:
        return f"raises {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def load(code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "solution"}
    exec(compile(code, "solution.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - what this is for
    return namespace


def both(code: str, call: str, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the outcomes with a fresh namespace each, and those of one namespace, last call first and over again.

    Calls that do not end by themselves are left out.
    """
    try:
        fresh = [outcome(load(code), call, one) for one in arguments]
        ending = [place for place, what in enumerate(fresh) if what != ENDLESS]
        fresh, arguments = [fresh[place] for place in ending], [arguments[place] for place in ending]
        namespace = load(code)
        backwards = [outcome(namespace, call, one) for one in reversed(arguments)]
        again = [outcome(namespace, call, one) for one in arguments]
    except Exception as error:
        return [repr(error)], [repr(error)]
    return fresh + fresh, backwards[::-1] + again


def main() -> None:
    signal.signal(signal.SIGALRM, _stop)
    sys.setrecursionlimit(500)
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(both(job["code"], job["call"], job["arguments"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
