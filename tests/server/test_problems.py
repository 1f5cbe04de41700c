"""Problems over HTTP: operators write and read them, trainers use them and never see a hidden test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from tests.server.access import Site, site

MARK = "CANARY"
PROBLEM = {
    "tests": [
        {"stdin": f"{MARK}_input", "stdout": f"{MARK}_output"},
        {"stdin": "open", "stdout": "open", "hidden": False},
    ]
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with site(folder, command=(), cache_dir=str(folder / "cache")) as opened:
        yield opened


def test_an_operator_writes_reads_and_forgets(here: Site) -> None:
    path = "/v1/problems/taco/1 é"
    put = here.ask("operator", "PUT", path, json=PROBLEM)
    assert (put.status_code, put.json()) == (201, {"problem_id": "taco/1 é", "version": 1, "new": True})
    assert here.ask("operator", "PUT", path, json=PROBLEM).status_code == 200
    changed = {**PROBLEM, "limits": {"cpu_s": 3}}
    assert here.ask("operator", "PUT", path, json=changed).json()["version"] == 2
    assert here.ask("operator", "GET", path).json() == {**changed, "problem_id": "taco/1 é", "version": 2}
    assert here.ask("operator", "GET", path + "?version=1").json()["version"] == 1
    assert here.ask("operator", "GET", path + "?version=3").status_code == 404
    assert here.ask("operator", "GET", path + f"?version={10**30}").status_code == 400
    assert here.ask("operator", "DELETE", path).status_code == 204
    assert here.ask("operator", "DELETE", path).status_code == 404
    assert here.ask("operator", "GET", path).status_code == 404
    kinds = [record["event"] for record in here.events(problem_id="taco/1 é", client="run", role="operator")]
    assert kinds == ["problem_put"] * 3 + ["problem_delete"] * 2


ODD = ["a//b", "a/", "/a", "a/../b", "a%2Fb", "a\\b", "a\0b", "a?b", "a#b", "a\nb", "\U0001f4a5", "x" * 512, "{}", " "]


@pytest.mark.parametrize("name", ODD)
def test_a_problem_is_the_one_that_the_path_names(here: Site, name: str) -> None:
    """Under another id it would be put in another problem's place, whose samples would be judged by its tests."""
    path, others = f"/v1/problems/{quote(name, safe='')}", {"a", "a/b", "b", "ab", ""} - {name}
    put = here.ask("operator", "PUT", path, json=PROBLEM)
    assert (put.status_code, put.json()["problem_id"], put.json()["version"]) == (201, name, 1)
    assert here.ask("operator", "GET", path).json()["problem_id"] == name
    assert here.ask("trainer", "GET", path).json()["problem_id"] == name
    listed = {one["problem_id"] for one in here.ask("trainer", "GET", "/v1/problems").json()["problems"]}
    assert (name in listed, listed & others) == (True, set())
    sample = {"id": "s", "problem_id": name, "code": "print(input())"}
    assert here.ask("trainer", "POST", "/v1/batches", json={"samples": [sample]}).status_code == 202
    assert here.ask("operator", "DELETE", path).status_code == 204
    assert here.ask("operator", "GET", path).status_code == 404


def test_a_path_that_is_no_text_names_no_problem(here: Site) -> None:
    for method in ("PUT", "GET", "DELETE"):
        answer = here.ask("operator", method, "/v1/problems/a%ff", **({"json": PROBLEM} if method == "PUT" else {}))
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "problem_id")


def test_answers_cannot_be_guessed_token_by_token(here: Site) -> None:
    hidden = {"tests": [{"stdin": "", "stdout": "7 8 9"}]}
    assert here.ask("operator", "PUT", "/v1/problems/guessed", json=hidden).status_code == 201
    guesses = ["0 0 0", "7 0 0", "7 8 0", "0", "7 8 9 0", "7 8 9"]
    samples = [{"id": guess, "problem_id": "guessed", "code": f"print({guess!r})"} for guess in guesses]
    batch = here.ask("trainer", "POST", "/v1/batches", json={"samples": samples}).json()["batch_id"]
    results = here.ask("trainer", "GET", f"/v1/batches/{batch}/results?wait_s=60").json()["results"]
    assert [result["cases"][0]["difference"] for result in results] == [1.0] * 5 + [0.0]
    seen = [here.ask("reader", "GET", f"/v1/telemetry/batches/{batch}/samples/{at}").json() for at in range(6)]
    assert [one["result"]["cases"][0]["difference"] for one in seen] == [1.0] * 5 + [0.0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"tests": [{"stdin": 3, "stdout": ""}]}, "tests[0].stdin"),
        ({**PROBLEM, "problem_id": "other"}, "problem_id"),
        ({}, "tests"),
    ],
)
def test_what_is_no_problem_is_refused(here: Site, body: dict[str, Any], field: str) -> None:
    answer = here.ask("operator", "PUT", "/v1/problems/bad", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)
    answer = here.ask("operator", "PUT", "/v1/problems/bad", content=b"[")
    assert answer.status_code == 400


