"""The cache in an engine: what is found, what never is, judging anew, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scalebox import ScaleBoxClient, Settings, VerificationResult
from scalebox.cache import Store, keys_of
from scalebox.cache import key as module_of_keys
from scalebox.cache.kept import is_certain
from scalebox.core.result import CaseResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import Verdict
from scalebox.languages.toolchain import Toolchain, identity_of
from scalebox.parse import parse_sample

Verify = Callable[..., list[VerificationResult]]

DOUBLE = "def f(x):\n    total = 0\n    for _ in range(2):\n        total += x\n    return total\n"
EDITED = "def f(x):\n    'twice'\n    s = 0  # so far\n    for _ in range(2):\n        s += (x)\n\n    return s\n"
TRIPLE = DOUBLE.replace("range(2)", "range(3)")
CALLS = [{"call": "f", "args": [3], "expect": 6}, {"call": "f", "args": [4], "expect": 8}]


@pytest.fixture
def verify(tmp_path: Path) -> Verify:
    """Return what verifies samples one after another, in an engine with a cache of its own that outlives it."""

    def run(*samples: dict[str, Any], **settings: Any) -> list[VerificationResult]:
        own: dict[str, Any] = {"cache": "on", "cache_audit": 0.0, "workers": 1, "cache_dir": str(tmp_path)}
        chosen = Settings(**(own | settings))
        with ScaleBoxClient(settings=chosen) as client:
            return [result for one in samples for result in client.fetch(client.submit_batch([one]))]

    return run


def sample(code: str, name: str = "s", **fields: Any) -> dict[str, Any]:
    return {"id": name, "code": code, "tests": CALLS} | fields


def labels(result: VerificationResult) -> list[str]:
    return [result.verdict, *(case.verdict for case in result.cases)]


def test_the_same_program_is_not_run_again(verify: Verify) -> None:
    first, again, edited, other = verify(
        sample(DOUBLE, "a", meta=1), sample(DOUBLE, "b", meta=2, problem_id="p"), sample(EDITED), sample(TRIPLE)
    )
    assert [one.cached for one in (first, again, edited, other)] == [False, True, True, False]
    assert labels(first) == labels(again) == labels(edited) == ["passed"] * 3
    assert other.verdict == "assert_fail"
    assert (again.id, again.problem_id, again.meta, again.reward) == ("b", "p", 2, 1.0)
    assert edited.code == EDITED


def test_what_decides_a_result_is_part_of_its_key(verify: Verify) -> None:
    changed: list[dict[str, Any]] = [
        {"tests": [*CALLS, {"call": "f", "args": [1], "expect": 3}]},
        {"tests": [{**CALLS[0], "expect": 7}, CALLS[1]]},
        {"tests": [{**CALLS[0], "id": "seeded otherwise"}, CALLS[1]]},
        {"limits": {"cpu_s": 3.0}},
    ]
    results = verify(sample(DOUBLE), *(sample(DOUBLE, **fields) for fields in changed))
    assert [result.cached for result in results] == [False] * len(results)
    (again,) = verify(sample(DOUBLE), share_state_free=False)
    assert not again.cached
    (again,) = verify(sample(DOUBLE), cache="off")
    assert not again.cached


def test_what_varies_is_run_each_time(verify: Verify, tmp_path: Path) -> None:
    source = "import time\ndef f(x):\n    time.time()\n    return 2 * x\n"
    results = verify(sample(source), sample(source))
    assert [(result.verdict, result.cached) for result in results] == [("passed", False)] * 2
    assert Store(str(tmp_path / "results"), 1 << 20).facts()["counts"] == {"not_kept": 2}


def test_a_failure_of_another_spelling_does_not_lend_its_words(verify: Verify) -> None:
    tests = [{"stdin": "", "stdout": "1"}]
    fails = "def main():\n    value = []\n    print(value[3])\nmain()\n"
    first, again, edited = (
        verify(sample(code, tests=tests))[0] for code in (fails, fails, fails.replace("value", "renamed"))
    )
    assert labels(first) == labels(again) == labels(edited) == ["runtime_error"] * 2
    assert again.cached
    assert again.cases[0].stderr == first.cases[0].stderr != ""
    assert edited.cached
    assert edited.cases[0].stderr == ""


def test_a_doubt_is_not_kept(verify: Verify) -> None:
    asleep = "import sys\nwhile True: pass\n"
    limits = {"cpu_s": 5.0, "wall_s": 0.3}
    results = verify(*[sample(asleep, tests=[{"stdin": "", "stdout": ""}], limits=limits)] * 2)
    assert [result.cached for result in results] == [False, False]
    assert {result.verdict for result in results} <= {"time_out", "unknown"}


def test_what_took_two_runs_to_be_a_time_out_is_not_kept() -> None:
    one = parse_sample(sample(DOUBLE, limits={"cpu_s": 1.0}), settings=Settings())
    over = CaseResult(id="0", verdict=Verdict.TIME_OUT, cpu_s=1.2)
    assert is_certain(VerificationResult(id="s", verdict=Verdict.TIME_OUT, cases=[over]), one)
    assert not is_certain(VerificationResult(id="s", verdict=Verdict.TIME_OUT, cases=[replace(over, attempts=2)]), one)
    assert not is_certain(VerificationResult(id="s", verdict=Verdict.TIME_OUT, cases=[replace(over, cpu_s=0.9)]), one)
    passed = CaseResult(id="0", verdict=Verdict.PASSED, cpu_s=0.9, attempts=2)
    assert is_certain(VerificationResult(id="s", verdict=Verdict.TIME_OUT, cases=[passed]), one)


def test_no_text_costs_a_worker(verify: Verify, caplog: pytest.LogCaptureFixture) -> None:
    deep = [
        opened * 600 + "0" + closed * 600 for opened, closed in (("lambda: ", ""), ("[", "]"), ("-", ""), ("{", "}"))
    ]
    results = verify(*[sample(f"{DOUBLE}g = {text}\n") for text in deep])
    assert {result.verdict for result in results} <= {"passed", "compile_error"}
    assert results[0].verdict == "passed"
    assert "was lost" not in caplog.text


def test_the_order_of_files_is_part_of_the_key() -> None:
    files = {"a.cpp": "int a;", "b.cpp": "int b;"}
    keys = {
        keys_of(b"", Sample(id="s", tests=(), solution_files=order), "text", b"", "")
        for order in (files, dict(reversed(files.items())))
    }
    assert len(keys) == 2


def test_a_change_of_any_file_makes_it_another_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(module_of_keys, "__file__", str(tmp_path / "cache" / "key.py"))
    found = set()
    for name in ("a.py", "driver.hpp", "jest.js", "py.typed", "more.java"):
        (tmp_path / name).write_text(name)
        found.add(module_of_keys.engine_version.__wrapped__())
        (tmp_path / name).write_text("changed")
        found.add(module_of_keys.engine_version.__wrapped__())
    assert len(found) == 10
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("")
    assert module_of_keys.engine_version.__wrapped__() in found


def test_another_file_of_a_toolchain_makes_it_another(tmp_path: Path) -> None:
    compiler, runner = tmp_path / "tsc", tmp_path / "node"
    compiler.touch()
    runner.write_text("18")
    found = Toolchain("typescript", {"tsc": str(compiler), "node": str(runner)}, "", "Version 5.0.0", ())
    before = identity_of(found)
    assert before == identity_of(found)
    runner.write_text("20.1")
    assert identity_of(found) != before
    runner.unlink()
    assert identity_of(found) != before


def test_another_way_to_judge_needs_no_run(verify: Verify) -> None:
    tests = [{"stdin": "1 2", "stdout": "3.00000001"}]
    source = "print(sum(map(int, input().split())))"
    checker = {"language": "python", "protocol": "python", "code": "def check(stdin, stdout, expected): return True\n"}
    exact, loose, checked = (
        sample(source, tests=tests, match={"mode": "exact"}), sample(source, tests=tests, match={"mode": "float"}),
        sample(source, tests=tests, checker=checker),
    )  # fmt: skip
    results = verify(exact, loose)
    assert [(one.verdict, one.cached) for one in results] == [("output_mismatch", False), ("passed", True)]
    (anew,) = verify(exact, cache="rejudge")
    assert (anew.verdict, anew.cached) == ("output_mismatch", True)
    (judged,) = verify(checked)
    assert judged.cached


def test_calls_are_judged_anew_where_they_are_known(verify: Verify) -> None:
    nearly = "def f(x):\n    return 2 * x + 1e-9\n"
    results = verify(sample(nearly), sample(nearly, match={"mode": "float"}), sample(nearly, match={"mode": "value"}))
    assert [(one.verdict, one.cached) for one in results] == [
        ("assert_fail", False), ("passed", True), ("assert_fail", True)
    ]  # fmt: skip


def test_calls_that_were_not_made_alone_are_run(verify: Verify) -> None:
    results = verify(sample(DOUBLE), sample(DOUBLE, match={"mode": "strict_types"}))
    assert labels(results[1]) == ["passed"] * 3
    (strict,) = verify(sample(DOUBLE.replace("total = 0", "total = 0.0")))
    (again,) = verify(sample(DOUBLE.replace("total = 0", "total = 0.0"), match={"mode": "strict_types"}))
    assert (strict.verdict, again.verdict, again.cached) == ("passed", "assert_fail", False)


def test_the_audit_runs_what_was_found_and_agrees(verify: Verify, tmp_path: Path) -> None:
    results = verify(sample(DOUBLE), sample(DOUBLE), sample(EDITED), cache_audit=1.0)
    assert [result.cached for result in results] == [False] * 3
    counts = Store(str(tmp_path / "results"), 1 << 20).facts()["counts"]
    assert (counts["hits"], counts["hits_other_text"], counts["audited"]) == (1, 1, 2)


def test_a_class_that_is_found_wrong_is_used_no_more(verify: Verify, tmp_path: Path) -> None:
    verify(sample(DOUBLE))
    store = Store(str(tmp_path / "results"), 1 << 30)
    _make_wrong(store)
    (audited,) = verify(sample(DOUBLE), cache_audit=1.0)
    assert (audited.verdict, audited.cached) == ("passed", False)
    assert store.is_off("python/text")
    (later,) = verify(sample(DOUBLE))
    assert not later.cached


def _make_wrong(store: Store) -> None:
    """Turn every kept result into a failure, as if the program had done something else."""
    import msgspec  # noqa: PLC0415

    from scalebox.cache.kept import Entry  # noqa: PLC0415
    from scalebox.core.verdicts import Verdict  # noqa: PLC0415

    keys = store._do(lambda to: to.execute("SELECT key FROM entries WHERE class = 'python/bytecode'").fetchall())
    for (key,) in keys or ():
        data = store.get(key)
        assert data is not None
        entry = msgspec.msgpack.decode(data, type=Entry)
        entry.result.cases[0].verdict = Verdict.ASSERT_FAIL
        store.put(key, "python/bytecode", msgspec.msgpack.encode(entry))
