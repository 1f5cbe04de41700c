"""The file of tokens: only hashes, only its owner's, and read anew when it changes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scalebox.cli.main import main
from scalebox.core.errors import InputError, SettingsError
from scalebox.server.principal import Principal, Role
from scalebox.server.tokens import TokenStore, create_token, read_tokens, revoke_tokens


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "tokens.jsonl")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["token", *arguments])


def test_a_token_is_its_clients_and_only_a_hash_of_it_is_kept(file: str) -> None:
    token = create_token(file, "run-7", Role.TRAINER, "a note")
    content = Path(file).read_text()
    assert token not in content
    assert hashlib.sha256(token.encode()).hexdigest() in content
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    store = TokenStore(file)
    assert store.find(token) == Principal("run-7", Role.TRAINER)
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    for other in ("", "sbx_", wrong, token + "A", token.upper(), "\ud800", hashlib.sha256(token.encode()).hexdigest()):
        assert store.find(other) is None


def test_changes_hold_at_the_next_request(file: str) -> None:
    old = create_token(file, "run-7", Role.TRAINER)
    store = TokenStore(file)
    new = create_token(file, "run-7", Role.TRAINER)
    policy = create_token(file, "run-7", Role.POLICY)
    assert store.find(old) == store.find(new) == Principal("run-7", Role.TRAINER)
    assert store.find(policy) == Principal("run-7", Role.POLICY)
    (gone,) = revoke_tokens(file, token_id=read_tokens(file)[0].id)
    assert gone.hash == hashlib.sha256(old.encode()).hexdigest()
    assert store.find(old) is None
    assert store.find(new) is not None
    assert len(revoke_tokens(file, client="run-7")) == 2
    assert store.find(new) is None


def test_a_file_that_breaks_lets_nobody_in_until_it_is_mended(file: str) -> None:
    token = create_token(file, "a", Role.TRAINER)
    store = TokenStore(file)
    content = Path(file).read_bytes()
    Path(file).write_bytes(content + b"{}\n")
    assert store.find(token) is None
    Path(file).write_bytes(content)
    assert store.find(token) is not None
    os.chmod(file, 0o644)
    assert store.find(token) is None
    os.chmod(file, 0o600)
    assert store.find(token) is not None
    os.unlink(file)
    assert store.find(token) is None


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("no json", "JSON"),
        ('{"client": "a", "role": "king", "hash": "%s", "created": ""}' % ("0" * 64), "role"),
        ('{"client": "a b", "role": "reader", "hash": "%s", "created": ""}' % ("0" * 64), "name of a client"),
        ('{"client": "a", "role": "reader", "hash": "0", "created": ""}', "64 hexadecimal"),
        ('{"client": "a", "role": "reader"}', "hash"),
    ],
)
def test_a_senseless_line_is_named(file: str, line: str, word: str) -> None:
    create_token(file, "a", Role.READER)
    with open(file, "a") as stream:
        stream.write(line + "\n")
    with pytest.raises(SettingsError, match=rf"^server_tokens: .*tokens.jsonl:2: .*{word}"):
        TokenStore(file)


def test_a_file_that_others_may_read_or_that_is_none_is_refused(file: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="scalebox token create"):
        TokenStore(file)
    create_token(file, "a", Role.READER)
    os.chmod(file, 0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        TokenStore(file)
    with pytest.raises(SettingsError, match="server_tokens"):
        TokenStore(str(tmp_path))


@pytest.mark.parametrize("client", ["", "local", "a b", "../x", "x" * 65, "é"])
def test_a_client_has_a_plain_name(file: str, client: str) -> None:
    with pytest.raises(InputError, match="client"):
        create_token(file, client, Role.READER)


def test_many_who_write_at_once_lose_nothing(file: str) -> None:
    threads = [threading.Thread(target=create_token, args=(file, f"c{number}", Role.READER)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {token.client for token in read_tokens(file)} == {f"c{number}" for number in range(8)}
    assert [path.name for path in Path(file).parent.iterdir()] == ["tokens.jsonl"]


def test_the_command(file: str) -> None:
    made = _run("create", "--client", "run-7", "--role", "trainer", "--note", "mine", "--file", file)
    assert made.exit_code == 0
    token = made.stdout.strip()
    assert TokenStore(file).find(token) == Principal("run-7", Role.TRAINER)
    (shown,) = json.loads(_run("list", "--file", file, "--json").stdout)["tokens"]
    assert (shown["client"], shown["role"], shown["note"]) == ("run-7", "trainer", "mine")
    listed = _run("list", "--file", file).stdout
    assert shown["id"] in listed
    assert token not in listed
    assert _run("revoke", "nothing", "--file", file).exit_code == 1
    assert _run("revoke", "--file", file).exit_code == 2
    assert _run("revoke", shown["id"], "--file", file).exit_code == 0
    assert read_tokens(file) == []


def test_the_command_takes_the_file_of_the_settings(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "server_tokens: no file" in _run("list").stderr
    monkeypatch.setenv("SCALEBOX_SERVER_TOKENS", file)
    assert _run("create", "--client", "a", "--role", "operator").exit_code == 0
    assert "operator" in _run("list").stdout
