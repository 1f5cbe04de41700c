"""What a program was refused is told to those who listen, for the audit log."""

from __future__ import annotations

from typing import Any

from tests.engine.conftest import Harness

from scalebox.core import events
from scalebox.core.settings import Settings
from scalebox.engine import Engine
from scalebox.parse import parse_sample

_SOCKET = "import socket\nsocket.socket()\nprint(1)\n"
_TRIES = "import socket\ntry:\n    socket.socket()\nexcept OSError:\n    pass\nprint(1)\n"
_READS = "open('/proc/1/mem', 'rb')\n"
_HONEST = "print(1)\n"


def test_each_denial_is_told_once_and_names_the_thing() -> None:
    heard: list[Any] = []
    settings = Settings(workers=1)
    programs = {"socket": _SOCKET, "tries": _TRIES, "reads": _READS, "honest": _HONEST}
    samples = [
        parse_sample(
            {"id": name, "code": code, "tests": [{"id": "only", "stdin": "", "stdout": "1\n"}]}, settings=settings
        )
        for name, code in programs.items()
    ]
    engine = Engine(settings, sinks=[heard.append])
    try:
        results = {result.id: result for result in Harness(engine, heard).fetch(engine.submit(samples))}
    finally:
        engine.close()
    denials = {event.sample_id: event for event in heard if isinstance(event, events.AccessDenied)}
    assert set(denials) == {"socket", "tries", "reads"}
    assert results["socket"].verdict == results["reads"].verdict == "resource_denied"
    assert (results["tries"].verdict, results["tries"].risk) == ("passed", "medium")
    assert {name: denial.case_id for name, denial in denials.items()} == {
        "socket": "only",
        "tries": "",
        "reads": "only",
    }
    assert all(list(denial.what) == results[name].denied for name, denial in denials.items())
    assert "network" in denials["socket"].what[0]
    assert "/proc/1/mem" in denials["reads"].what[0]