@pytest.mark.parametrize("role", ["trainer", "reader", "policy"])
def test_others_do_not_write(here: Site, role: str) -> None:
    assert here.ask(role, "PUT", "/v1/problems/mine", json=PROBLEM).status_code == 403
    assert here.ask(role, "DELETE", "/v1/problems/mine").status_code == 403


def test_a_trainer_learns_that_a_problem_is_there_and_no_more(here: Site) -> None:
    for name in ("p-1", "p-2", "p-3"):
        here.ask("operator", "PUT", f"/v1/problems/{name}", json=PROBLEM)
    one = here.ask("trainer", "GET", "/v1/problems/p-1").json()
    assert {"problem_id": "p-1", "version": 1, "tests": 2, "hidden": 1}.items() <= one.items()
    first = here.ask("trainer", "GET", "/v1/problems?limit=2&after=p").json()
    assert ([problem["problem_id"] for problem in first["problems"]], first["next"]) == (["p-1", "p-2"], "p-2")
    assert here.ask("trainer", "GET", "/v1/problems?limit=2&after=p-2").json()["next"] is None
    assert MARK not in json.dumps([one, first])
    assert here.ask("trainer", "GET", "/v1/problems/none").status_code == 404


#: Programs that do what they can to have a hidden input shown on their result.
DIGGERS = {
    "print": "import sys\nx = sys.stdin.read()\nprint(x)\nprint(x, file=sys.stderr)",
    "raise": "raise ValueError(input())",
    "exit": "import sys\nsys.exit(ord(input()[0]))",
    "open": "open('/etc/' + input())",
    "exec": "import os\nos.execv('/bin/' + input(), ['x'])",
    "write": "open('/' + input(), 'w')",
}


def test_no_result_shows_a_trainer_a_hidden_test(here: Site) -> None:
    here.ask("operator", "PUT", "/v1/problems/dig", json=PROBLEM)
    samples = [{"id": name, "code": code, "problem_id": "dig"} for name, code in DIGGERS.items()]
    batch = here.ask("trainer", "POST", "/v1/batches", json={"samples": samples}).json()["batch_id"]
    answer = here.ask("trainer", "GET", f"/v1/batches/{batch}/results?wait_s=120")
    stream = here.ask("trainer", "GET", f"/v1/batches/{batch}/stream")
    results = {result["id"]: result for result in answer.json()["results"]}
    assert set(results) == set(DIGGERS)
    assert MARK not in answer.text + stream.text
    hidden, visible = results["print"]["cases"]
    assert (hidden["verdict"], hidden["stdout"], hidden["exit_code"]) == ("output_mismatch", "", None)
    assert (visible["verdict"], visible["stdout"]) == ("passed", "open\n")
    (record,) = here.events(event="batch_submitted", batch_id=batch)
    assert (record["client"], record["role"], record["ids"]) == ("run", "trainer", list(DIGGERS))
    assert {record["sample_id"] for record in here.events(event="execution", batch_id=batch)} == set(DIGGERS)
    denied = [record for record in here.events(event="execution", batch_id=batch) if record["denied"]]
    assert all(MARK not in json.dumps(results[record["sample_id"]]["denied"]) for record in denied)


def test_an_unknown_problem_is_a_clear_error(here: Site) -> None:
    samples = [{"id": "s", "code": "", "problem_id": "none"}]
    answer = here.ask("trainer", "POST", "/v1/batches", json={"samples": samples})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "samples[0].problem_id")


def test_batches_are_for_trainers(here: Site) -> None:
    for role in ("policy", "reader"):
        assert here.ask(role, "POST", "/v1/batches", json={"samples": []}).status_code == 403
    batch = here.ask("trainer", "POST", "/v1/batches", json={"samples": []}).json()["batch_id"]
    assert here.ask("other trainer", "GET", f"/v1/batches/{batch}").status_code == 404
    assert here.ask("trainer", "GET", f"/v1/batches/{batch}").status_code == 200
