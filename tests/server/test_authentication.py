"""Without a token, with a wrong one, with the wrong role: refused, and recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from litestar import Litestar, get
from litestar.datastructures import State
from litestar.testing import TestClient
from tests.server.access import Site, site
from tests.server.conftest import Server

from scalebox.client import AsyncScaleBoxClient
from scalebox.core.settings import Settings
from scalebox.server import authentication
from scalebox.server.authentication import Attempts, address_of, is_cross_site, is_local, is_rebound
from scalebox.server.context import Context
from scalebox.server.guards import Needs, closed_unless_said
from scalebox.server.principal import Role


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _many_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "WRONG_TOKENS", 10_000)
    monkeypatch.setattr(authentication, "ALL_WRONG_TOKENS", 10_000)


def test_probes_are_for_everybody(here: Site) -> None:
    assert here.ask("", "GET", "/healthz").status_code == 200
    assert here.ask("policy", "GET", "/healthz").status_code == 200
    assert here.http.get("/readyz", headers={"Authorization": "Bearer old"}).status_code == 200


@pytest.mark.parametrize("path", ["/test/silent", "/test/trainers", "/v1/audit", "/v1/problems", "/schema"])
@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (None, "no token"),
        ("Bearer sbx_" + "A" * 43, "wrong token"),
        ("Bearer", "wrong token"),
        ("Basic bG9jYWw6bG9jYWw=", "wrong token"),
        ("Basic bG9jYWw", "wrong token"),
        ("Basic //79", "wrong token"),
        ("Bearer " + "x" * 5000, "wrong token"),
    ],
)
def test_without_a_right_token_nobody_is_let_in(here: Site, path: str, header: str | None, reason: str) -> None:
    before = len(here.events(event="login_refused", path=path, reason=reason))
    answer = here.http.get(path, headers={"Authorization": header} if header else {})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["error"]["code"] == "unauthorized"
    assert len(here.events(event="login_refused", path=path, reason=reason)) == before + 1


def test_a_token_may_come_as_a_password(here: Site) -> None:
    assert here.http.get("/test/trainers", auth=("any", here.tokens["trainer"])).status_code == 200
    assert here.http.get("/test/trainers", auth=(here.tokens["trainer"], "")).status_code == 401


@pytest.mark.parametrize(
    ("path", "let_in"),
    [
        ("/test/silent", {"operator"}),
        ("/test/trainers", {"operator", "trainer"}),
        ("/v1/audit", {"operator"}),
        ("/v1/audit/check", {"operator"}),
        ("/v1/problems", {"operator", "trainer"}),
        ("/v1/policy/nothing", {"policy"}),
    ],
)
def test_each_role_may_do_its_own(here: Site, path: str, let_in: set[str]) -> None:
    for role in Role:
        status = here.ask(role.value, "GET", path).status_code
        assert (status != 403) == (role.value in let_in), role
    refused = here.events(event="login_refused", path=path, reason="wrong role")
    assert {record["role"] for record in refused} == {role.value for role in Role} - let_in
    assert {record["client"] for record in refused} == {"run"}


def test_every_route_says_who_may_use_it(here: Site) -> None:
    silent = []
    for route in cast(Litestar, here.server.draining.config.app).routes:
        for handler in getattr(route, "route_handlers", ()):
            said = any(isinstance(guard, Needs) for guard in handler.resolve_guards())
            if not said and not handler.opt.get(authentication.OPEN) and handler.http_methods != {"OPTIONS"}:
                silent.append(route.path)
    assert silent == ["/test/silent"]


def test_a_revoked_token_is_refused_at_once(here: Site) -> None:
    from scalebox.server.tokens import create_token, read_tokens, revoke_tokens  # noqa: PLC0415

    file = here.context.settings.server_tokens
    here.tokens["new"] = create_token(file, "new", Role.TRAINER)
    assert here.ask("new", "GET", "/test/trainers").status_code == 200
    assert [token.client for token in read_tokens(file)][-1] == "new"
    revoke_tokens(file, client="new")
    assert here.ask("new", "GET", "/test/trainers").status_code == 401


def test_who_shows_many_wrong_tokens_has_to_wait_and_right_ones_go_through(
    here: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "WRONG_TOKENS", 0)
    answer = here.http.get("/test/trainers", headers={"Authorization": "Bearer x"})
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert here.ask("trainer", "GET", "/test/trainers").status_code == 200


def test_attempts_are_counted_in_a_bounded_memory() -> None:
    attempts = Attempts()
    most = authentication.WRONG_TOKENS
    assert [attempts.wrong("a", 0.0)[0] for _ in range(3)] == [0.0, 0.0, 0.0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(authentication, "WRONG_TOKENS", 3)
        assert attempts.wrong("a", 10.0) == (50.0, 0)
        assert attempts.wrong("a", 59.5) == (1.0, 0)
        assert attempts.wrong("b", 10.0) == (0.0, 0)
        assert attempts.wrong("a", 60.0) == (0.0, 2), "the two that were not answered are told once"
        assert attempts.wrong("a", 61.0) == (0.0, 0)
        patched.setattr(authentication, "ALL_WRONG_TOKENS", 2)
        assert attempts.wrong("c", 61.0)[0] > 0
    assert most == authentication.WRONG_TOKENS
    for number in range(authentication._MOST_ADDRESSES + 10):
        attempts.wrong(str(number), 100.0)
    assert len(attempts) <= authentication._MOST_ADDRESSES


# --- without tokens ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "local"),
    [
        (("127.0.0.1", 80), True),
        (("127.8.9.1", 80), True),
        (("::1", 80), True),
        (("::ffff:127.0.0.1", 80), True),
        (("/run/scalebox.sock", None), True),
        (None, True),
        (("10.0.0.1", 80), False),
        (("192.168.1.2", 80), False),
        (("0.0.0.0", 80), False),  # noqa: S104  an address to be refused
        (("2001:db8::1", 80), False),
        (("fe80::1%eth0", 80), False),
        (("::ffff:10.0.0.1", 80), False),
    ],
)
def test_what_is_local_is_told_by_the_servers_own_address(server: Any, local: bool) -> None:
    assert is_local(server) is local


_FORGED = {"Host": "localhost", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "127.0.0.1", "Forwarded": "for=::1"}


@pytest.mark.parametrize(("base", "status"), [("http://127.0.0.1", 200), ("http://10.1.2.3", 403)])
def test_no_header_makes_a_request_local(base: str, status: int) -> None:
    context = Context(Settings(), cast(AsyncScaleBoxClient, None))
    app = Litestar(
        [silent], middleware=[authentication.authentication(context)], guards=[closed_unless_said],
        state=State({"context": context}),
    )  # fmt: skip
    with TestClient[Litestar](app, base_url=base) as http:
        assert http.get("/silent", headers=_FORGED).status_code == status


@pytest.mark.parametrize(
    ("host", "rebound"),
    [
        ("localhost:8080", False), ("127.0.0.1:8080", False), ("[::1]:8080", False), ("evil.example:8080", True),
        ("localhost.evil.example", True), ("", True), ("[", True),
    ],
)  # fmt: skip
def test_a_name_that_is_not_this_machines_is_refused_without_tokens(host: str, rebound: bool) -> None:
    assert is_rebound(("127.0.0.1", 80), host) is rebound
    assert not is_rebound(("/run/scalebox.sock", None), host)
    assert not is_rebound(None, host)


@pytest.mark.parametrize(
    ("origin", "cross_site"),
    [
        (None, False), ("http://127.0.0.1:8080", False), ("http://evil.example", True), ("null", True), ("", True),
        ("http://127.0.0.1:9090", True), ("http://localhost:8080", True), ("http://127.0.0.1:8080.evil.example", True),
    ],
)  # fmt: skip
def test_a_page_from_elsewhere_is_refused_without_tokens(origin: str | None, cross_site: bool) -> None:
    assert is_cross_site(("127.0.0.1", 8080), "127.0.0.1:8080", origin) is cross_site
    assert not is_cross_site(("/run/scalebox.sock", None), "localhost", origin)


@pytest.mark.parametrize("path", ["/v1/batches", "/run_code", "/api/v2/execute", "/submissions?wait=true"])
def test_a_page_from_elsewhere_runs_nothing_here(server: Server, path: str) -> None:
    """A browser sends such a request for any page, without asking first."""
    for headers in ({"Content-Type": "text/plain"}, {}):
        request = server.http.build_request(
            "POST", path, content=b"{}", headers={"Origin": "http://x.example", **headers}
        )
        assert server.http.send(request).status_code == 403
    assert server.http.post("/v1/batches", json={"samples": []}, headers={"Origin": server.url}).status_code == 202


@get("/silent", sync_to_thread=False)
def silent() -> str:
    return "seen"


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("10.0.0.1", 5), "10.0.0.1"),
        (("2001:db8:1:2:3::4", 5), "2001:db8:1:2::/64"),
        (("::ffff:10.0.0.1", 5), "::ffff:10.0.0.1"),
        (("", 0), "local"),
        (None, "local"),
    ],
)
def test_addresses_of_one_network_are_one(client: Any, address: str) -> None:
    assert address_of(cast(Any, {"client": client})) in (address, "::ffff:a00:1")
