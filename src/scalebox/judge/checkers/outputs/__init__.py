"""Match modes of outputs.

Each file is a mode. It defines `compare(expected: str, actual: bytes, match: Match) -> Difference`, which is
total on any bytes; `OPTIONS`, the fields of `Match` that it reads; and, where not every text can be expected,
`problem(expected: str) -> str`, which says what is wrong with one ("" for nothing).
"""
