"""A headless Chromium, driven by the DevTools protocol over a pipe: no port, no driver, no network but loopback."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-default-apps --disable-extensions --disable-dev-shm-usage
    --mute-audio --hide-scrollbars --remote-debugging-pipe""".split()
#: Loopback is all that it can reach.
_RESOLVER = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
#: The browser reads commands from descriptor 3 and writes answers to 4, which have other numbers here.
_START = """
import os, sys
commands, answers = int(sys.argv[1]), int(sys.argv[2])
os.dup2(commands, 3); os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE_S = 90.0


class Page:
    """One tab. Use it as a context manager; it takes its profile and its processes with it."""

    def __init__(self, profile: Path) -> None:
        assert PROGRAM is not None
        command_end, self._commands = _pipe()
        self._answers, answer_end = _pipe()
        self._waiting = b""
        self._number = 0
        self.complaints: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(command_end), str(answer_end), PROGRAM, *_FLAGS, _RESOLVER,
             f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(command_end, answer_end),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(profile), "TZ": "UTC", "LANG": "C.UTF-8"},
        )  # fmt: skip
        os.close(command_end)
        os.close(answer_end)
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        finally:
            self._process.wait()
            os.close(self._commands)
            os.close(self._answers)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its answer."""
        self._number += 1
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": self._number, "method": method, "params": parameters, **session}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _PATIENCE_S
        while True:
            answer = self._next(until - time.monotonic())
            self._note(answer)
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])

    def go(self, url: str) -> None:
        """Load a page; `wait_for` says when it is there."""
        self.call("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, of a promise what it comes to."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        """Wait until a JavaScript expression is true, and return its value."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            look = f"const found = (() => {{ try {{ return {condition}; }} catch {{ return null; }} }})(); found"
            promise = (
                "new Promise((done) => { const end = Date.now() + 1000; const look = () => {"
                f"{look} || Date.now() > end ? done(found instanceof Node || found) : setTimeout(look, 30);"
                " }; look(); })"
            )
            if found := self.evaluate(promise):
                return found
        raise AssertionError(f"never came true: {condition}\n{self.text()[:2000]}")

    def text(self) -> str:
        """Return what is to be read on the page."""
        return str(self.evaluate("document.body.innerText"))

    def click(self, selector: str) -> None:
        """Click on the middle of the first element that is like `selector`."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait_for(f"{found}.scrollIntoView({{block: 'center'}}) ?? true")
        at = self.evaluate(
            f"(({{x, y, width, height}}) => ({{x: x + width / 2, y: y + height / 2}}))({found}.getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def press(self, key: str) -> None:
        """Press a key by its DOM name."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def type(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def look_like(self, *, width: int, height: int, scheme: str = "light", mobile: bool = False) -> None:
        """Set the size of the window, and the colour scheme of the system."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of the window, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def _next(self, patience_s: float) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, patience_s))
            assert ready, "the browser does not answer"
            data = os.read(self._answers, 1 << 16)
            assert data, "the browser has gone"
            self._waiting += data
        message, _, self._waiting = self._waiting.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, message: dict[str, Any]) -> None:
        """Keep what the page's console complains of, refusals by its content policy among it."""
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(message["params"]["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.complaints.append(str(message["params"]["entry"]["text"]))


def _pipe() -> tuple[int, int]:
    """Return a pipe of descriptors beyond 3 and 4."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16))
        os.close(end)
    return ends[0], ends[1]
