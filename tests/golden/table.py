"""Golden programs in tables: one row each, with the label that it must get and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from scalebox import ScaleBoxClient, VerificationResult


def stdin(text: str, expected: str, **fields: Any) -> dict[str, Any]:
    """Return a test of standard input and output."""
    return {"stdin": text, "stdout": expected, **fields}


_FOLDER = Path(__file__).parent / "programs"
SUM = (stdin("1 2\n", "3\n"),)


class Row(NamedTuple):
    """A program and its label. `cases` are the verdicts of its cases, where they differ from the sample's.

    `fields` are further ones of the sample.
    """

    name: str
    why: str
    program: str
    tests: Sequence[Mapping[str, Any]] = SUM
    verdict: str = "passed"
    limits: Mapping[str, Any] = {}
    match: Mapping[str, Any] = {}
    cases: Sequence[str] = ()
    fields: Mapping[str, Any] = {}

    def sample(self) -> dict[str, Any]:
        """Return the row as a raw sample; its program is source as it is, or a response where it has a fence."""
        text = dedent(self.program).lstrip("\n")
        sample: dict[str, Any] = {"id": self.name, "tests": list(self.tests), "limits": dict(self.limits)}
        sample["response" if "```" in text else "code"] = text
        return sample | ({"match": dict(self.match)} if self.match else {}) | dict(self.fields)


def call(name: str, *args: Any, expect: Any) -> dict[str, Any]:
    """Return a test by function call."""
    return {"call": name, "args_repr": repr(args), "expect_repr": repr(expect)}


def read_programs(name: str) -> list[tuple[str, str]]:
    """Return (rest of its head line, source) of each program in a file of them; each begins with a line `#---`."""
    blocks = (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("#---")[1:]
    return [(head.strip(), source) for head, _, source in (block.partition("\n") for block in blocks)]


def check_table(client: ScaleBoxClient, rows: Sequence[Row]) -> None:
    """Verify all rows as one batch; fail with every row that got another label, and the reason for the right one."""
    assert len({row.name for row in rows}) == len(rows)
    results = client.fetch(client.submit_batch([row.sample() for row in rows]))
    wrong = list(_wrong(zip(rows, results, strict=True)))
    assert not wrong, f"{len(wrong)} of {len(rows)} labels are wrong:\n" + "\n".join(wrong)


def _wrong(pairs: Iterable[tuple[Row, VerificationResult]]) -> Iterator[str]:
    for row, result in pairs:
        expected = (row.verdict, tuple(row.cases) or (row.verdict,) * len(result.cases))
        got = (str(result.verdict), tuple(str(case.verdict) for case in result.cases))
        if got != expected:
            details = [f"{case.id}: {case.detail or case.stderr[-200:]}" for case in result.cases]
            yield f"{row.name}: expected {expected}, got {got} ({result.message}; {details}) because {row.why}"
