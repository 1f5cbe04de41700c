"""The dashboard in a real browser: it loads, follows what happens, opens up to a case, raises alerts, on any screen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest
from litestar import Litestar
from litestar.exceptions import NotAuthorizedException
from litestar.types import ASGIApp, Receive, Scope, Send
from tests.server.chromium import PROGRAM, Page
from tests.server.feed import USUAL, Clock, Feed
from tests.server.serving import listening

from scalebox.core import events
from scalebox.core.result import CaseResult, VerificationResult
from scalebox.core.settings import Settings
from scalebox.core.verdicts import Verdict
from scalebox.server.errors import HANDLERS
from scalebox.server.principal import Principal, Role
from scalebox.server.routes import dashboard
from scalebox.server.telemetry import Telemetry

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs chromium, which `make toolchains` installs")

#: Tokens of the test's own server, and whose they are.
TOKENS = {b"Bearer of-operator": Role.OPERATOR, b"Bearer of-reader": Role.READER, b"Bearer of-trainer": Role.TRAINER}
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
READY = "document.querySelector('svg[data-chart=verdicts]') && document.querySelector('#link').textContent === 'Live'"


class Site:
    """A server of the dashboard alone, and the feed of what it shows."""

    def __init__(self, url: str, feed: Feed) -> None:
        self.url = f"{url}/dashboard"
        self.feed = feed


def locked(app: ASGIApp) -> ASGIApp:
    """Return the application behind tokens."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        role = TOKENS.get(dict(scope["headers"]).get(b"authorization", b""))
        if role is None and not scope["path"].startswith("/dashboard"):
            raise NotAuthorizedException("no token, or a wrong one")
        scope["user"] = Principal("test", role or Role.POLICY)
        await app(scope, receive, send)

    return wrapped


