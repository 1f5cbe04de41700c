"""Match modes of values.

Each file is a mode. It defines `compare(expected, actual, match: Match, from_json: bool) -> Difference` over decoded
values, where `from_json` says that the expected one was written as JSON; and `OPTIONS`, the fields of
`Match` that it reads.
"""
