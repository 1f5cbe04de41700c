"""Fixed workloads, measured beside the machine's own limit and the naive way (docs/guides/benchmarks.md)."""

from __future__ import annotations

#: Every benchmark by name, and what it is in a line.
NAMES = {
    "stdin": "64 programs x 20 cases on standard input, a quarter wrong",
    "calls": "64 programs x 20 function calls, a quarter wrong",
    "step": "256 x 20 cases as of one training step: half stdin, half calls, a real mix of costs",
    "step-180ms": "256 x 20 cases on standard input, each burning 180 ms of CPU",
    "straggler": "63 quick programs and one that loops without end in every case",
    "asserts": "64 programs with 20 assertions each, in two processes and in one",
    "humaneval": "HumanEval's canonical programs with their tests, in two processes and in one (needs the data)",
    "latency": "one trivial request at a time, 300 times",
    "protocol": "calls from tests in one process into a solution in another, on one core",
    "cpp": "16 C++ programs x 20 cases, a quarter wrong: built anew, kept builds, a compilation for each case",
    "java": "the same in Java, 8 programs",
    "rust": "the same in Rust, 16 programs",
    "go": "the same in Go",
    "javascript": "the same in JavaScript, which has its syntax checked",
    "typescript": "the same in TypeScript, types checked",
    "interactive": "a program and an interactor that talk, C and Python, against two bare processes",
    "cache": "results that are found in the cache, and the share of them in a batch as of early training",
    "http": "16 clients of a server, against the same work on an embedded engine",
    "codec": "5,000 case results to bytes and back, MessagePack against json",
}
