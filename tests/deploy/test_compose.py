"""The Compose file, against the schema of the Compose specification, and for what keeps a container shut."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parents[2] / "deploy"
FILE = FOLDER / "compose.yaml"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return read


def errors(compose: dict[str, Any]) -> list[str]:
    schema = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_bytes())
    return [error.message for error in Draft202012Validator(schema).iter_errors(compose)]


def test_it_is_valid(compose: dict[str, Any]) -> None:
    assert errors(compose) == []


def test_the_schema_finds_a_slip_of_the_pen(compose: dict[str, Any]) -> None:
    server = compose["services"]["scalebox"]
    broken = compose | {"services": {"scalebox": {**server, "read_onyl": True}}}
    assert errors(broken) != []


@pytest.mark.parametrize("name", ["scalebox", "acceptance"])
def test_a_container_has_no_rights(compose: dict[str, Any], name: str) -> None:
    service = compose["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert service["read_only"] is True
    assert service["user"] == "10001:10001"
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "pid", "network_mode", "devices", "ports"} & service.keys()
    assert service.get("ipc") != "host"
    assert "/var/run/docker.sock" not in FILE.read_text(encoding="utf-8")


def test_nothing_gets_out_and_only_members_get_in(compose: dict[str, Any]) -> None:
    assert {network for service in compose["services"].values() for network in service["networks"]} == {"trainers"}
    assert compose["networks"]["trainers"] == {"internal": True}


def test_what_it_uses_is_bounded(compose: dict[str, Any]) -> None:
    server = compose["services"]["scalebox"]
    assert {"mem_limit", "cpus", "pids_limit", "shm_size"} <= server.keys()
    assert server["mem_limit"] == server["memswap_limit"]  # swapping would make time-outs
    assert all("size=" in mount for mount in server["tmpfs"])


def test_files_that_it_names_are_there(compose: dict[str, Any]) -> None:
    server = compose["services"]["scalebox"]
    (seccomp,) = [text for text in server["security_opt"] if text.startswith("seccomp=")]
    assert (FOLDER / _default(seccomp.removeprefix("seccomp="))).is_file()
    assert (FOLDER / server["build"]["context"] / _default(server["build"]["dockerfile"])).is_file()


def test_no_secret_is_in_it(compose: dict[str, Any]) -> None:
    assert all(secret.keys() == {"file"} for secret in compose["secrets"].values())
    assert not re.search(r"sb-|Bearer|password", FILE.read_text(encoding="utf-8"))


def _default(text: str) -> str:
    """Return the text with each ${NAME:-default} as its default."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)
