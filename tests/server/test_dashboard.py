"""The dashboard's routes, and what each role gets from them."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from litestar.types import ASGIApp, Receive, Scope, Send
from tests.server.conftest import PLACE, Server, sample, serving
from tests.server.feed import Clock, Feed

from scalebox.core import events
from scalebox.core.codec import decode_result_line, encode_result_line, encode_sample
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.parse import parse_sample
from scalebox.server.errors import HANDLERS
from scalebox.server.journal import Journal
from scalebox.server.principal import Principal, Role
from scalebox.server.routes import dashboard, metrics
from scalebox.server.routes.dashboard import reader_view
from scalebox.server.telemetry import Telemetry
from scalebox.server.tokens import create_token

SCRIPTS = ("dashboard.js", "pages.js", "charts.js", "drawing.js", "words.js", "state.js")
PAGES = {
    "/dashboard": "text/html",
    "/dashboard/dashboard.css": "text/css",
    **{f"/dashboard/{script}": "text/javascript" for script in SCRIPTS},
}
CANARY = "canary-3f1c"
#: Fields that a program or a test author fills with text of their own, and that readers do not see.
HIDDEN = {"message", "integrity_reason", "meta", "denied"}
HIDDEN_OF_CASES = {"id", "stdout", "stderr", "detail", "text", "transcript", "exit_code", "signal", "difference"}


def role_of_header(app: ASGIApp) -> ASGIApp:
    """Return the application with the role of each request as its header says: stands for tokens."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        role = dict(scope["headers"]).get(b"x-role", b"operator").decode()
        scope["user"] = Principal("test", Role(role))
        await app(scope, receive, send)

    return wrapped


@pytest.fixture(scope="module")
def feed() -> Feed:
    clock = Clock()
    return Feed(Telemetry(Settings(), capacity=2, clock=clock), clock)


@pytest.fixture(scope="module")
def batch_id(feed: Feed) -> str:
    feed.workers(2)
    feed.batch(5, seconds=1)
    return feed.batch(40, seconds=10)


@pytest.fixture(scope="module")
def http(feed: Feed) -> Iterator[TestClient[Litestar]]:
    with TestClient(app_of(SimpleNamespace(telemetry=feed.telemetry, draining=False))) as client:
        yield client


def app_of(context: Any) -> Litestar:
    """Return an application of these routes alone, over as much of a context as they need."""
    handlers = [*dashboard.handlers(context), *metrics.handlers(context)]
    return Litestar(handlers, middleware=[role_of_header], exception_handlers=HANDLERS)


