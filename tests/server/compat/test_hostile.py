"""Requests and outputs made to break the server: each is answered as what it is, never as a failure of the server's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from scalebox.server.compat import in_python
from scalebox.server.compat.around import fitted

DEEP = "[" * 100_000


def submit(kind: str, row: Any) -> dict[str, Any]:
    return {"completion": "x", "config": {"dataset_type": kind, "language": "python", "provided_data": row}}


def evaluate(tests: Any) -> dict[str, Any]:
    return {"completion": "x", "config": {"language": "python", "provided_data": {"test_cases": tests}}}


LIVE = "LiveCodeBenchDataset"
CALL = {"type": "function_call", "fn_name": "f"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/submit", submit("CommonOJDataset", {"test": DEEP})),
        ("/submit", submit("CommonOJDataset", {"test": [], "labels": DEEP})),
        ("/submit", submit(LIVE, {"test": {"inputs": [DEEP], "outputs": ["1"], "fn_name": "f"}})),
        ("/submit", submit(LIVE, {"test": {"inputs": ["1"], "outputs": ["1"], "fn_name": "f" * 100_000}})),
        ("/submit", submit(LIVE, {"test": {"inputs": ["1"], "outputs": [[]], "fn_name": "f"}})),
        ("/submit", submit("AutoEvalDataset", {"test": {"code": "x"}, "labels": {"programming_language": ["go"]}})),
        (
            "/submit",
            submit("AutoEvalDataset", {"test": {"code": "x"}, "labels": {"execution_language": {"go": 1}}}),
        ),
        ("/common_evaluate_batch", evaluate({**CALL, "json_input": True, "input": [DEEP], "output": ["1"]})),
        ("/common_evaluate", evaluate([{**CALL, "fn_name": ["f"], "input": [], "output": 1}])),
        ("/common_evaluate", evaluate([{**CALL, "fn_name": {}, "input": [], "output": 1}, {**CALL, "input": []}])),
        ("/get_prompts", {"config": submit("CommonOJDataset", [{"id": 1, "labels": DEEP}])["config"]}),
        ("/submissions?wait=true&base64_encoded=true", {"source_code": "é", "language_id": 71}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "memory_limit": 1e308}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "memory_limit": "9" * 400}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "memory_limit": "NaN"}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "cpu_time_limit": "NaN"}),
        ("/submissions?wait=true", {"source_code": "1", "language_id": 71, "wall_time_limit": "inf"}),
        ("/run_code", {"language": "python", "code": "1", "run_timeout": "NaN"}),
        ("/run_jupyter", {"cells": ["1"], "cell_timeout": "NaN"}),
        ("/run_jupyter", {"cells": ["1"], "cell_timeout": "inf", "total_timeout": "inf"}),
        ("/api/v2/execute", {"language": "python", "files": [{"content": "1"}], "run_timeout": "NaN"}),
        ("/api/v2/execute", {"language": "python", "files": [{"content": "1"}, {"name": "../x", "content": ""}]}),
        ("/api/v2/execute", {"language": "python", "files": [{"content": "1"}], "run_timeout": 1e300}),
        ("/run_code", {"language": "python", "code": "1", "files": {"a\0b": ""}}),
    ],
)
def test_what_makes_no_sense_is_the_requests_fault(http: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = http.post(path, json=body)
    assert answer.status_code in (200, 400, 422), answer.text
    assert answer.status_code != 200 or answer.json().get("accepted") is not True


@pytest.mark.parametrize("path", ["/submit", "/run_code", "/submissions?wait=true", "/api/v2/execute", "/v1/batches"])
def test_a_body_that_is_nested_without_end_is_refused(http: httpx.Client, path: str) -> None:
    answer = http.post(
        path, content=b'{"config": {"provided_data": ' + DEEP.encode(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (400, 422), answer.text


def test_a_program_that_answers_for_the_notebook_breaks_nothing() -> None:
    """It shares the notebook's process, so it may know the marker."""
    _, _, marker = in_python.notebook(["1"], [])
    for told in ('{"cells": [{"a": ' + DEEP, '{"x": ' + DEEP, DEEP, "1", '{"cells": 1, "files": {}}', ""):
        assert in_python.of_notebook(f"out{marker}{told}", marker) is None
        assert in_python.fetched(f"out{marker}{told}", marker, ["a"]) == ("out", {})


def test_a_program_of_braces_takes_no_time() -> None:
    assert fitted("}" * 500_000, "}" * 500_000, "cpp") == "\n"
    assert fitted("a }}}\n} \n", "}}", "cpp") == "a }}\n"
