"""Ten thousand requests, rude ones among them, and a server that is killed again and again."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.server.conftest import sample
from tests.server.process import Process

pytestmark = pytest.mark.hostile

REQUESTS, CLIENTS, KILLS = 10_000, 8, 5
GARBAGE = (b"", b"{", b"[]", b"\x00" * 100, b'{"samples": [{"id": "x"}]}', b'{"samples": ' + b"[" * 5000, b"\xc1\xff")
TYPES = ("application/json", "application/msgpack", "text/html", "")


class Chaos:
    """What the clients have done, and what they were answered."""

    def __init__(self, server: Process) -> None:
        self.server = server
        self.taken: dict[str, str] = {}
        self.answers: Counter[int] = Counter()
        self.left = REQUESTS
        self.lock = threading.Lock()
        self.hanging: list[socket.socket] = []

    def one_more(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def act(self, number: int) -> None:
        """Send requests until there were enough; those that find no server are sent again."""
        chance = random.Random(number)  # noqa: S311  (no secret)
        with httpx.Client(timeout=60, trust_env=False) as http:
            count = 0
            while self.one_more():
                count += 1
                key = f"{number}-{count if chance.random() < 0.9 else chance.randint(1, count)}"
                deed = chance.choices((self.submit, self.ask, self.babble, self.hang), (70, 15, 10, 5))[0]
                while True:
                    try:
                        deed(http, key, chance)
                        break
                    except (httpx.TransportError, OSError):
                        continue  # killed; the next one is about to start

    def submit(self, http: httpx.Client, key: str, _: random.Random) -> None:
        samples = [sample(f"{key}.{at}", f"#{key}.{at}") for at in range(2)]
        answer = http.post(self.url("/v1/batches"), json={"samples": samples}, headers={"Idempotency-Key": key})
        self.answers[answer.status_code] += 1
        if answer.status_code == 202:
            batch = answer.json()["batch_id"]
            assert self.taken.setdefault(key, batch) == batch

    def ask(self, http: httpx.Client, _: str, chance: random.Random) -> None:
        batch = chance.choice(list(self.taken.values()) or ["none"])
        path = chance.choice(("", "/results?wait_s=0", "/results?wait_s=x", "/stream", "/nothing"))
        self.answers[http.get(self.url(f"/v1/batches/{batch}{path}")).status_code] += 1

    def babble(self, http: httpx.Client, _: str, chance: random.Random) -> None:
        content = chance.choice((*GARBAGE, bytes(1_100_000)))
        headers = {"Content-Type": chance.choice(TYPES)}
        self.answers[http.post(self.url("/v1/batches"), content=content, headers=headers).status_code] += 1

    def hang(self, _: httpx.Client, __: str, chance: random.Random) -> None:
        """Leave a connection half-closed, or open with a stream that nobody reads."""
        place = urlsplit(self.server.said["url"])
        made = socket.create_connection((place.hostname, place.port))
        batch = chance.choice(list(self.taken.values()) or ["none"])
        head = chance.choice((f"GET /v1/batches/{batch}/stream", "POST /v1/batches"))
        made.sendall(f"{head} HTTP/1.1\r\nHost: x\r\nContent-Length: {90 if 'POST' in head else 0}\r\n\r\n".encode())
        if chance.random() < 0.5:
            made.shutdown(socket.SHUT_WR)
        with self.lock:
            self.hanging.append(made)
            old = self.hanging.pop(0) if len(self.hanging) > 100 else None
        if old is not None:
            old.close()

    def url(self, path: str) -> str:
        return str(self.server.said["url"]) + path

    def close(self) -> None:
        for each in self.hanging:
            each.close()
        self.server.kill()


@pytest.fixture
def chaos(tmp_path: Path) -> Iterator[Chaos]:
    made = Chaos(start(tmp_path, 0))
    yield made
    made.close()


def start(folder: Path, port: int) -> Process:
    limits = {"SCALEBOX_SERVER_MAX_BODY_MB": "1", "SCALEBOX_SERVER_LOG": "warning"}
    return Process("--port", str(port), "--journal", str(folder / "journal.db"), env=limits)


def memory_mb(server: Process) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found.group(1)) / 1024


def test_nothing_is_lost_or_doubled_and_nothing_is_a_500(chaos: Chaos, tmp_path: Path) -> None:
    port = urlsplit(chaos.server.said["url"]).port
    assert port is not None
    clients = [threading.Thread(target=chaos.act, args=(number,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for kill in range(1, KILLS + 1):
        while chaos.left > REQUESTS * (1 - kill / (2 * KILLS)):
            clients[0].join(0.01)
        chaos.server.kill()
        chaos.server = start(tmp_path, port)
    early = memory_mb(chaos.server)
    for client in clients:
        client.join()
    late = memory_mb(chaos.server)

    assert set(chaos.answers) <= {200, 202, 400, 404, 413, 415}, chaos.answers
    assert len(chaos.taken) > REQUESTS / 3
    for key, batch in chaos.taken.items():
        answer: Any = chaos.server.results(batch)
        assert [result["id"] for result in answer["results"]] == [f"{key}.0", f"{key}.1"]
        stream = chaos.server.http.get(f"/v1/batches/{batch}/stream").text
        data = [json.loads(line[6:]) for line in stream.split("\n") if line.startswith("data: ")]
        assert sorted(each.get("id", "") for each in data) == ["", f"{key}.0", f"{key}.1"]
    assert late - early < 100, "MiB, for half of all requests"
    assert not [line for line in chaos.server.log if '"error"' in line]
    assert chaos.server.terminate() == 0
