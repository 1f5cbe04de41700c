"""The policy's three verbs on a real engine: it sees how its program does, and nothing of the tests."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.server.access import Site, site

from scalebox.core.errors import QueueFull
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.problems import ProblemStore, check_problem, sample_of
from scalebox.server import policy as policy_module
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.policy import Desk
from scalebox.server.principal import Principal, Role

MARK = "CANARY"
STDIN = {
    "tests": [
        {"stdin": "1\n", "stdout": f"{MARK}_answer_1\n", "hidden": False},
        {
            "id": f"{MARK}_id", "stdin": f"{MARK}_input", "stdout": f"{MARK}_out",
            "files": {f"{MARK}_f.txt": f"{MARK}_t"},
        },
    ],
    "limits": {"cpu_s": 0.5, "wall_s": 20, "memory_mb": 128},
}  # fmt: skip
PROBLEMS: dict[str, dict[str, Any]] = {
    "echo": STDIN,
    "echo-cpp": {**STDIN, "language": "cpp"},
    "checked": {
        "tests": STDIN["tests"],
        "checker": {
            "language": "python", "code": f"# {MARK}_checker\n1/0", "protocol": "python", "args": [f"{MARK}_w"],
        },
    },
    "call": {
        "tests": [
            {"call": "f", "args": [1], "expect": f"{MARK}_answer", "hidden": False},
            {"call": "f", "args": [f"{MARK}_input"], "expect": f"{MARK}_out"},
        ]
    },
    "assert": {
        "tests": [
            {"assert": f"assert f(1) == '{MARK}_answer', '{MARK}_note'", "hidden": False},
            {"assert": f"assert f('{MARK}_input') == '{MARK}_out'"},
        ]
    },
    "hidden": {"tests": [{"stdin": f"{MARK}_input", "stdout": f"{MARK}_out"}]},
    "hidden-program": {"tests": [{"prefix": f"# {MARK}_prefix\n", "suffix": f"\nassert f('{MARK}') == '{MARK}_out'"}]},
    "small": {"tests": [{"stdin": "2", "stdout": "4", "hidden": False}, {"stdin": "3", "stdout": "9"}]},
    "program-cpp": {
        "language": "cpp",
        "tests": [
            {
                "suffix": f'\n#include <cassert>\n#include <string>\n'
                f'int main() {{ assert(f() == std::string("{MARK}")); }}',
                "hidden": False,
            }
        ],
    },
}  # fmt: skip
TELL = (
    "import sys\nfor where in sys.stdout, sys.stderr:\n    print(sys.stdin.read(), file=where)\n"
    "raise ValueError(__file__)"
)
PATHS = ("/usr", "/work", "/tmp", "/etc", "/home", "/root")  # noqa: S108  words that are looked for
PROGRAMS = [
    ("small", "n = int(input())\nprint(n * n)", "passed"),
    ("small", "print(4)", "passed"),
    ("echo", "print('", "compile_error"),
    ("echo", TELL, "runtime_error"),
    ("echo", "import sys\nprint(sys.stdin.read())\nprint(sys.stdin.read(), file=sys.stderr)", "output_mismatch"),
    ("echo", "import os\nprint(os.listdir('.'), os.listdir('/'))\nopen('/etc/passwd').read()\n1/0", "runtime_error"),
    ("echo", "while True: pass", "time_out"),
    ("echo", "x = bytearray(1 << 29)", "memory_exceed"),
    ("echo", "while True: print('x' * 65536)", "output_exceed"),
    ("echo", "import socket\nsocket.socket().connect(('127.0.0.1', 9))", "resource_denied"),
    ("checked", "print(input())", None),
    ("call", "import sys\ndef f(x):\n    print(x, file=sys.stderr)\n    return x", "assert_fail"),
    ("call", "def f(x):\n    raise ValueError(x)", "runtime_error"),
    ("assert", "def f(x):\n    return x", "assert_fail"),
    ("assert", "def f(x):\n    raise ValueError(x)", "runtime_error"),
    ("hidden", TELL, "not_run"),
    ("hidden", "print('", "compile_error"),
    ("hidden-program", "def f(x:\n", "compile_error"),
    ("hidden-program", "def f(x):\n    return x", "not_run"),
]
NATIVE = [
    ("echo-cpp", "int main() { return x; }", "compile_error"),
    ("echo-cpp", "#include <iostream>\nint main() { std::cerr << std::cin.rdbuf(); return 3; }", "runtime_error"),
    ("program-cpp", "#include <string>\nstd::string f() { return 1 }", "compile_error"),
    ("program-cpp", '#include <string>\nstd::string f() { return ""; }', "assert_fail"),
]
if shutil.which("g++"):
    PROGRAMS += NATIVE


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    settings = {"server_policy_running": 40, "server_policy_kept": 60, "cache_dir": str(folder / "cache")}
    with site(folder, command=(), **settings) as opened:
        for name, problem in PROBLEMS.items():
            assert opened.ask("operator", "PUT", f"/v1/problems/{name}", json=problem).status_code == 201, name
        yield opened


def _submit(here: Site, problem: str, code: str, who: str = "policy", **fields: Any) -> str:
    answer = here.ask(who, "POST", "/v1/policy/submit", json={"problem_id": problem, "code": code, **fields})
    assert answer.status_code == 202, answer.text
    name: str = answer.json()["id"]
    return name


def _run(here: Site, name: str, tests: str = "visible", who: str = "policy") -> Any:
    answer = here.ask(who, "POST", f"/v1/policy/{name}/run", json={"tests": tests})
    assert answer.status_code == 202, answer.text
    while True:
        seen = here.ask(who, "GET", f"/v1/policy/{name}?wait_s=60").json()
        if seen["state"] != "RUNNING":
            return seen


def test_no_program_gets_anything_out_of_the_tests(here: Site) -> None:
    """For every verdict, and for programs that say all they know."""
    names = [_submit(here, problem, code) for problem, code, _ in PROGRAMS]
    for name in names:
        here.ask("policy", "POST", f"/v1/policy/{name}/run", json={"tests": "visible"})
    seen = [_run(here, name) for name in names]
    for (problem, code, verdict), view in zip(PROGRAMS, seen, strict=True):
        about = (problem, code, view)
        assert view["state"] == "DONE", about
        assert list(view) == ["id", "state", "compile", "verdict", "pass_rate", "message", "stderr"], about
        assert verdict in (None, view["verdict"]), about
        text = json.dumps(view)
        assert MARK not in text, about
        assert not any(path in text for path in PATHS), about
    told = {view["verdict"] for view in seen}
    assert told >= {"passed", "compile_error", "runtime_error", "time_out", "memory_exceed", "output_exceed"}
    assert told <= set(Verdict) - {Verdict.INTERNAL_ERROR}


def test_errors_help_to_mend_the_program(here: Site) -> None:
    view = _run(here, _submit(here, "small", "n = int(input())\nprint(n / (n - 2))"))
    assert (view["compile"], view["verdict"], view["pass_rate"]) == ("ok", "runtime_error", 0.0)
    assert 'File "solution.py", line 2' in view["stderr"]
    assert "ZeroDivisionError" in view["stderr"]
    view = _run(here, _submit(here, "small", "print('"))
    assert (view["compile"], view["pass_rate"]) == ("failed", 0.0)
    assert "line 1" in view["message"]


def test_running_all_tells_the_trainer_more_and_the_policy_the_same(here: Site) -> None:
    name = _submit(here, "small", "print(4)")
    assert here.ask("policy", "GET", f"/v1/policy/{name}").json()["state"] == "SUBMITTED"
    view = _run(here, name, "all")
    assert (view["verdict"], view["pass_rate"]) == ("passed", 1.0)
    while (found := here.ask("trainer", "GET", f"/v1/submissions/{name}").json())["running"]:
        pass
    result = found["result"]
    assert (result["verdict"], result["pass_rate"]) == ("output_mismatch", 0.5)
    assert [case["detail"] == "" for case in result["cases"]] == [True, True], "a hidden case's detail is withheld"
    truth = here.ask("operator", "GET", f"/v1/submissions/{name}?client=run").json()["result"]
    assert "9" in truth["cases"][1]["detail"]
    assert _run(here, name, "all") == view, "what has been run is not run again"
    assert len(here.events(event="execution", sample_id=name)) == 2


def test_a_policys_programs_are_its_clients_alone(here: Site) -> None:
    name = _submit(here, "small", "print(4)")
    for who, path in (("other policy", "policy"), ("other trainer", "submissions"), ("operator", "submissions")):
        assert here.ask(who, "GET", f"/v1/{path}/{name}").status_code == (200 if who == "operator" else 404), who
    assert here.ask("other policy", "POST", f"/v1/policy/{name}/run", json={}).status_code == 404


def test_what_a_policy_does_is_recorded(here: Site) -> None:
    name = _submit(here, "small", "print(4)")
    _run(here, name)
    kinds = [record["event"] for record in here.events(sample_id=name)]
    assert kinds == ["policy_submit", "policy_run", "execution"]
    (submitted,) = here.events(event="policy_submit", sample_id=name)
    assert (submitted["client"], submitted["role"], submitted["problem_id"]) == ("run", "policy", "small")


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"code": "x"}, 400, "problem_id"),
        ({"problem_id": "small"}, 400, "response"),
        ({"problem_id": "nothing", "code": "x"}, 400, "problem_id"),
        ({"problem_id": "small", "code": "x", "tests": [{"stdin": "", "stdout": ""}]}, 400, "tests"),
        ({"problem_id": "small", "code": "x", "limits": {"cpu_s": 100}}, 400, "limits"),
        ({"problem_id": "echo-cpp", "code": "x", "language": "python"}, 400, "language"),
        ({"problem_id": "small", "code": "x" * (1 << 20) + "x"}, 413, "code"),
    ],
)
def test_what_makes_no_sense_is_refused(here: Site, body: dict[str, Any], status: int, field: str) -> None:
    answer = here.ask("policy", "POST", "/v1/policy/submit", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


def test_a_body_that_no_program_needs_is_refused(here: Site) -> None:
    name = _submit(here, "small", "print(4)")
    for path in ("/v1/policy/submit", f"/v1/policy/{name}/run"):
        answer = here.ask("policy", "POST", path, json={"problem_id": "small", "code": "x" * (9 << 20)})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_a_run_of_something_else_is_refused(here: Site) -> None:
    name = _submit(here, "small", "print(4)")
    for body, field in (({"tests": "hidden"}, "tests"), ({"tests": 3}, "tests"), ({"more": 1}, "more")):
        answer = here.ask("policy", "POST", f"/v1/policy/{name}/run", json=body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


def test_quotas_bound_what_runs_and_what_is_kept(here: Site) -> None:
    first = _submit(here, "small", "print(4)", "other policy")
    names = [_submit(here, "small", f"print(4)\n# {number}", "other policy") for number in range(60)]
    assert here.ask("other policy", "GET", f"/v1/policy/{first}").status_code == 404, "the oldest is forgotten"
    statuses = [here.ask("other policy", "POST", f"/v1/policy/{name}/run", json={}).status_code for name in names[:41]]
    assert set(statuses) <= {202, 429}
    settings = here.context.settings
    assert (settings.server_policy_running, settings.server_policy_kept) == (40, 60)


def test_what_is_kept_is_bounded_in_bytes(tmp_path: Path) -> None:
    policy, settings = Principal("p", Role.POLICY), Settings(server_policy_kept=100, server_policy_kept_mb=2)
    problems = ProblemStore(str(tmp_path / "problems"))
    problems.put(check_problem({"problem_id": "small", **PROBLEMS["small"]}, settings))

    async def kept() -> None:
        desk = Desk(Context(settings, cast(Any, None), problems=problems))

        def large(number: int) -> dict[str, Any]:
            return {"problem_id": "small", "code": f"#{number}".ljust(900_000)}

        first, second, third = [await desk.submit(policy, large(number)) for number in range(3)]
        with pytest.raises(Refused, match="no such program"):
            desk.find("p", first.sample.id)
        assert desk.find("p", second.sample.id) is second
        # A result counts, and what runs is not forgotten.
        second.set_result(VerificationResult(id="s", verdict=Verdict.PASSED, message="x" * 300_000))
        second.state = third.state = "RUNNING"
        with pytest.raises(Refused, match="running"):
            await desk.submit(policy, {"problem_id": "small", "code": "print(4)"})
        second.state = "DONE"
        last = await desk.submit(policy, {"problem_id": "small", "code": "print(4)"})
        assert {third.sample.id, last.sample.id} == set(desk._submissions["p"])

    asyncio.run(kept())
    problems.close()


def test_no_program_reads_a_hidden_input_for_a_policy(here: Site) -> None:
    """Where all tests are hidden, one that slept by what it reads would tell it."""
    name = _submit(here, "hidden", "import os\nprint(repr(input), os.listdir('.'), os.read(0, 99))")
    assert _run(here, name)["verdict"] == "not_run"
    assert here.ask("trainer", "GET", f"/v1/submissions/{name}").json()["result"] is None
    problems = here.context.problems
    assert problems is not None
    hidden = sample_of(
        {"id": "s", "problem_id": "hidden", "code": "x"}, settings=here.context.settings, problems=problems
    )
    assert MARK not in repr(policy_module._shown_part(hidden))


class _Feed:
    """In place of the engine: hidden tests run until they are let go."""

    def __init__(self) -> None:
        self.let_go = asyncio.Event()
        self.at_hidden = self.most_at_hidden = 0

    async def run(self, _client: str, samples: list[Sample]) -> list[VerificationResult]:
        if any(test.hidden for test in samples[0].tests):
            self.at_hidden += 1
            self.most_at_hidden = max(self.most_at_hidden, self.at_hidden)
            try:
                await self.let_go.wait()
            finally:
                self.at_hidden -= 1
        cases = [CaseResult(id=test.id, verdict=Verdict.PASSED, attempts=1) for test in samples[0].tests]
        return [VerificationResult(id=samples[0].id, verdict=Verdict.PASSED, cases=cases)]


def test_no_answer_tells_for_how_long_hidden_tests_run(tmp_path: Path) -> None:
    """A program that has read them could say by the time what they are."""
    policy, feed = Principal("p", Role.POLICY), _Feed()
    settings = Settings(server_policy_running=2, server_policy_kept=5)
    problems = ProblemStore(str(tmp_path / "problems"))
    problems.put(check_problem({"problem_id": "small", **PROBLEMS["small"]}, settings))

    async def answers() -> list[Any]:
        context = Context(settings, cast(Any, None), feed=cast(Any, feed), problems=problems)
        desk = Desk(context)
        seen: list[Any] = []
        for _ in range(12):
            try:
                submission = await desk.submit(policy, {"problem_id": "small", "code": "print(4)"})
                desk.run(policy, submission, "all")
                await desk.wait(submission, 60)
                seen.append((submission.answer().state, submission.answer().verdict))
            except Refused as error:
                seen.append(error.status)
            await asyncio.sleep(0)
        assert len(desk._tasks) <= settings.server_policy_kept, "what is forgotten is given up"
        feed.let_go.set()
        await asyncio.gather(*desk._tasks, return_exceptions=True)
        assert submission.running == 0
        return seen

    slow = asyncio.run(answers())
    assert feed.most_at_hidden == settings.server_policy_running
    feed.let_go = asyncio.Event()
    feed.let_go.set()
    assert asyncio.run(answers()) == slow == [("DONE", Verdict.PASSED)] * 12
    problems.close()


def test_a_program_that_found_no_room_may_be_run_again(tmp_path: Path) -> None:
    problems = ProblemStore(str(tmp_path / "problems"))
    problems.put(check_problem({"problem_id": "small", **PROBLEMS["small"]}, Settings()))
    policy, feed = Principal("p", Role.POLICY), _Feed()
    feed.let_go.set()

    class Full(_Feed):
        async def run(self, _client: str, _samples: list[Sample]) -> list[VerificationResult]:
            raise QueueFull("full")

    async def states() -> list[Any]:
        context = Context(Settings(), cast(Any, None), feed=cast(Any, Full()), problems=problems)
        desk, seen = Desk(context), []
        submission = await desk.submit(policy, {"problem_id": "small", "code": "print(4)"})
        for engine in (context.feed, feed):
            context.feed = cast(Any, engine)
            desk.run(policy, submission, "all")
            await asyncio.gather(*desk._tasks)
            seen.append((submission.answer().state, submission.ran_all))
        return seen

    assert asyncio.run(states()) == [("SUBMITTED", False), ("DONE", True)]
    problems.close()
