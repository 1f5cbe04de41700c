"""Lean 4, with the library that comes with it: a file is checked, proofs and all, and its `main` is run."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="lean",
    title="Lean 4",
    aliases=("lean4",),
    extensions=(".lean",),
    tools=("lean",),
    home=("lean", "--print-prefix"),
    source="solution.lean",
    # Checking a file is what evaluates its commands; a proof that is left out (`sorry`) is an error, too.
    build=(("{lean}", "-DwarningAsError=true", "-Dlinter.all=false", "{source}"),),
    run=("{lean}", "--run", "{program}/solution.lean"),
    error=r"^[^\n:]*solution\.lean:(?P<line>\d+):\d+: error: (?P<message>.*)$",
    overhead_mb=512,
    mapped_mb=4096,
    install="by elan, from lean-lang.org (Debian 12 has none)",
    self_test=SelfTest(
        "def main : IO Unit := do\n  let line ← (← IO.getStdin).getLine\n"
        '  let words := line.trim.splitOn " "\n  IO.println (toString ((words.map String.toNat!).foldl (· + ·) 0))\n'
    ),
)
