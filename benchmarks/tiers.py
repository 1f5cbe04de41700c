"""The same 300 programs under every isolation tier that works here: their verdicts, and what each tier costs.

    python benchmarks/tiers.py [--tiers NAME,…] [--every N] [--python PATH] [--folder FOLDER] [--report | --costs]

Programs are those of examples/rollouts.jsonl, of the golden tables and of the hostile suite; they need no data. Prints
tables in Markdown: verdicts by tier, and each program whose verdicts differ or are wrong; with --costs, those of a
start and of a case. A hostile program may have more than one right verdict. The exit code is 1 where a verdict is
none of the right ones. Programs in other languages are `unknown` where the toolchain is missing. Results are kept in a
folder, so that a run which was broken off goes on where it was; --report prints what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.golden import test_verdicts as golden
from tests.hostile.native_programs import NATIVE
from tests.hostile.programs import ATTACKS
from tests.hostile.system_calls import SYSTEM_CALLS

from scalebox import Limits, Settings
from scalebox.parse import parse_sample
from scalebox.sandbox import conformance, tiers
from scalebox.sandbox.batch import Case
from scalebox.sandbox.jail import Jail
from scalebox.worker import Verifier

VARIANTS = ("namespace", "process", "container:crun", "container:runc", "gvisor")
_GOLDEN = (
    golden.PASSED, golden.COMPILE_ERROR, golden.RUNTIME_ERROR, golden.WRONG, golden.TIME_OUT, golden.MEMORY_EXCEED,
    golden.OUTPUT_EXCEED, golden.DENIED,
)  # fmt: skip
_ROLLOUTS, _ATTACKS, _CALLS, _NATIVE = 110, 86, 20, 14
_WALL_S = 10.0
_ECHO = b"print(input()[::-1])\n"
_STARTS, _BATCHES, _BATCH = 7, 40, 5


class Program(NamedTuple):
    """A sample in the input format, where it comes from, and its right verdicts; none where the first tier tells."""

    origin: str
    record: dict[str, Any]
    right: frozenset[str]


def programs() -> list[Program]:
    """Return the 300 programs; always the same ones."""
    lines = (ROOT / "examples" / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    found = [Program("rollout", json.loads(line), frozenset()) for line in _spread(lines, _ROLLOUTS)]
    rows = [row for table in _GOLDEN for row in table]
    found += [Program("golden", row.sample(), frozenset([row.verdict])) for row in rows]
    for origin, attacks, count in (
        ("hostile", ATTACKS, _ATTACKS), ("system call", SYSTEM_CALLS, _CALLS), ("hostile", NATIVE, _NATIVE)
    ):  # fmt: skip
        found += [Program(origin, attack.record(), attack.verdicts) for attack in _spread(attacks, count)]
    return [_numbered(program, number) for number, program in enumerate(found)]


def _numbered(program: Program, number: int) -> Program:
    """Return the program with an id of its own, and no more time by the clock than ten seconds."""
    limits = {**program.record.get("limits", {})}
    limits["wall_s"] = min(limits.get("wall_s", _WALL_S), _WALL_S)
    return program._replace(record={**program.record, "id": f"{number} {program.record['id']}", "limits": limits})


def _spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return so many of the items, at even distances."""
    return [items[index * len(items) // count] for index in range(count)]


def verify(tier: str, chosen: Sequence[Program], python: str, folder: Path) -> list[str]:
    """Return the verdicts of the programs in one tier, by one worker; those that `folder` has are not found anew."""
    file = folder / f"{tier.replace(':', '-')}.jsonl"
    known = _known(file)
    settings = Settings(tier=tier, cache="off", interpreter=python)
    verifier = Verifier(settings, sorted(os.sched_getaffinity(0))[:1])
    try:
        with file.open("ab") as out:
            for program in chosen:
                name = program.record["id"]
                if name not in known:
                    result, _ = verifier.verify(parse_sample(program.record, settings=settings))
                    verifier.tidy()
                    known[name] = str(result.verdict)
                    out.write(msgspec.json.encode(result) + b"\n")
                    out.flush()
    finally:
        verifier.close()
    return [known[program.record["id"]] for program in chosen]


def _known(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {result["id"]: result["verdict"] for result in map(json.loads, lines)}


def costs(tier: str, python: str) -> tuple[float, float]:
    """Return the milliseconds of a jail's start, warmed up and tested, and of a small case in it; the least of some.

    Others on the machine make both longer, and nothing makes them shorter.
    """
    jail = Jail(tiers.find(tier), conformance.config(python))
    starts, cases = [], []
    try:
        for _ in range(_STARTS):
            jail.stop()
            begun = time.perf_counter()
            jail.start()
            starts.append(time.perf_counter() - begun)
        jail.open(_ECHO, Limits(), None)
        for _ in range(_BATCHES):
            begun = time.perf_counter()
            ran = len(jail.run_batch([Case(stdin=b"abc\n")] * _BATCH))
            cases.append((time.perf_counter() - begun) / ran)
    finally:
        jail.stop()
    return 1000 * min(starts), 1000 * min(cases)


def main() -> int:
    """Run the programs as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiers", default=",".join(VARIANTS))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each Nth program only")
    parser.add_argument("--python", default="", metavar="PATH", help="interpreter of samples")
    parser.add_argument("--folder", default="build/tiers", metavar="FOLDER", help="where results are kept")
    parser.add_argument("--costs", action="store_true", help="measure what each tier costs, and verify nothing")
    parser.add_argument("--report", action="store_true", help="run nothing: print what the folder has")
    options = parser.parse_args()
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    chosen = programs()[:: options.every]
    wanted = [tier for tier in options.tiers.split(",") if options.report or _works(tier)]
    if options.costs:
        print(_costs({tier: costs(tier, options.python) for tier in wanted}))
        return 0
    if options.report:
        kept = {tier: _known(folder / f"{tier.replace(':', '-')}.jsonl") for tier in wanted}
        chosen = [program for program in chosen if all(program.record["id"] in known for known in kept.values())]
        found = {tier: [known[program.record["id"]] for program in chosen] for tier, known in kept.items()}
    else:
        found = {tier: verify(tier, chosen, options.python, folder) for tier in wanted}
    print(f"{len(chosen)} programs", _verdicts(found), _differences(chosen, found), sep="\n\n")
    return int(any(_is_wrong(chosen, verdicts) for verdicts in found.values()))


def _works(tier: str) -> bool:
    probe = tiers.find(tier).probe()
    if not probe.ok:
        print(f"{tier} does not work here: {probe.reason}", file=sys.stderr)
    return probe.ok


def _is_wrong(chosen: Sequence[Program], verdicts: Sequence[str]) -> bool:
    pairs = zip(chosen, verdicts, strict=True)
    return any(program.right and verdict not in program.right for program, verdict in pairs)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _verdicts(found: dict[str, list[str]]) -> str:
    counts = {tier: Counter(verdicts) for tier, verdicts in found.items()}
    kinds = sorted({verdict for count in counts.values() for verdict in count})
    return _table(["verdict", *found], [[kind, *(counts[tier][kind] for tier in found)] for kind in kinds])


def _differences(chosen: Sequence[Program], found: dict[str, list[str]]) -> str:
    rows = []
    for program, verdicts in zip(chosen, zip(*found.values(), strict=True), strict=True):
        wrong = [verdict for verdict in verdicts if program.right and verdict not in program.right]
        if len(set(verdicts)) > 1 or wrong:
            rows.append([f"{program.origin}: {program.record['id']}", *verdicts, "|".join(sorted(program.right))])
    return _table(["program", *found, "right"], rows)


def _costs(spent: dict[str, tuple[float, float]]) -> str:
    rows = [[tier, f"{start:.0f}", f"{case:.2f}"] for tier, (start, case) in spent.items()]
    return _table(["tier", "start (ms)", "small case (ms)"], rows)


if __name__ == "__main__":
    raise SystemExit(main())
