"""A process with an engine, for tests that take things away from it: `python -m tests.soak.chaos_driver`.

Reads one JSON object from standard input: "settings", "records", and "wild", whether its calendar clock, and that of
its workers, is to jump at every look. Writes one JSON line for each result (id, verdict, message), and one with
"failed" where the batch ends in an error.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time

from scalebox.client.housekeeping import Housekeeping
from scalebox.core.errors import ScaleBoxError
from scalebox.core.settings import Settings
from scalebox.engine import Engine
from scalebox.parse import parse_sample

_WILD_WORKER = "from tests.soak.chaos_driver import go_wild; go_wild(); from scalebox.worker import main; main()"


def go_wild() -> None:
    """Have the calendar clock say anything, and never the same twice."""
    draw = random.Random()  # noqa: S311 - times, not secrets
    time.time = lambda: draw.uniform(0, 4e9)
    time.time_ns = lambda: draw.randrange(1 << 61)


def main() -> None:
    """Verify what standard input says, and tell of each result as it comes."""
    order = json.load(sys.stdin)
    command: tuple[str, ...] = ()
    if order.get("wild"):
        go_wild()
        command = (sys.executable, "-c", _WILD_WORKER)
    settings = Settings(**order["settings"])
    samples = [parse_sample(record, settings=settings) for record in order["records"]]
    engine = Engine(settings, command=command, on_worker_gone=Housekeeping(settings.scratch_dir).worker_gone)
    batch = engine.submit(samples)
    told = 0
    changed = threading.Event()
    engine.batches.watch(batch, changed.set, each=True)
    while told < len(samples) and (engine.batches.state(batch) == "PENDING" or told < engine.batches.progress(batch)):
        changed.wait()
        changed.clear()
        for result in engine.batches.finished(batch, told):
            told += 1
            print(json.dumps({"id": result.id, "verdict": result.verdict, "message": result.message}), flush=True)
    try:
        engine.batches.hand_over(batch)
    except ScaleBoxError as error:
        print(json.dumps({"failed": str(error)}), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
