"""Problems apart from samples: checked when they are loaded, versioned, and found by who names them."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from scalebox import ScaleBoxClient
from scalebox.cli.main import main
from scalebox.core.errors import InputError, SettingsError
from scalebox.core.settings import Settings
from scalebox.problems import Problem, ProblemStore, check_problem, open_problems, read_problems, sample_of
from scalebox.problems import store as store_module

SETTINGS = Settings()
TEST = {"stdin": "2\n", "stdout": "4\n"}
SQUARE = {"problem_id": "square", "tests": [TEST, {"stdin": "3\n", "stdout": "9\n", "hidden": False}]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ProblemStore]:
    opened = ProblemStore(str(tmp_path / "problems.db"))
    yield opened
    opened.close()


def _problem(**fields: Any) -> Problem:
    return check_problem({**SQUARE, **fields}, SETTINGS)


def _version(store: ProblemStore, **fields: Any) -> tuple[int, bool]:
    return store.put(_problem(**fields), "me")


# --- what a problem is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem_id": None}, "problem_id"),
        ({"problem_id": ""}, "problem_id"),
        ({"problem_id": "a@3"}, "problem_id"),
        ({"tests": []}, "tests"),
        ({"tests": None}, "tests"),
        ({"tests": [TEST, {"stdin": 3, "stdout": ""}]}, "tests[1].stdin"),
        ({"code": "x"}, "code"),
        ({"id": "s"}, "id"),
        ({"limits": {"cpu_s": -1}}, "limits.cpu_s"),
        ({"match": {"mode": "magic"}}, "match.mode"),
        ({"language": "cobol"}, "language"),
        ({"checker": {"language": "python", "code": "x", "protocol": "none"}}, "checker.protocol"),
        ({"reference": 3}, "reference"),
    ],
)
def test_a_problem_is_checked_like_a_sample(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        _problem(**fields)
    assert caught.value.field == field


def test_a_file_of_problems_names_the_line_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(SQUARE) + "\n\n" + json.dumps({"problem_id": "b", "tests": [{"stdin": 3}]}) + "\n")
    with pytest.raises(InputError, match=r"problems.jsonl:3: tests\[0\].stdin: must be a string"):
        read_problems(str(path), SETTINGS)
    path.write_text(json.dumps(SQUARE) + "\n" + json.dumps(SQUARE) + "\n")
    with pytest.raises(InputError, match=r"problems.jsonl:2: problem_id: an earlier line"):
        open_problems(str(path), SETTINGS)
    with pytest.raises(InputError, match="cannot be read"):
        open_problems(str(tmp_path / "nothing"), SETTINGS)


# --- the store -------------------------------------------------------------------------------------------------------


def test_every_change_is_a_new_version_and_the_same_again_is_not(store: ProblemStore) -> None:
    assert _version(store) == (1, True)
    assert _version(store) == (1, False)
    assert _version(store, limits={"cpu_s": 3}) == (2, True)
    assert _version(store) == (3, True)
    newest, second = store.find("square"), store.find("square", 2)
    assert newest is not None
    assert second is not None
    assert (newest.version, "limits" in newest.record) == (3, False)
    assert second.record["limits"] == {"cpu_s": 3}
    assert store.find("square", 4) is None
    assert store.find("other") is None


def test_what_is_deleted_is_gone_in_all_versions_and_numbers_go_on(store: ProblemStore) -> None:
    _version(store, meta={"n": 1})
    _version(store, meta={"n": 2})
    assert store.find("square", 1) is not None
    assert store.delete("square")
    assert not store.delete("square")
    assert (store.find("square"), store.find("square", 1), store.describe("square"), store.page()) == (None,) * 3 + (
        [],
    )
    assert _version(store, meta={"n": 2}) == (3, True)


def test_problems_are_listed_without_their_tests(store: ProblemStore) -> None:
    for name in ("c", "a", "b"):
        _version(store, problem_id=name)
    _version(store, problem_id="a", language="cpp")
    first = store.page(limit=2)
    assert [(one.problem_id, one.version, one.tests, one.hidden, one.language) for one in first] == [
        ("a", 2, 2, 1, "cpp"), ("b", 1, 2, 1, ""),
    ]  # fmt: skip
    assert [one.problem_id for one in store.page("b")] == ["c"]
    assert store.describe("a") == first[0]


def test_the_store_is_its_owners_alone_and_only_a_store_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "problems.db"
    ProblemStore(str(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    text = tmp_path / "text"
    text.write_text("no database" * 1000)
    for bad in (other, text, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(SettingsError, match=r"^server_problems: .*name a database of problems"):
            ProblemStore(str(bad))
    with pytest.raises(SettingsError):
        ProblemStore(str(tmp_path / "nothing"), make=False)


def test_two_stores_and_many_threads_share_a_database(store: ProblemStore, tmp_path: Path) -> None:
    other = ProblemStore(str(tmp_path / "problems.db"))

    def write(which: ProblemStore, name: str) -> None:
        for number in range(10):
            which.put(_problem(meta={"n": number, "by": name}), name)

    threads = [threading.Thread(target=write, args=(one, str(id(one)) + x)) for one in (store, other) for x in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    newest = other.find("square")
    assert newest is not None
    assert newest.version == 40
    other.close()


def test_what_is_kept_in_memory_is_bounded(store: ProblemStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_MOST_KEPT", 500)
    for number in range(10):
        _version(store, problem_id=str(number))
        assert store.find(str(number)) is not None
    assert store._kept_bytes <= 500
    assert store._kept_bytes == sum(size for size, _ in store._kept.values())


def test_texts_that_are_odd_come_back_as_they_were(store: ProblemStore) -> None:
    test = {"call": "f", "args": [1 << 80, "é\u2028", 1.5, None], "expect": {"a": [True]}}
    _version(store, tests=[test])
    found = store.find("square")
    assert found is not None
    assert found.record["tests"] == [test]


# --- samples that name one -------------------------------------------------------------------------------------------


def _sample(store: ProblemStore, **fields: Any) -> Any:
    raw = {"id": "s", "code": "pass", "problem_id": "square", **fields}
    return sample_of(raw, settings=SETTINGS, problems=store)


def test_a_sample_gets_what_its_problem_says(store: ProblemStore) -> None:
    _version(store, limits={"cpu_s": 3}, match={"mode": "exact"})
    _version(store, limits={"cpu_s": 4}, language="cpp")
    newest, first = _sample(store), _sample(store, problem_id="square@1", meta=1, reward="all_or_nothing")
    assert (newest.limits.cpu_s, newest.language, newest.held, newest.problem_id) == (4, "cpp", True, "square")
    assert (first.limits.cpu_s, first.match.mode, first.problem_id) == (3, "exact", "square@1")
    assert (first.meta, first.reward, len(first.tests)) == (1, "all_or_nothing", 2)


def test_a_sample_with_tests_of_its_own_asks_no_problem(store: ProblemStore) -> None:
    _version(store)
    own = _sample(store, tests=[TEST])
    assert (len(own.tests), own.held) == (1, False)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem_id": "other"}, "problem_id"),
        ({"problem_id": "square@7"}, "problem_id"),
        ({"problem_id": 3}, "problem_id"),
        ({"match": {"mode": "regex"}}, "match"),
        ({"checker": {"language": "python", "code": "print(open('answer').read())", "protocol": "icpc"}}, "checker"),
        ({"interactor": {"language": "python", "code": "x", "protocol": "icpc"}}, "interactor"),
        ({"setup": "x"}, "setup"),
        ({"limits": {"cpu_s": 9}}, "limits"),
        ({"language": "cpp"}, "language"),
    ],
)
def test_a_sample_cannot_have_hidden_tests_told_to_it(store: ProblemStore, fields: dict[str, Any], field: str) -> None:
    _version(store, limits={"cpu_s": 3}, language="python")
    with pytest.raises(InputError) as caught:
        _sample(store, **fields)
    assert caught.value.field == field


def test_a_sample_may_say_what_the_problem_does_not(store: ProblemStore) -> None:
    _version(store)
    assert _sample(store, language="cpp").language == "cpp"
    assert _sample(store, limits={"cpu_s": 9}).limits.cpu_s == 9
    assert _sample(store, language="python", limits={}).language == "python"


def test_samples_of_a_problem_share_its_texts(store: ProblemStore) -> None:
    _version(store, tests=[{"stdin": "x" * 1000, "stdout": "y"}])
    assert _sample(store).tests[0].stdin is _sample(store).tests[0].stdin


# --- client and command line -----------------------------------------------------------------------------------------


def _lines(path: Path, *records: Any) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_client_and_command_verify_by_problem_id(tmp_path: Path, cache: Path) -> None:
    problems = _lines(tmp_path / "problems.jsonl", SQUARE)
    code = "n = int(input())\nprint(n * n)"
    with ScaleBoxClient(settings=Settings(workers=1, cache_dir=str(cache)), problems=problems) as client:
        (right,) = client.fetch(client.submit("s", code, None, problem_id="square"))
        (wrong,) = client.fetch(client.submit("t", "print(4)", None, problem_id="square@1"))
        with pytest.raises(InputError, match=r"samples\[0\].problem_id: no problem is called other"):
            client.submit("u", code, None, problem_id="other")
    assert (right.verdict, right.problem_id, wrong.pass_rate) == ("passed", "square", 0.5)
    database = str(tmp_path / "problems.db")
    assert _run("problems", "load", problems, "--store", database).exit_code == 0
    samples = _lines(
        tmp_path / "in.jsonl",
        {"id": "s", "code": code, "problem_id": "square"},
        {"id": "t", "problem_id": "x", "code": ""},
    )
    for where in (problems, database):
        out = tmp_path / "out.jsonl"
        done = _run("verify", samples, "-o", str(out), "--problems", where, "--workers", "1")
        assert done.exit_code == 2
        assert "in.jsonl:2: problem_id: no problem is called x" in done.stderr
        (result,) = [json.loads(line) for line in out.read_text().splitlines()]
        assert result["verdict"] == "passed"


def test_a_file_is_loaded_whole_or_not_at_all(tmp_path: Path) -> None:
    database = str(tmp_path / "problems.db")
    bad = _lines(tmp_path / "bad.jsonl", {**SQUARE, "problem_id": "a"}, {"problem_id": "b"}, {"tests": [TEST]})
    good = _lines(tmp_path / "good.jsonl", SQUARE, {**SQUARE, "problem_id": "other"})
    done = _run("problems", "load", bad, good, "--store", database, "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout) == {"problems": 2, "new_versions": 2, "unusable_files": 1}
    assert "bad.jsonl:2: tests: missing" in done.stderr
    assert "bad.jsonl:3: problem_id: missing" in done.stderr
    again = _run("problems", "load", good, "--store", database)
    assert again.stdout == "2 problems, 0 of them new or changed\n"
    listed = [json.loads(line) for line in _run("problems", "list", "--store", database, "--json").stdout.splitlines()]
    assert [(one["problem_id"], one["version"], one["tests"], one["hidden"]) for one in listed] == [
        ("other", 1, 2, 1), ("square", 1, 2, 1),
    ]  # fmt: skip
    assert _run("problems", "delete", "other", "--store", database).exit_code == 0
    assert _run("problems", "delete", "other", "--store", database).exit_code == 1
    assert "square@1  2 tests, 1 hidden" in _run("problems", "list", "--store", database).stdout


def test_the_store_has_to_be_named(tmp_path: Path) -> None:
    assert "server_problems: no database is set" in _run("problems", "list").stderr
    assert _run("problems", "list", "--store", str(tmp_path / "nothing")).exit_code == 2
    assert _run("verify", "--package", "x", "--problems", "y").exit_code == 2
