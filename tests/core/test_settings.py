"""Settings: order of sources, refusals that name the setting and the mend, and their documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.errors import SettingsError
from scalebox.core.limits import PROFILES, Limits
from scalebox.core.settings import Settings, describe, load

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "given.toml"
    path.write_text(text)
    return str(path)


def test_defaults() -> None:
    assert load(environ={}) == Settings()


def test_each_source_overrides_the_one_before(tmp_path: Path) -> None:
    path = _file(tmp_path, "workers = 1\nprefetch = 2\ntext_limit = 3\n")
    environ = {"SCALEBOX_PREFETCH": "4", "SCALEBOX_TEXT_LIMIT": "5"}
    settings = load(path, environ, text_limit=6, tier=None)
    assert (settings.workers, settings.prefetch, settings.text_limit, settings.tier) == (1, 4, 6, "auto")


def test_file_of_the_working_directory_and_of_the_variable(tmp_path: Path) -> None:
    (tmp_path / "scalebox.toml").write_text("workers = 3\n")
    assert load(environ={}).workers == 3
    assert load(environ={"SCALEBOX_CONFIG": _file(tmp_path, "workers = 4\n")}).workers == 4


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("SCALEBOX_WORKERS", "2", 2),
        ("SCALEBOX_BATCH_DEADLINE_S", "1.5", 1.5),
        ("SCALEBOX_EARLY_STOP", "Yes", True),
        ("SCALEBOX_SHARE_STATE_FREE", "off", False),
        ("SCALEBOX_READABLE", "/opt/data, /srv", ("/opt/data", "/srv")),
        ("SCALEBOX_PRELOAD", "", ()),
        ("SCALEBOX_TIER", "process", "process"),
    ],
)
def test_environment(variable: str, text: str, expected: Any) -> None:
    name = variable.removeprefix("SCALEBOX_").lower()
    assert getattr(load(environ={variable: text}), name) == expected


def test_variables_that_are_no_settings_are_left_alone() -> None:
    others = {
        "SCALEBOX_TEST_DATA": "/data",
        "SCALEBOX_SERVICE_HOST": "10.0.0.1",
        "SCALEBOX_PORT_80_TCP": "tcp://10.0.0.1:80",
        "PATH": "/bin",
    }
    assert load(environ=others) == Settings()


@pytest.mark.parametrize(
    ("environ", "parts"),
    [
        ({"SCALEBOX_WORKERS": "two"}, ["SCALEBOX_WORKERS", "whole number", "'two'"]),
        ({"SCALEBOX_WORKERS": "-1"}, ["SCALEBOX_WORKERS", "workers", "-1", "0 or more"]),
        ({"SCALEBOX_WORKRES": "1"}, ["SCALEBOX_WORKRES", "'workres'", "did you mean workers?"]),
        ({"SCALEBOX_ZZZ": "1"}, ["SCALEBOX_ZZZ", "'zzz'", "one of workers, tier"]),
        ({"SCALEBOX_EARLY_STOP": "maybe"}, ["SCALEBOX_EARLY_STOP", "true or false"]),
        ({"SCALEBOX_BATCH_DEADLINE_S": "nan"}, ["SCALEBOX_BATCH_DEADLINE_S", "nan"]),
        ({"SCALEBOX_BATCH_DEADLINE_S": "inf"}, ["SCALEBOX_BATCH_DEADLINE_S", "inf"]),
        ({"SCALEBOX_ZYGOTE": "fat"}, ["SCALEBOX_ZYGOTE", "'fat'", "auto, bare, scientific"]),
        ({"SCALEBOX_PROFILES": "{}"}, ["SCALEBOX_PROFILES", "table", "scalebox.toml"]),
        ({"SCALEBOX_PROFILE": "huge"}, ["SCALEBOX_PROFILE: profile", "'huge'", "default, rlvr, agent, contest"]),
        ({"SCALEBOX_READABLE": "data"}, ["SCALEBOX_READABLE", "absolute"]),
        ({"SCALEBOX_PRELOAD": "os; evil"}, ["SCALEBOX_PRELOAD", "preload"]),
        ({"SCALEBOX_CONFIG": "/nowhere.toml"}, ["/nowhere.toml", "no such file", "SCALEBOX_CONFIG"]),
    ],
)
def test_senseless_environment(environ: dict[str, str], parts: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(environ=environ)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("workers = ", ["given.toml", "not TOML"]),
        ("workers = true", ["given.toml", "workers: True makes no sense (a whole number)"]),
        ("workers = 'x'", ["given.toml", "workers: 'x' makes no sense (a whole number)"]),
        ("server_port = 99999", ["server_port: 99999 makes no sense (a whole number, at most 65535)"]),
        ("early_stop = 1", ["early_stop: 1 makes no sense (true or false)"]),
        ("colour = 'red'", ["given.toml", "'colour'"]),
        ("profiles = 3", ["given.toml", "profiles must be a table of tables"]),
        ("profile = 'huge'", ["given.toml: profile", "'huge'", "default, rlvr"]),
        ("[profiles]\nbig = 3", ["given.toml", "profiles.big must be a table of limits"]),
        ("[profiles.big]\ncpu = 3", ["given.toml", "profiles.big.cpu", "no such limit"]),
        ("[profiles.big]\ncpu_s = -3", ["given.toml", "profiles.big.cpu_s", "makes no sense"]),
        ("[profiles.big]\nbase = 'small'", ["given.toml", "profiles.big.base", "'small'", "default"]),
        ("x = 1\n" * 200_000, ["given.toml", "no settings file"]),
    ],
)
def test_senseless_file(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(_file(tmp_path, text), environ={})
    for part in parts:
        assert part in str(caught.value)


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load(str(tmp_path), environ={})


def test_profiles_build_on_one_another(tmp_path: Path) -> None:
    text = "profile = 'b'\n[profiles.a]\nbase = 'rlvr'\nmemory_mb = 64\n[profiles.b]\nbase = 'a'\ntimeout_sec = 5\n"
    settings = load(_file(tmp_path, text), environ={})
    expected = msgspec.structs.replace(PROFILES["rlvr"], memory_mb=64, wall_s=5.0)
    assert settings.limits_of("b") == expected
    assert settings.limits_of("default") == Limits()
    assert settings.profile_names() == ("default", "rlvr", "agent", "contest", "judge", "a", "b")


def test_senseless_argument_and_unknown_argument() -> None:
    with pytest.raises(SettingsError, match="argument: workers"):
        load(environ={}, workers="3")
    with pytest.raises(SettingsError, match="argument: profile: no profile is called 'huge'"):
        load(environ={"SCALEBOX_PROFILE": "rlvr"}, profile="huge")
    with pytest.raises(SettingsError, match="did you mean tier"):
        load(environ={}, teir="auto")


def test_settings_survive_json() -> None:
    settings = load(environ={}, profiles={"a": {"cpu_s": 1}}, readable=["/x"], preload=["json"])
    assert msgspec.json.decode(msgspec.json.encode(settings), type=Settings) == settings


@given(st.dictionaries(st.sampled_from([*Settings.__struct_fields__, "other"]), st.text(max_size=20), max_size=4))
def test_any_environment_is_settings_or_a_settings_error(values: dict[str, str]) -> None:
    environ = {f"SCALEBOX_{name.upper()}": text for name, text in values.items()}
    try:
        assert isinstance(load(environ=environ), Settings)
    except SettingsError as error:
        assert str(error)  # noqa: PT017 (either outcome is right)


def test_every_setting_says_what_it_means() -> None:
    described = {item.name: item for item in describe()}
    assert list(described) == list(Settings.__struct_fields__)
    assert all(item.description.endswith(".") for item in described.values())


def test_every_setting_is_in_the_reference_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([^|]*)` \|", DOCS.read_text(), re.MULTILINE))
    assert list(rows) == list(Settings.__struct_fields__)
    for item in describe():
        assert rows[item.name] == _as_toml(item.default), item.name


def _as_toml(value: Any) -> str:
    texts = {"()": "[]", "True": "true", "False": "false"}
    return texts.get(str(value), f'"{value}"' if isinstance(value, str) else str(value))
