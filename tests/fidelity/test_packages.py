"""Problem packages: records of contest problems written out as packages, read back, and their submissions verified."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ThirdParty
from tests.fidelity import kattis
from tests.fidelity.labels import check

from scalebox import AsyncScaleBoxClient, Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.packages import Package, load_package
from scalebox.packages.checking import Checking, Outcome

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

#: Languages of the data that packages are checked in, and what must be here for each.
_LANGUAGES = {"python": "", "cpp": "cpp20", "c": "c", "java": "java", "rust": "rust"}
#: Bytes of tests up to which a record is taken, and submissions of each of its languages and folders: the suites of
#: submissions run them all, this one is about packages.
_MOST_BYTES, _MOST_ALIKE = 20_000, 1
#: Labels for which this suite relies on no more than that the submission fails: how slow is too slow depends on the
#: machine, and some were seen to fail in another way than their authors say.
_LOOSE = ("TLE", "REJ")


def _package(record: Mapping[str, Any], names: Iterable[str], folder: Path) -> Package:
    """Write a record as a package, with the submissions of these names, and read it."""
    checker, limits = record["checker"], record["limits"]
    lines = [f"name: {record['id'].rpartition('/')[2]}", f"type: {record['type']}"]
    custom = "custom interactive" if record["interactive"] else "custom"
    lines.append(f"validation: {custom if checker['kind'] == 'custom' else 'default'}")
    if checker["args"]:
        lines.append(f"validator_flags: {' '.join(checker['args'])}")
    if limits["memory_mb"]:
        lines += ["limits:", f"  memory: {limits['memory_mb']}"]
    files = {"problem.yaml": "\n".join(lines) + "\n"}
    files |= {f"output_validators/{name}": text for name, text in (checker.get("files") or {}).items()}
    files |= {f"include/{name}": text for name, text in (record.get("include") or {}).items()}
    for group, args in (checker.get("args_by_group") or {}).items():
        files[f"data/{group.removeprefix('data/')}/testdata.yaml"] = f"output_validator_flags: {' '.join(args)}\n"
    for test in record["tests"]:
        files |= {f"data/{test['name']}.in": test["input"], f"data/{test['name']}.ans": test["output"]}
    wanted = set(names)
    files |= {
        f"submissions/{given['name']}": given["code"] for given in record["submissions"] if given["name"] in wanted
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return load_package(str(folder))


def _reliable(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield submissions with a label to rely on, few of a kind."""
    kinds: Counter[tuple[str, str]] = Counter()
    for given in record["submissions"]:
        labels, name = set(given["expected"].split("|")), f"{record['id']}/{given['name']}"
        if given["language"] not in _here() or given.get("files") or name in kattis.EXCEPTED:
            continue
        if not labels <= {"AC", "WA", "TLE", "RTE", "REJ"} or ("AC" in labels and len(labels) > 1):
            continue
        seen = given["verified"].startswith("agrees")
        if not seen and labels != {"AC"} and (not record["tests_complete"] or "TLE" in labels):
            continue
        if not seen and labels == {"AC"} and given["language"] == "python":
            continue  # nobody knows whether CPython is fast enough for it
        if given["verified"].startswith(("not-shown", "DISAGREES")):
            continue
        kind = (given["language"], given["name"].partition("/")[0])
        kinds[kind] += 1
        if kinds[kind] <= _MOST_ALIKE:
            yield given


def _here() -> Sequence[str]:
    found = []
    for name, ours in _LANGUAGES.items():
        try:
            if ours:
                toolchain(ours)
        except Missing:
            continue
        found.append(name)
    return found


def _size(record: Mapping[str, Any]) -> int:
    return sum(len(test["input"]) + len(test["output"]) for test in record["tests"])


def _wrong(outcome: Outcome, given: Mapping[str, Any]) -> str:
    loose = any(label in given["expected"] for label in _LOOSE) or given["verified"] == "agrees-rejected-other-class"
    right = outcome.met is True
    if loose and outcome.met is False:
        right = outcome.verdict != "passed"
    said = f"expected {given['expected']} ({outcome.submission.expected}), got {outcome.verdict}"
    return "" if right else f"{outcome.submission.name}: {said}: {outcome.message[:300]}"


async def _check(
    records: Sequence[Mapping[str, Any]], folder: Path
) -> tuple[list[str], list[tuple[Package, Mapping[str, Any]]]]:
    errors: list[str] = []
    judged: list[tuple[Package, Mapping[str, Any]]] = []
    settings = Settings()
    async with AsyncScaleBoxClient(settings=settings) as client:
        for record in records:
            chosen = {given["name"]: given for given in _reliable(record)}
            if not chosen:
                continue
            package = _package(record, chosen, folder / record["id"].replace("/", "_"))
            assert {submission.name for submission in package.submissions} == set(chosen)
            assert [case.name for case in package.cases] == sorted(test["name"] for test in record["tests"])

            def done(outcome: Outcome, chosen: dict[str, Any] = chosen, package: Package = package) -> None:
                given = chosen[outcome.submission.name]
                judged.append((package, given))
                if error := _wrong(outcome, given):
                    errors.append(f"{package.name}/{error}")

            limits = record["limits"]
            limit_s = float(limits.get("time_s_local") or limits.get("time_s") or 2.0)
            for accepted, factor in ((True, kattis._SLACK), (False, 1)):
                part = [found for found in package.submissions if (chosen[found.name]["expected"] == "AC") == accepted]
                await Checking(package, settings, time_limit_s=limit_s * factor).run(client, part, done)
    return errors, judged


@pytest.mark.parametrize("kind", ["custom", "tokens", "float", "interactive"])
def test_submissions_come_out_as_their_authors_say(third_party: ThirdParty, tmp_path: Path, kind: str) -> None:
    file = "icpc_interactive_scored" if kind == "interactive" else "icpc"
    records = [
        record
        for record in third_party(f"stdio/{file}.jsonl.zst")
        if (record["interactive"] or record["checker"]["kind"] == kind) and _size(record) <= _MOST_BYTES
    ]
    errors, judged = asyncio.run(_check(records, tmp_path))
    packages = len({package.name for package, _ in judged})
    print(f"{kind}: {packages} packages of {len(records)} records,", Counter(given["language"] for _, given in judged))
    check(errors, len(judged), f"submissions of packages ({kind})")