def open_to_all(app: ASGIApp) -> ASGIApp:
    """Return the application as it is without tokens."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        scope["user"] = Principal("local", Role.OPERATOR)
        await app(scope, receive, send)

    return wrapped


@pytest.fixture(scope="module")
def make_site() -> Iterator[Callable[..., Site]]:
    """Return how to start a site; all of them end with the module."""
    with ExitStack() as stack:

        def make(door: Any = open_to_all) -> Site:
            clock = Clock()
            feed = Feed(Telemetry(Settings(), capacity=2, clock=clock), clock)
            feed.workers(2)
            for _ in range(3):
                feed.batch(100, seconds=40)
            context: Any = SimpleNamespace(telemetry=feed.telemetry, draining=False)
            app = Litestar(dashboard.handlers(context), middleware=[door], exception_handlers=HANDLERS)
            url = stack.enter_context(listening(app, lambda: setattr(context, "draining", True)))
            return Site(url, feed)

        yield make


@pytest.fixture(scope="module")
def site(make_site: Callable[..., Site]) -> Site:
    """Return a site that no test changes."""
    return make_site()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Page(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture
def page(browser: Page) -> Iterator[Page]:
    """Return a tab on an ordinary screen, which must have had nothing to complain of in the end."""
    browser.look_like(width=1440, height=1000)
    browser.complaints.clear()
    yield browser
    complaints = list(browser.complaints)
    browser.go("about:blank")
    browser.wait_for("location.href === 'about:blank'")
    assert complaints == []


def visit(page: Page, site: Site, hash_: str = "") -> None:
    page.go("about:blank")
    page.wait_for("location.href === 'about:blank'")
    page.go(f"{site.url}{hash_}")
    page.wait_for("document.readyState === 'complete' && document.querySelector('#link').textContent === 'Live'")


def says(text: str) -> str:
    return f"document.querySelector('main').innerText.includes({json.dumps(text)})"


def test_it_loads_and_says_what_telemetry_says(page: Page, site: Site) -> None:
    visit(page, site)
    page.wait_for(READY)
    seen = site.feed.telemetry.overview(900)
    assert page.evaluate("document.title") == "ScaleBox"
    label = page.evaluate("document.querySelector('svg[data-chart=verdicts]').getAttribute('aria-label')")
    share = f"passed {seen.counts.verdicts['passed'] / 3:.0f}\u202f%"
    assert share in label
    assert page.evaluate(says("of 300 samples"))
    assert page.evaluate("document.querySelectorAll('tbody tr').length") == 3
    assert page.evaluate("document.querySelectorAll('svg[data-chart=times] rect').length") >= len(seen.work.counts)
    assert page.evaluate("document.querySelectorAll('.alert').length") == 0


def test_it_follows_what_happens(page: Page, make_site: Callable[..., Site]) -> None:
    site = make_site()
    visit(page, site)
    page.wait_for(says("of 300 samples"))
    batch_id = site.feed.accept(50)
    for index in range(10):
        site.feed.clock.now += 1
        site.feed.finish(batch_id, index)
    page.wait_for(says("of 310 samples"))
    page.wait_for(says("10 of 50"))
    page.click(f'a[href="#/batch/{batch_id}"]')
    page.wait_for(says("all 10"))
    for index in range(10, 50):
        site.feed.clock.now += 1
        site.feed.finish(batch_id, index)
    site.feed.end(batch_id)
    page.wait_for(says("all 50"))
    page.wait_for("document.querySelector('.head .badge').textContent === 'done'")


def test_it_opens_up_to_a_case_by_keyboard(page: Page, site: Site) -> None:
    visit(page, site)
    page.wait_for(READY)
    failed = next(row for row in batch_rows(site) if row.verdict not in (Verdict.PASSED, Verdict.UNKNOWN))
    page.evaluate("document.querySelector('tbody a').focus()")
    page.press("Enter")
    page.wait_for("document.querySelector('svg[data-chart=batch-times]')")
    page.evaluate(f"document.querySelector('a[href$=\"sample/{failed.index}\"]').focus()")
    page.press("Enter")
    page.wait_for("document.querySelector('pre.code')")
    page.evaluate("document.querySelector('tbody tr:last-child a').focus()")
    page.press("Enter")
    page.wait_for("document.querySelector('#case')")
    text = page.evaluate("document.querySelector('#case').innerText")
    assert "Case 19" in text
    assert "line 1, token 1: expected '42', got '41'" in text
    assert page.evaluate("document.querySelectorAll('.crumbs li').length") == 4
    page.evaluate("history.back()")
    page.wait_for("!document.querySelector('#case') && document.querySelector('pre.code')")


def batch_rows(site: Site) -> list[Any]:
    batch_id = site.feed.telemetry.batches(1)[0].batch_id
    detail = site.feed.telemetry.batch(batch_id, limit=100)
    assert detail is not None
    return detail.rows


def test_a_verdict_filters_the_samples(page: Page, site: Site) -> None:
    batch_id = site.feed.telemetry.batches(1)[0].batch_id
    visit(page, site, f"#/batch/{batch_id}")
    page.wait_for("document.querySelectorAll('tbody tr').length === 100")
    passed = site.feed.telemetry.batches(1)[0].verdicts["passed"]
    page.click("a[href$='verdict=passed']")
    page.wait_for(f"document.querySelectorAll('tbody tr').length === {passed}")
    assert page.evaluate("document.querySelector('.chip[aria-current]').innerText") == f"passed {passed}"


def test_it_raises_an_alert_and_clears_it(page: Page, make_site: Callable[..., Site]) -> None:
    site = make_site()
    visit(page, site)
    page.wait_for(READY)
    for _ in range(3):
        site.feed.batch(100, seconds=25, mixture={**USUAL, Verdict.COMPILE_ERROR: 200})
    page.wait_for("document.querySelector('.alert')")
    text = page.evaluate("document.querySelector('#alerts').innerText")
    assert "A verdict surges" in text
    assert "compile_error is" in text
    assert page.evaluate("document.title") == "(1) ScaleBox"
    assert page.evaluate("document.querySelector('#alerts').getAttribute('aria-live')") == "assertive"
    for _ in range(4):
        site.feed.batch(100, seconds=25)
    page.wait_for("!document.querySelector('.alert') && document.title === 'ScaleBox'")


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (768, "light")])
def test_it_fits_any_screen(page: Page, site: Site, width: int, scheme: str) -> None:
    page.look_like(width=width, height=800, scheme=scheme, mobile=width < 700)
    batch_id = site.feed.telemetry.batches(1)[0].batch_id
    for hash_, there in {
        "": READY,
        f"#/batch/{batch_id}": "document.querySelector('svg[data-chart=batch-times]')",
        f"#/batch/{batch_id}/sample/3/case/19": "document.querySelector('#case')",
    }.items():
        visit(page, site, hash_)
        page.wait_for(there)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        outside = page.evaluate(
            "[...document.querySelectorAll('main a, main td, main dd, main dt, main h1, main h2')]"
            ".filter((e) => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)"
            ".map((e) => e.textContent)"
        )
        assert outside == []


def test_the_theme_is_chosen_and_kept(page: Page, site: Site) -> None:
    visit(page, site)
    themes = []
    for _ in range(3):
        page.click("#theme")
        themes.append(page.evaluate("[document.documentElement.dataset.theme, localStorage.getItem('scalebox.theme')]"))
    assert themes == [["light", "light"], ["dark", "dark"], ["light", "auto"]]


def test_charts_are_read_with_the_keyboard(page: Page, site: Site) -> None:
    visit(page, site)
    page.wait_for(READY)
    page.evaluate("document.querySelector('svg[data-chart=times]').focus()")
    page.press("ArrowLeft")
    page.wait_for(
        "!document.querySelector('#tip').hidden && /samples? ·/.test(document.querySelector('#tip').innerText)"
    )
    first = page.evaluate("document.querySelector('#tip').innerText")
    page.press("ArrowLeft")
    page.wait_for(f"document.querySelector('#tip').innerText !== {json.dumps(first)}")
    page.press("Escape")
    page.wait_for("document.querySelector('#tip').hidden")


def test_whatever_can_be_used_has_a_name(page: Page, site: Site) -> None:
    batch_id = site.feed.telemetry.batches(1)[0].batch_id
    page.call("Accessibility.enable")
    used = {"button", "link", "radio", "textbox", "image", "img", "table", "navigation", "dialog", "group"}
    for hash_, there in {"": READY, f"#/batch/{batch_id}/sample/3/case/0": "document.querySelector('#case')"}.items():
        visit(page, site, hash_)
        page.wait_for(there)
        nodes = [node for node in page.call("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        roles = {node["role"]["value"] for node in nodes}
        assert {"link", "radio", "button", "table"} <= roles
        nameless = [node for node in nodes if node["role"]["value"] in used and not node.get("name", {}).get("value")]
        assert nameless == []
    page.call("Accessibility.disable")


def test_hostile_text_stays_text(page: Page, make_site: Callable[..., Site]) -> None:
    site = make_site()
    telemetry, now = site.feed.telemetry, site.feed.clock.now
    case = CaseResult(id=HOSTILE, verdict=Verdict.OUTPUT_MISMATCH, stdout=HOSTILE, stderr=HOSTILE, detail=HOSTILE)
    result = VerificationResult(
        id=HOSTILE, problem_id=HOSTILE, verdict=Verdict.OUTPUT_MISMATCH, code=HOSTILE, message=HOSTILE, cases=[case],
        denied=[HOSTILE], tier=HOSTILE,
    )  # fmt: skip
    telemetry(events.BatchAccepted(now, "hostile?#", 1))
    telemetry(events.SampleFinished(now, "hostile?#", result, 0))
    visit(page, site)
    page.wait_for(says("hostile?#"))
    page.click("tbody a")
    page.wait_for(says(HOSTILE))
    page.click("tbody a")
    page.wait_for("document.querySelector('pre.code')")
    page.click("tbody a")
    page.wait_for("document.querySelector('#case')")
    assert page.evaluate("document.querySelectorAll('main img').length") == 0
    assert page.evaluate("document.title") == "ScaleBox"
    assert page.evaluate("document.querySelector('pre.code').innerText") == HOSTILE


def test_a_token_opens_it_and_stays_in_the_tab(page: Page, make_site: Callable[..., Site]) -> None:
    site = make_site(locked)
    page.go(site.url)
    for token, complaint in (("wrong", "does not know this token"), ("of-trainer", "may not see the dashboard")):
        page.wait_for("document.querySelector('#login')?.open")
        page.evaluate("document.querySelector('#token').focus()")
        page.type(token)
        page.press("Enter")
        page.wait_for(f"document.querySelector('#login-error').innerText.includes({json.dumps(complaint)})")
    page.evaluate("document.querySelector('#token').focus()")
    page.type("of-reader")
    page.press("Enter")
    page.wait_for(READY)
    assert not page.evaluate("document.querySelector('#login').open")
    assert page.evaluate("[sessionStorage.getItem('scalebox.token'), localStorage.length, document.cookie]") == [
        "of-reader", 0, "",
    ]  # fmt: skip
    batch_id = site.feed.telemetry.batches(1)[0].batch_id
    page.evaluate(f"location.hash = '#/batch/{batch_id}/sample/0/case/19'")
    page.wait_for("document.querySelector('#case')")
    assert "is for operators" in page.evaluate("document.querySelector('#case').innerText")
    page.click("#leave")
    page.wait_for("document.querySelector('#login')?.open && sessionStorage.length === 0")
    page.complaints[:] = [
        text for text in page.complaints if "status of 401" not in text and "status of 403" not in text
    ]


def test_what_is_not_there_says_so(page: Page, site: Site) -> None:
    visit(page, site, "#/batch/none")
    page.wait_for(says("no such batch"))
    page.complaints[:] = [text for text in page.complaints if "status of 404" not in text]


def test_a_server_that_has_seen_nothing_says_so(page: Page) -> None:
    context: Any = SimpleNamespace(telemetry=Telemetry(Settings(), capacity=2), draining=False)
    app = Litestar(dashboard.handlers(context), middleware=[open_to_all], exception_handlers=HANDLERS)
    with listening(app, lambda: setattr(context, "draining", True)) as url:
        page.go(f"{url}/dashboard")
        for text in ("No samples yet", "No batches yet", "No workers yet", "No trajectories"):
            page.wait_for(says(text))
        page.go("about:blank")
