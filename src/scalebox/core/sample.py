"""A sample to verify, checked and ready to run: what the engine sends to a worker."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from scalebox.core.limits import Limits

OutputMode = Literal[
    "exact", "trailing_whitespace", "tokens", "tokens_ignore_case", "float", "lines_unordered",
    "tokens_unordered", "last_line", "after_marker", "regex", "debug_tolerant", "json",
]  # fmt: skip
ValueMode = Literal["value", "strict_types", "float", "unordered"]


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """How an output or a value is compared. `mode` is "" until the kind of test gives the default."""

    mode: str = ""
    abs: float = 1e-6
    rel: float = 1e-6
    ignore_case: bool = False
    near_integers: bool = False
    by_line: bool = False
    marker: str = ""
    ignore_prefixes: tuple[str, ...] = ()


class StdinTest(msgspec.Struct, frozen=True, kw_only=True, tag="stdin"):
    """Text in on standard input, text expected on standard output.

    `files` and `binary_files` (name to content) lie in the working directory.
    """

    id: str
    stdin: str
    stdout: str
    files: dict[str, str] = {}
    binary_files: dict[str, bytes] = {}
    hidden: bool = True
    weight: float = 1.0


class CallTest(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """A call and the value expected of it.

    `arguments` is `values.encode((args_tuple, kwargs_dict))`, `expect` is `values.encode(value)`;
    `expect_json` says that the expected value was written as JSON, where a list may stand for a tuple.
    """

    id: str
    call: str
    arguments: bytes
    expect: bytes
    expect_json: bool = True
    hidden: bool = True
    weight: float = 1.0


class AssertTest(msgspec.Struct, frozen=True, kw_only=True, tag="assert"):
    """Python statements whose assertions are cases."""

    id: str
    source: str
    hidden: bool = True
    weight: float = 1.0


class HarnessTest(msgspec.Struct, frozen=True, kw_only=True, tag="harness"):
    """Source that defines `check(candidate)`; the assertions inside are cases."""

    id: str
    source: str
    hidden: bool = True
    weight: float = 1.0


class ProgramTest(msgspec.Struct, frozen=True, kw_only=True, tag="program"):
    """Text before and after the code; the whole must end with exit code 0 and no failed assertion."""

    id: str
    prefix: str = ""
    suffix: str = ""
    hidden: bool = True
    weight: float = 1.0


class PytestTest(msgspec.Struct, frozen=True, kw_only=True, tag="pytest"):
    """Test modules, and the ids of the tests in them that must have passed: each is a case.

    `mutant_control` asks that the tests also reject a sabotaged copy of the program.
    """

    id: str
    files: dict[str, str]
    required: tuple[str, ...]
    mutant_control: bool = False
    hidden: bool = True
    weight: float = 1.0


Test = StdinTest | CallTest | AssertTest | HarnessTest | ProgramTest | PytestTest

Protocol = Literal["testlib", "icpc", "exit_code", "python"]


class JudgeProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program of the task's author: a checker of outputs, or what an interactive program talks to.

    `protocol` says how it is called and answers; `files` (name to text) lie beside it when it is built and run.
    """

    language: str
    code: str
    protocol: Protocol
    files: dict[str, str] = {}
    args: tuple[str, ...] = ()


#: Where a response that continues a prompt has run on beyond the function (those of HumanEval's own evaluation).
STOP = ("\nclass ", "\ndef ", "\n#", "\nif __name__", "\nprint(", "\n```")


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One model response to one problem, with all its tests (of one kind, at least one).

    Exactly one of `response` (a model's raw answer) and `code` (source as it is) is set. `prompt` is the program
    text that either of them continues, up to a text of `stop`; `entry_points` are candidate names of what is tested
    (`f`, `Solution().f`), the first that the program defines counts; `setup` runs on the tests' side before
    they do. `solution_files` (name to text) lie beside the program, whose own file is `main`. `checker` judges outputs
    instead of `match`; with `interactor` the program talks to that one instead of reading a text. `text_limit` stands
    for the setting of that name, where it is not None. `steps` is the length of the trajectory that it ends, where one
    was given. `held` says that the tests were found by `problem_id`: who submitted it may not see the hidden ones.
    """

    id: str
    tests: tuple[Test, ...]
    problem_id: str | None = None
    language: str = "python"
    response: str | None = None
    code: str | None = None
    prompt: str = ""
    stop: tuple[str, ...] = STOP
    entry_points: tuple[str, ...] = ()
    setup: str = ""
    solution_files: dict[str, str] = {}
    main: str = "solution.py"
    match: Match = Match()
    checker: JudgeProgram | None = None
    interactor: JudgeProgram | None = None
    limits: Limits = Limits()
    reward: str = "pass_rate"
    extract: Literal["auto", "last", "first", "longest"] = "auto"
    early_stop: bool = False
    text_limit: int | None = None
    held: bool = False
    steps: int | None = None
    meta: Any = None

    def bare(self) -> Sample:
        """Return the sample without what decides no verdict: whose it is, and what it is worth."""
        return msgspec.structs.replace(self, id="", problem_id=None, meta=None, reward="", held=False, steps=None)
