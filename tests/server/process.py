"""A server in a process of its own, with scripted workers unless told otherwise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx

DRIVER = str(Path(__file__).parent / "driver.py")
REAL = ("-c", "from scalebox.cli.main import main; main()")


class Process:
    """A server in a process of its own."""

    def __init__(self, *arguments: str, driver: tuple[str, ...] = (DRIVER,), env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-P", *driver, "serve", "--json", "--workers", "2", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | (env or {}), text=True
        )
        self.log: list[str] = []
        assert self.process.stderr is not None
        self._reading = threading.Thread(target=self.log.extend, args=(self.process.stderr,))
        self._reading.start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.end()
            raise AssertionError(f"exit code {self.process.returncode}: {''.join(self.log)}")
        self.said: dict[str, Any] = json.loads(line)
        url = self.said["url"]
        unix = url.removeprefix("unix://") if url.startswith("unix://") else None
        transport = httpx.HTTPTransport(uds=unix) if unix else None
        self.http = httpx.Client(
            base_url="http://server" if unix else url, transport=transport, timeout=60, trust_env=False
        )

    def submit(self, samples: list[dict[str, Any]], key: str | None = None) -> str:
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = self.http.post("/v1/batches", json={"samples": samples}, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["batch_id"])

    def results(self, batch: str) -> Any:
        return self.http.get(f"/v1/batches/{batch}/results", params={"wait_s": 60}).json()

    def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.end()

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> int:
        code = self.process.wait(60)
        self._reading.join(60)
        if hasattr(self, "http"):
            self.http.close()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code
