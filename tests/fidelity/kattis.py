"""Kattis and ICPC problem packages: which submissions can be judged, and by which match mode or program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_FLAGS = ("case_sensitive", "space_change_sensitive")
_TOLERANCES = {
    "float_tolerance": ("abs", "rel"),
    "float_absolute_tolerance": ("abs",),
    "float_relative_tolerance": ("rel",),
}

#: Limits were measured on other machines, and a busy sibling core nearly doubles the CPU time of the same work; a host
#: that others use too has doubled it once more.
_SLACK = 6
#: Seconds where a package says nothing: its judges' machine decides, after how slow the accepted ones are there.
_UNSAID_S, _UNSAID_FOR_ACCEPTED_S = 2.0, 10.0

#: Labels that do not hold on CPython, or not on the tests that are kept.
EXCEPTED = {
    "mzuenni/icpc-problems/alohomoraandcolloportus/accepted/paul.py":
        "CPython too slow: over 60 s outside any sandbox",
    "kattis/problemtools/examples/hello/run_time_error/memory_limit.cc":
        "uses its limit to the byte, if the compiler leaves it anything to do",
    "kodsport/swedish-olympiad-2024-public/lager/upplega/partially_accepted/harryAlienRecursive.py":
        "too slow by a hair of wall time (2.15 s of 2), right and within 1.6 s of CPU time on every kept test",
}  # fmt: skip

#: What the packages' authors saw of a submission on a test → the label that says the same.
LABELS = {"AC": "passed", "WA": "output_mismatch", "RTE": "runtime_error", "TLE": "time_out"}


class Submission(NamedTuple):
    """A submission and the sample that it makes. Where somebody has run it before: what came out, at which test."""

    id: str
    accepted: bool
    label: str
    at: str
    sample: dict[str, Any]


def match_for(args: Sequence[str]) -> dict[str, Any]:
    """Return the `match` of the default output validator under these flags; raises ValueError for others."""
    flags = iter(args)
    bounds: dict[str, float] = {}
    given = set()
    for flag in flags:
        if flag in _TOLERANCES:
            bounds |= dict.fromkeys(_TOLERANCES[flag], float(next(flags)))
        elif flag in _FLAGS:
            given.add(flag)
        else:
            raise ValueError(f"the default validator has no flag {flag}")
    if "space_change_sensitive" in given:
        if bounds or "case_sensitive" not in given:
            raise ValueError("no match mode minds white space but not case, or not the digits of a number")
        return {"mode": "exact"}
    if bounds:
        return {"mode": "float", "abs": 0.0, "rel": 0.0, "ignore_case": "case_sensitive" not in given} | bounds
    return {"mode": "tokens" if "case_sensitive" in given else "tokens_ignore_case"}


def checker_for(files: Mapping[str, str], args: Sequence[str]) -> dict[str, Any]:
    """Return the `checker` that an output validator of these files makes; its one source file is the program."""
    sources = {name: text for name, text in files.items() if name.endswith((".cc", ".cpp", ".py"))}
    (name, code) = next(iter(sources.items()))
    if len(sources) != 1:
        raise ValueError(f"which of {', '.join(sources)} is the program?")
    beside = {other.rpartition("/")[2]: text for other, text in files.items() if other != name}
    language = "python" if name.endswith(".py") else "cpp20"
    return {"language": language, "code": code, "protocol": "icpc", "files": beside, "args": list(args)}


def judged_by(checker: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a sample that say how its outputs are judged."""
    if checker["kind"] == "custom":
        return {"checker": checker_for(checker["files"], checker["args"])}
    return {"match": match_for(checker["args"])}


def submissions(
    records: Iterable[dict[str, Any]], languages: Mapping[str, str] | None = None
) -> Iterator[tuple[str, Submission | str]]:
    """Yield (id, submission) for those with a label to rely on, (id, why not) for the others.

    `languages` maps the data's names of the languages wanted to ours; by default they are those in Python.
    """
    wanted = {"python": "python"} if languages is None else languages
    for record in records:
        for given in record["submissions"]:
            if given["language"] in wanted:
                name = f"{record['id']}/{given['name']}"
                reason = EXCEPTED.get(name) or _left_out(record, given)
                yield name, reason or _submission(name, record, given, wanted[given["language"]])


def _left_out(record: dict[str, Any], given: dict[str, Any]) -> str:
    labels = given["expected"].split("|")
    if ("AC" in labels and len(labels) > 1) or not set(labels) <= {*LABELS, "REJ"}:
        return "no label"
    if given["verified"].startswith(("not-shown", "DISAGREES")):
        return f"label refuted on these tests: {given['verified']}"
    if given["verified"] == "not-run" and "AC" not in labels and not record["tests_complete"]:
        return "label not confirmed, and tests missing that may show it"
    if record["checker"]["kind"] not in ("tokens", "float", "custom") or record["checker"].get("args_by_group"):
        return "a validator with words for groups of tests"
    native = given["language"] != "python"
    with_more = [name for name in record.get("include") or () if native or name.startswith("python")]
    if given.get("files") or with_more:
        return "several files"
    if native and labels == ["TLE"] and not given["verified"].startswith("agrees"):
        return "too slow for nobody knows which machine"
    return "interactive" if record["interactive"] else ""


def _submission(name: str, record: dict[str, Any], given: dict[str, Any], language: str) -> Submission:
    local, limits = given.get("local") or {}, record["limits"]
    accepted = given["expected"] == "AC"
    said = limits.get("time_s_local") or limits.get("time_s")
    cpu_s = float(said or (_UNSAID_FOR_ACCEPTED_S if accepted else _UNSAID_S)) * (_SLACK if accepted else 1)
    sample = {
        "id": name,
        "language": language,
        "code": given["code"],
        **judged_by(record["checker"]),
        "limits": {
            "cpu_s": cpu_s,
            "wall_s": 10 * cpu_s + 20,
            "memory_mb": limits.get("memory_mb") or 2048,
            "build_s": 60.0,
        },
        "tests": [
            {"id": test["name"], "stdin": test["input"], "stdout": test["output"]}
            # The test that it is known to fail comes first: one that ends a sample early then spares the rest.
            for test in sorted(record["tests"], key=lambda test: test["name"] != local.get("at"))
        ],
    }
    return Submission(name, accepted, LABELS.get(local.get("v", ""), ""), local.get("at", ""), sample)
