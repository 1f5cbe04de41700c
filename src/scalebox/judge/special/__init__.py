"""Protocols of judge programs: how one is asked about an output, and what its end says.

Each file is a protocol. It defines `ask(question: Question) -> JudgeRun` and
`read(end: JudgeEnd, question: Question) -> Answer`, both pure, the latter total on whatever a judge may leave. What
`read` is given are ends without fault and doubt.
"""
