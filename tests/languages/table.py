"""The table of the reference: how many of each language's labels were expected, run and skipped."""

from __future__ import annotations

import re
from collections import Counter

import pytest

_LABEL = re.compile(r"/test_labels\.py::\w+\[\w+-([\w-]+)\]$")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, where labels are among what was run."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.getreports(outcome):
            found = _LABEL.search(report.nodeid)
            if found is not None:
                counts.setdefault(found[1], Counter())[outcome] += 1
    if counts:
        terminalreporter.section("labels by language")
        terminalreporter.write_line("| language | expected | run | skipped |")
        terminalreporter.write_line("| --- | --- | --- | --- |")
    for language, count in sorted(counts.items()):
        skipped = count["skipped"]
        terminalreporter.write_line(f"| `{language}` | {count.total()} | {count.total() - skipped} | {skipped} |")