# --- pages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(PAGES))
def test_the_page_and_its_parts_are_served_to_everybody(http: TestClient[Litestar], path: str) -> None:
    answer = http.get(path, headers={"x-role": "policy"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{PAGES[path]}; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_page_needs_no_other_host() -> None:
    folder = files("scalebox.server").joinpath("dashboard")
    linked = {"dashboard.html"}
    for part in folder.iterdir():
        text = part.read_text(encoding="utf-8")
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}, "only names of XML"
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        linked |= set(re.findall(r'(?:src|href)="/dashboard/([^"]*)"', text)) | set(
            re.findall(r'from "\./([^"]*)"', text)
        )
    assert {f"/dashboard/{name}" for name in linked - {"dashboard.html"}} == set(PAGES) - {"/dashboard"}
    assert linked == {part.name for part in folder.iterdir()}


# --- what is asked ----------------------------------------------------------------------------------


def test_the_overview_is_what_telemetry_says(http: TestClient[Litestar], feed: Feed, batch_id: str) -> None:
    seen = http.get("/v1/telemetry?range_s=900").json()
    assert seen == json.loads(msgspec.json.encode(feed.telemetry.overview(900)))
    assert seen["counts"]["samples"] == 45
    assert seen["batches"][0]["batch_id"] == batch_id


@pytest.mark.parametrize(("asked", "given"), [(1, 300), (300, 300), (301, 900), (3600, 3600)])
def test_a_stretch_is_rounded_up(http: TestClient[Litestar], asked: int, given: int) -> None:
    assert http.get(f"/v1/telemetry?range_s={asked}").json()["range_s"] == given


def test_a_batch_a_page_and_a_verdict_of_it(http: TestClient[Litestar], batch_id: str) -> None:
    whole = http.get(f"/v1/telemetry/batches/{batch_id}").json()
    assert [row["index"] for row in whole["rows"]] == list(range(40))
    page = http.get(f"/v1/telemetry/batches/{batch_id}?offset=30&limit=7").json()
    assert [row["index"] for row in page["rows"]] == list(range(30, 37))
    passed = http.get(f"/v1/telemetry/batches/{batch_id}?verdict=passed").json()
    assert {row["verdict"] for row in passed["rows"]} == {"passed"}
    assert passed["matching"] == whole["batch"]["verdicts"]["passed"]
    assert [row["samples"] for row in http.get("/v1/telemetry/batches?limit=2").json()] == [40, 5]


@pytest.mark.parametrize(
    ("path", "status"),
    [("batches/none", 404), ("batches/none/samples/0", 404), ("batches/{}/samples/40", 404), ("?range_s=0", 400),
     ("?range_s=x", 400), ("stream?range_s=99999", 400), ("batches/{}?verdict=good", 400), ("batches/{}?limit=0", 400),
     ("batches/{}?offset=-1", 400), ("batches/{}/samples/x", 404)],
)  # fmt: skip
def test_a_wrong_question_gets_an_error_that_says_so(
    http: TestClient[Litestar], batch_id: str, path: str, status: int
) -> None:
    slash = "" if path.startswith("?") else "/"
    answer = http.get(f"/v1/telemetry{slash}{path.format(batch_id)}")
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message", "field", "mend"}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(
    "path",
    ["/v1/telemetry", "/v1/telemetry/batches", "/v1/telemetry/batches/{}", "/v1/telemetry/batches/{}/samples/0",
     "/metrics"],
)  # fmt: skip
def test_only_readers_and_operators_see(http: TestClient[Litestar], batch_id: str, path: str, role: Role) -> None:
    status = http.get(path.format(batch_id), headers={"x-role": role.value}).status_code
    assert status == (200 if role in (Role.READER, Role.OPERATOR) else 403)


@pytest.mark.parametrize("role", [Role.TRAINER, Role.POLICY])
def test_the_stream_is_not_for_others(http: TestClient[Litestar], role: Role) -> None:
    assert http.get("/v1/telemetry/stream", headers={"x-role": role.value}).status_code == 403


def test_metrics_have_prometheus_type(http: TestClient[Litestar]) -> None:
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "\nscalebox_samples_total{" in answer.text


