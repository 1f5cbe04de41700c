"""A process that holds a client and verifies without end: `python driver.py ENDING`, killed or ended by its test."""

from __future__ import annotations

import os
import signal
import sys

from tests.soak.mix import mix

from scalebox import ScaleBoxClient, Settings


def main(ending: str) -> None:
    """Verify; after the first results say so, and go on until killed, or end as `ending` says."""
    client = ScaleBoxClient(settings=Settings(workers=2))
    batch = client.submit_batch(mix(5000, seed=os.getpid()).records)
    for number, _ in enumerate(client.stream(batch)):
        if number == 20:
            os.write(1, b"running\n")
            if ending == "exit":
                sys.exit(0)
            if ending == "_exit":
                os._exit(0)
            if ending == "exception":
                raise ValueError("the trainer's own failure")
            if ending == "terminated":
                signal.signal(signal.SIGTERM, signal.SIG_DFL)


if __name__ == "__main__":
    main(sys.argv[1])
