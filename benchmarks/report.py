"""Run every benchmark and write the table of docs/guides/benchmarks.md: `python benchmarks/report.py [NAME…]`.

With names, only these are measured, and the figures of the others stay as they were last measured
(they are kept in benchmarks/figures.json).
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from scalebox.bench import NAMES

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "benchmarks" / "figures.json"
GUIDE = ROOT / "docs" / "guides" / "benchmarks.md"
BEGIN, END = "<!-- figures: written by `make bench` -->\n", "<!-- end of figures -->\n"
COLUMNS = ("tests_per_s", "limit_tests_per_s", "ratio_to_limit", "naive_tests_per_s")
HEAD = """| benchmark | tests/s | machine's limit | ratio | naive | more |
| --- | ---: | ---: | ---: | ---: | --- |
"""
BESIDES = {"name", "workers", "runs", "tier", "cases", "requests", "samples", *COLUMNS}


def measure(name: str) -> dict[str, Any] | None:
    """Run one benchmark as a user would; return None where it failed, which it has said itself."""
    command = [str(Path(sys.executable).with_name("scalebox")), "bench", name, "--json"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else None


def number(value: float | None) -> str:
    """Return a figure as the table shows it."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def row(figures: dict[str, Any]) -> str:
    """Return one line of the table."""
    more = "; ".join(f"{key} {number(value)}" for key, value in figures.items() if key not in BESIDES)
    columns = " | ".join(number(figures.get(column)) for column in COLUMNS)
    return f"| `{figures['name']}` | {columns} | {more} |\n"


def main() -> None:
    """Measure, keep the figures, and write the table."""
    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    failed = []
    for name in sys.argv[1:] or [name for name in NAMES if name != "humaneval" or "SCALEBOX_TEST_DATA" in os.environ]:
        print(f"{name} …", flush=True)
        figures = measure(name)
        if figures is None:
            failed.append(name)
            continue
        kept[name] = figures
        FIGURES.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(row(figures), end="", flush=True)
    tier = next((figures["tier"] for figures in kept.values() if "tier" in figures), "no")
    workers = max(figures["workers"] for figures in kept.values())
    where = (
        f"{os.cpu_count()} cores, Linux {platform.release().split('-')[0]}, Python {platform.python_version()}, "
        f"tier `{tier}`, {workers} workers.\n\n"
    )
    rows = "".join(row(kept[name]) for name in NAMES if name in kept)
    before, _, rest = GUIDE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    GUIDE.write_text(f"{before}{BEGIN}{where}{HEAD}{rows}{END}{after}", encoding="utf-8")
    if failed:
        sys.exit(f"failed, so their figures are the old ones: {', '.join(failed)}")


if __name__ == "__main__":
    main()