class DrainsAfterOne:
    """A context of a server that begins to drain when it has sent one event: the test's client reads to the end."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.telemetry = telemetry
        self._looks = iter([False])

    @property
    def draining(self) -> bool:
        return next(self._looks, True)


def test_the_stream_sends_overviews_until_the_server_drains(feed: Feed) -> None:
    with TestClient(app_of(DrainsAfterOne(feed.telemetry))) as client:
        answer = client.get("/v1/telemetry/stream?range_s=300", headers={"x-role": "reader"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    (name, data) = (line.partition(":") for line in answer.text.splitlines() if line)
    assert (name[0], name[2].strip(), data[0]) == ("event", "overview", "data")
    assert json.loads(data[2])["range_s"] == 300


# --- what a reader sees -----------------------------------------------------------------------------


def planted(verdict: Verdict) -> VerificationResult:
    """Return a result with a canary in every text of the tests' or the program's making."""
    cases = [
        CaseResult(
            id=f"0.{CANARY}", test="0", verdict=verdict, stdout=CANARY, stderr=CANARY, detail=CANARY, text=CANARY,
            transcript=CANARY, exit_code=217,
        )
    ]  # fmt: skip
    return VerificationResult(
        id="s", verdict=verdict, code="print(1)", message=CANARY, integrity="shared", integrity_reason=CANARY,
        meta={"answer": CANARY}, cases=cases,
        denied=["network: socket(AF_INET)", f"EACCES /etc/{CANARY} (PermissionError)", CANARY],
    )  # fmt: skip


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_reader_sees_no_text_that_could_tell_of_a_test(verdict: Verdict) -> None:
    telemetry = Telemetry(Settings(), capacity=1)
    telemetry(events.BatchAccepted(0.0, "b", 1))
    telemetry(events.SampleFinished(0.0, "b", planted(verdict), 0))
    of_sample = "/v1/telemetry/batches/b/samples/0"
    with TestClient(app_of(SimpleNamespace(telemetry=telemetry, draining=False))) as http:
        for path in [of_sample, "/v1/telemetry/batches/b", "/v1/telemetry/batches", "/v1/telemetry", "/metrics"]:
            answer = http.get(path, headers={"x-role": "reader"})
            assert answer.status_code == 200
            assert CANARY not in answer.text
        as_operator = http.get(of_sample, headers={"x-role": "operator"}).json()
        as_reader = http.get(of_sample, headers={"x-role": "reader"}).json()
    assert as_operator["view"] == "operator"
    assert decode_result_line(json.dumps(as_operator["result"]).encode()) == planted(verdict)
    assert as_reader["view"] == "reader"
    assert (as_reader["result"]["verdict"], as_reader["result"]["code"]) == (verdict.value, "print(1)")
    assert as_reader["result"]["denied"] == ["access", "network:"]
    assert as_reader["result"]["cases"][0]["id"] == "0.0"
    assert "217" not in json.dumps(as_reader["result"])


def test_every_field_is_for_readers_or_is_known_not_to_be() -> None:
    """A field that is added later shows up here: is it for readers?"""
    full = planted(Verdict.PASSED)
    case = full.cases[0]
    case.cpu_s, case.wall_s, case.memory_bytes, case.attempts = 1.0, 2.0, 3, 4
    case.exit_code, case.signal, case.difference, case.score = 5, 6, 0.7, 0.8
    seen = reader_view(full)
    differing = {name for name in full.__struct_fields__ if getattr(seen, name) != getattr(full, name)}
    assert differing - {"cases"} == HIDDEN
    assert {
        name for name in case.__struct_fields__ if getattr(seen.cases[0], name) != getattr(case, name)
    } == HIDDEN_OF_CASES
    assert CANARY.encode() not in encode_result_line(seen)


# --- the whole server -------------------------------------------------------------------------------


def test_a_batch_over_http_is_on_the_dashboard(server: Server) -> None:
    """The server hands batches to the engine in slices; telemetry sees the batch of the client."""
    batch_id = server.submit([sample(f"s{number}", "fail" if number else "pass") for number in range(3)])
    assert server.results(batch_id)["state"] == "DONE"
    seen = server.http.get(f"/v1/telemetry/batches/{batch_id}").json()
    assert (seen["batch"]["samples"], seen["batch"]["finished"], seen["batch"]["state"]) == (3, 3, "DONE")
    assert [row["id"] for row in seen["rows"]] == ["s0", "s1", "s2"]
    assert server.http.get("/v1/telemetry").json()["queue"] == 0
    assert f"scalebox_workers_wanted {PLACE['workers']}.0" in server.http.get("/metrics").text


def test_each_sample_of_a_batch_has_its_place_however_it_was_sliced(server: Server) -> None:
    batch_id = server.submit([sample(f"s{number}") for number in range(60)])
    assert server.results(batch_id)["state"] == "DONE"
    seen = server.http.get(f"/v1/telemetry/batches/{batch_id}").json()
    assert [(row["index"], row["id"]) for row in seen["rows"]] == [(number, f"s{number}") for number in range(60)]
    of_sample = server.http.get(f"/v1/telemetry/batches/{batch_id}/samples/41").json()
    assert of_sample["result"]["id"] == "s41"


@pytest.mark.parametrize("path", ["/v1/telemetry", "/v1/telemetry/batches", "/v1/telemetry/stream", "/metrics"])
def test_with_tokens_the_page_is_open_and_what_it_shows_is_not(
    locked: tuple[Server, dict[Role, str]], path: str
) -> None:
    server, tokens = locked
    for page in PAGES:
        assert server.http.get(page).status_code == 200
    assert server.http.get(path).status_code == 401
    for role in (Role.TRAINER, Role.POLICY):
        assert server.http.get(path, headers={"Authorization": f"Bearer {tokens[role]}"}).status_code == 403
    with server.http.stream("GET", path, headers={"Authorization": f"Bearer {tokens[Role.READER]}"}) as answer:
        assert answer.status_code == 200
        assert next(answer.iter_bytes())


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[Role, str]]]:
    """Return a server that asks for tokens, and one of each role."""
    path = str(tmp_path_factory.mktemp("access") / "tokens")
    tokens = {role: create_token(path, role.value, role) for role in Role}
    with serving(Settings(**PLACE, server_tokens=path)) as server:
        yield server, tokens


# --- colours ----------------------------------------------------------------------------------------

#: Of Machado, Oliveira and Fernandes (2009), severity 1.0, over linear RGB.
VISION = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
THEMES = {"light": r":root \{(.*?)\}", "dark": r':root\[data-theme="dark"\] \{(.*?)\}'}


def linear(colour: str) -> list[float]:
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb: list[float]) -> list[float]:
    """Return CIELAB of linear sRGB, for D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * max(0.0, b) for a, b in zip(row, rgb, strict=True)) for row in rows]
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (xyz[0] / 0.95047, xyz[1], xyz[2] / 1.08883)]
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


