"""Isolation: programs under test that call out, and that read files of the machine. They run in jails only."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from scalebox.acceptance.model import Check, Failed
from scalebox.core.errors import InputError
from scalebox.core.result import VerificationResult
from scalebox.core.verdicts import Verdict

#: Printed by no program: what a probe says is not taken for a right answer.
_NEVER = "scalebox-acceptance-never\n"
_LIMITS = {"cpu_s": 10, "wall_s": 60}
_CONTROL_S = 5.0
#: A probe is never right; where walls stand in the jail, their denial is its verdict.
_REFUSED = frozenset({Verdict.RESOURCE_DENIED, Verdict.OUTPUT_MISMATCH})

#: Where nothing under test may get through to: a name in public, and the place where clouds hand out credentials.
PUBLIC = ("a public name=example.com:443", "the metadata address=169.254.169.254:80")
#: What nothing under test may read, beside the canary.
FILES = ("/etc/shadow", "/var/run/secrets/kubernetes.io/serviceaccount/token")

# A connection that is refused by the other end has reached it, except on the jail's own loopback interface.
_CALL_OUT = """
import errno, json, socket, sys
def reach(host, port):
    try:
        socket.create_connection((host, port), 2).close()
    except socket.gaierror as error:
        return "dropped: no name service"
    except OSError as error:
        answered = error.errno in (errno.ECONNREFUSED, errno.ECONNRESET) and not host.startswith("127.")
        return ("reached: " if answered else "dropped: ") + (errno.errorcode.get(error.errno) or str(error))
    return "reached: connected"
def send(host, port):  # heard by the canary alone
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"hello", (host, port))
    except OSError:
        pass
told = {}
for name, host, port in json.load(sys.stdin):
    told[name] = reach(host, port)
    send(host, port)
print(json.dumps(told))
"""

_READ = """
import json, sys
PATHS = %r
told = {}
for path in PATHS:
    try:
        with open(path, "rb") as file:
            data = file.read(4096)
        told[path] = "read: %%d bytes" %% len(data) if data else "nothing"
        sys.stderr.write(data.decode("latin-1"))
    except OSError as error:
        told[path] = "nothing: %%s" %% type(error).__name__
print(json.dumps(told))
"""


class Target(msgspec.Struct, frozen=True):
    """A place that no program under test may reach."""

    name: str
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Target:
        """Return the target that `[NAME=]HOST:PORT` names; raises InputError."""
        name, _, address = text.rpartition("=")
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            mend = "[NAME=]HOST:PORT, such as 'the database=10.0.0.7:5432'"
            raise InputError(f"no target: {text!r}", field="--target", mend=mend)
        return cls(name or address, host.strip("[]"), int(port))


class Canary:
    """A listener on this machine's loopback interface, and a file with a secret word that everybody may read."""

    def __init__(self, path: str = "") -> None:
        """Listen, and write the file, unless there is one at `path` already, as the deployment sees it."""
        self.secret = "" if path else secrets.token_hex(16)
        self._folder = None if path else tempfile.TemporaryDirectory(prefix="scalebox-acceptance-")
        self.path = path or self._write()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(self._tcp.getsockname())
        for listener in (self._tcp, self._udp):
            listener.setblocking(False)

    def _write(self) -> str:
        assert self._folder is not None
        folder = Path(self._folder.name)
        folder.chmod(0o755)
        path = folder / "evaluation.jsonl"
        path.write_text(json.dumps({"problem": "held out", "answer": self.secret}), encoding="utf-8")
        path.chmod(0o644)
        return str(path)

    @property
    def target(self) -> Target:
        """The listener, as a target."""
        host, port = self._tcp.getsockname()
        return Target("loopback", host, port)

    def control(self) -> None:
        """Call the listener from here, and demand that it hears it: one that hears nobody proves nothing."""
        address = self._tcp.getsockname()
        with (
            socket.create_connection(address, _CONTROL_S),
            contextlib.closing(socket.socket(type=socket.SOCK_DGRAM)) as s,
        ):
            s.sendto(b"hello", address)
            heard = self.calls()
        if heard != ["TCP", "UDP"]:
            raise Failed(f"the canary on loopback is deaf: it heard {heard} of this process's own calls")

    def calls(self) -> list[str]:
        """Return over what somebody has called since the last time."""
        heard = []
        with contextlib.suppress(BlockingIOError):
            self._tcp.accept()[0].close()
            heard.append("TCP")
        with contextlib.suppress(BlockingIOError):
            self._udp.recv(100)
            heard.append("UDP")
        return heard

    def close(self) -> None:
        """Remove everything."""
        self._tcp.close()
        self._udp.close()
        if self._folder is not None:
            self._folder.cleanup()


def checks(canary: Canary, targets: Sequence[Target], files: Sequence[str] = FILES) -> Iterator[Check]:
    """Yield the checks of isolation."""
    places = [(target.name, target.host, target.port) for target in targets]
    yield Check(
        name="isolation.network",
        why="A program that reaches anything can fetch answers, send tests out, and attack what it finds.",
        mend="deny egress (NetworkPolicy, an internal network) and use the namespace or process tier: scalebox doctor",
        sample=_sample(_CALL_OUT, json.dumps(places)),
        judge=lambda result: _judge_calls(result, [target.name for target in targets], canary),
        verdicts=_REFUSED,
    )
    paths = [canary.path, *files]
    yield Check(
        name="isolation.files",
        why="A program that reads the evaluation set or a credential scores without solving anything.",
        mend="keep data and secrets off the workers' machines and images; probe with scalebox doctor --conformance",
        sample=_sample(_READ % (paths,), ""),
        judge=lambda result: _judge_files(result, paths, canary.secret),
        verdicts=_REFUSED,
    )


def _sample(code: str, stdin: str) -> dict[str, object]:
    return {"code": code, "tests": [{"stdin": stdin, "stdout": _NEVER}], "limits": _LIMITS}


def _judge_calls(result: VerificationResult, names: Sequence[str], canary: Canary) -> str:
    heard = canary.calls()
    if heard:
        raise Failed(f"a program under test called this machine's loopback interface by {' and '.join(heard)}")
    told = _told(result)
    through = [f"{name} ({told.get(name, 'not tried')})" for name in names if not _says(told, name, "dropped")]
    if through:
        raise Failed(f"not dropped: {'; '.join(through)}")
    return f"dropped: {', '.join(names)}; {_denied(result)}"


def _judge_files(result: VerificationResult, paths: Sequence[str], secret: str) -> str:
    if secret and secret in msgspec.json.encode(result).decode():
        raise Failed("the secret of the canary file came out")
    told = _told(result)
    read = [f"{path} ({told.get(path, 'not tried')})" for path in paths if not _says(told, path, "nothing")]
    if read:
        raise Failed(f"not refused: {'; '.join(read)}")
    return f"{len(paths)} files gave nothing, {os.path.basename(paths[0])} among them; {_denied(result)}"


def _says(told: dict[str, str], name: str, word: str) -> bool:
    return told.get(name, "").startswith(word)


def _denied(result: VerificationResult) -> str:
    return f"denied: {', '.join(result.denied)}" if result.denied else "nothing had to be denied"


def _told(result: VerificationResult) -> dict[str, str]:
    """Return what the probe says of its attempts: its program is ours, so its word is taken."""
    text = result.cases[0].stdout if result.cases else ""
    try:
        return msgspec.json.decode(text, type=dict[str, str])
    except msgspec.DecodeError:
        raise Failed(f"the probe did not run to its end: {result.verdict} {result.message or text[-200:]}") from None