def palette(theme: str) -> dict[str, str]:
    css = files("scalebox.server").joinpath("dashboard", "dashboard.css").read_text(encoding="utf-8")
    block = re.search(THEMES[theme], css, flags=re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block[1]))


@pytest.mark.parametrize("vision", list(VISION))
@pytest.mark.parametrize("theme", list(THEMES))
def test_verdicts_are_told_apart_by_any_eye(theme: str, vision: str) -> None:
    script = files("scalebox.server").joinpath("dashboard", "words.js").read_text(encoding="utf-8")
    listed = re.search(r"const VERDICTS = \[(.*?)\]", script, flags=re.DOTALL)
    assert listed is not None
    order = re.findall(r'"(\w+)"', listed[1])
    assert sorted(order) == sorted(verdict.value for verdict in Verdict)
    colours = palette(theme)
    seen = {
        name: lab([sum(a * b for a, b in zip(row, linear(colours[name]), strict=True)) for row in VISION[vision]])
        for name in order
    }

    def difference(one: str, other: str) -> float:
        return float(sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5)

    assert min(difference(one, other) for one, other in pairwise(order)) > 15, "neighbours in the stack"
    assert min(difference(one, other) for one, other in combinations(order, 2)) > 8, "any two, beside their names"


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize(
    ("text", "ground"),
    [("text", "card"), ("soft", "card"), ("faint", "card"), ("soft", "page"), ("soft", "sunk"), ("link", "card"),
     ("link", "page"), ("warn-text", "warn-bg"), ("bad-text", "bad-bg"), ("bad-text", "card"), ("page", "text")],
)  # fmt: skip
def test_text_has_contrast(theme: str, text: str, ground: str) -> None:
    """WCAG 2.2, level AA."""
    colours = palette(theme)
    light, dark = sorted(
        (
            sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colours[name]), strict=True))
            for name in (text, ground)
        ),
        reverse=True,
    )
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_batch_of_an_earlier_server_is_followed(tmp_path: Path) -> None:
    gate, path, settings = tmp_path / "gate", str(tmp_path / "journal.db"), Settings()
    os.mkfifo(gate)
    records = [encode_sample(parse_sample(sample(str(at), f"await {gate}"), settings=settings)) for at in range(2)]
    journal = Journal(path)
    journal.accept("earlier", "local", records, key=None, digest=b"", deadline=None)
    journal.close()
    with serving(Settings(**PLACE, server_journal=path, server_ready_s=3600)) as server:
        seen = server.http.get("/v1/telemetry").json()
        assert (seen["queue"], seen["open_batches"]) == (2, 1)
        with gate.open("wb", buffering=0) as opened:
            opened.write(b"x" * 2)
            assert server.http.get("/v1/batches/earlier/results").json()["state"] == "DONE"
        until = time.monotonic() + 30  # an overview is made once a second
        while seen["queue"] and time.monotonic() < until:
            time.sleep(0.1)
            seen = server.http.get("/v1/telemetry").json()
        assert (seen["queue"], seen["open_batches"]) == (0, 0)
        (row,) = server.http.get("/v1/telemetry/batches").json()
        assert (row["batch_id"], row["samples"], row["finished"]) == ("earlier", 2, 2)
