"""Settings: one table of fields with defaults and descriptions, and the order in which sources override it.

    defaults < file (TOML) < SCALEBOX_* environment < arguments

The file is `--config` or the `path` argument, else `$SCALEBOX_CONFIG`, else `scalebox.toml` in the
working directory where there is one.
"""

from __future__ import annotations

import difflib
import functools
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from scalebox.core.errors import InputError, SettingsError
from scalebox.core.limits import PROFILES, Limits, parse_limits

PREFIX = "SCALEBOX_"
CONFIG_VARIABLE = "SCALEBOX_CONFIG"
FILE_NAME = "scalebox.toml"

#: Not settings: the config's own name, the test suite's, and what Kubernetes sets for a service called scalebox.
_RESERVED = (CONFIG_VARIABLE, "SCALEBOX_TEST_", "SCALEBOX_SERVICE_", "SCALEBOX_PORT")
_MAX_FILE_BYTES = 1024 * 1024
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def _is(description: str, **bounds: Any) -> msgspec.Meta:
    return msgspec.Meta(description=description, **bounds)


_ModuleName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that may be set about an engine. `describe()` lists names, defaults and meanings."""

    workers: Annotated[
        int, _is("Worker processes; 0 takes the physical cores that affinity and cgroup quota leave.", ge=0, le=4096)
    ] = 0
    tier: Annotated[str, _is("Isolation tier by name; auto takes the strongest that works here.", min_length=1)] = (
        "auto"
    )
    interpreter: Annotated[
        str, _is("Path of the Python that runs samples; empty takes the one that runs ScaleBox.")
    ] = ""
    zygote: Annotated[
        Literal["auto", "bare", "scientific"],
        _is("What the sample's interpreter has loaded beforehand; auto goes by the sample's imports."),
    ] = "auto"
    preload: Annotated[
        tuple[_ModuleName, ...], _is("More modules that the sample's interpreter imports beforehand.")
    ] = ()
    recycle_after: Annotated[int, _is("Samples after which a worker is replaced by a fresh one.", ge=1)] = 2000
    max_pending: Annotated[int, _is("Samples that may wait in the queue; more are refused as QueueFull.", ge=1)] = (
        100_000
    )
    prefetch: Annotated[int, _is("Samples handed to a worker ahead of the one it runs.", ge=0, le=64)] = 1
    batch_deadline_s: Annotated[
        float, _is("Seconds after which a batch's unfinished samples become unknown; 0 is never.", ge=0, le=1e7)
    ] = 0.0
    extraction: Annotated[
        Literal["auto", "last", "first", "longest"], _is("Which code block of a response is the program.")
    ] = "auto"
    reward: Annotated[str, _is("Reward of samples that name none.", min_length=1)] = "pass_rate"
    profile: Annotated[str, _is("Limits profile of samples that name none.", min_length=1)] = "default"
    profiles: Annotated[
        dict[str, Limits],
        _is("More limits profiles: a table of limits each, over the profile named by its `base` (else default)."),
    ] = {}
    early_stop: Annotated[bool, _is("End a sample at its first failed case; the rest become not_run.")] = False
    share_state_free: Annotated[
        bool, _is("Run calls of one program in one process where it provably keeps no state.")
    ] = True
    text_limit: Annotated[
        int, _is("Bytes of stdout and of stderr that a case's result keeps.", ge=0, le=64 * 1024 * 1024)
    ] = 8192
    transcript_limit: Annotated[
        int, _is("Bytes of the conversation with an interactor that a case's result keeps.", ge=0, le=64 * 1024 * 1024)
    ] = 0
    max_line_mb: Annotated[int, _is("MiB of one input line; a longer one is unusable.", ge=1, le=4096)] = 128
    result_log: Annotated[str, _is("File that every result is appended to as a JSON line; empty is none.")] = ""
    audit_log: Annotated[
        str, _is("Folder of the audit log, whose records are chained and only appended; empty is none.")
    ] = ""
    audit_log_mb: Annotated[
        int, _is("MiB of one file of the audit log; each day has a new one too.", ge=1, le=4096)
    ] = 64
    audit_log_sync_s: Annotated[
        float,
        _is("Seconds until a record of the audit log is on disk; 0 waits for each.", ge=0, le=60),
    ] = 1.0
    readable: Annotated[tuple[str, ...], _is("More absolute host paths that programs may read.")] = ()
    scratch_dir: Annotated[
        str, _is("Directory for what the process tier writes; empty takes the system's temporary one.")
    ] = ""
    cache_dir: Annotated[
        str,
        _is("Folder for built programs and results; empty takes scalebox in the user's cache folder."),
    ] = ""
    build_cache_mb: Annotated[
        int, _is("MiB of built programs to keep in cache_dir; 0 builds every program anew.", ge=0, le=1 << 20)
    ] = 1024
    cache: Annotated[
        Literal["off", "on", "rejudge"],
        _is(
            "Keep results, and give them to samples that are the same program with the same tests; rejudge only"
            " judges kept outputs anew."
        ),
    ] = "off"
    cache_mb: Annotated[int, _is("MiB of results and outputs to keep in cache_dir.", ge=1, le=1 << 20)] = 512
    cache_audit: Annotated[
        float, _is("Share of results found in the cache that are run all the same, and compared.", ge=0, le=1)
    ] = 0.01
    resident_compilers: Annotated[
        bool, _is("Keep compilers of Java and TypeScript running between builds, one of each for each worker.")
    ] = True
    reverify_wait_s: Annotated[
        float,
        _is(
            "Seconds that a case in doubt waits to be run again alone before it is unknown; 0 is not at all.",
            ge=0,
            le=1e6,
        ),
    ] = 600.0
    cgroup: Annotated[
        Literal["auto", "off"], _is("Memory and process limits by cgroup where one is writable, or never.")
    ] = "auto"
    token: Annotated[str, _is("Token that a client shows to a server; never handed to an engine or its workers.")] = ""
    client_retry_s: Annotated[
        float, _is("Seconds for which a client tries again to reach a server that does not answer.", ge=0, le=86_400)
    ] = 30.0
    gather_ms: Annotated[
        float,
        _is("Milliseconds that single samples wait for others while a request of them is under way.", ge=0, le=1000),
    ] = 3.0
    gather_samples: Annotated[
        int, _is("Single samples that a client sends in one request; 1 sends each on its own.", ge=1, le=10_000)
    ] = 64
    daemon_idle_s: Annotated[
        float, _is('Seconds without a use after which the daemon of `ScaleBoxClient("auto")` ends.', gt=0, le=1e7)
    ] = 300.0
    server_host: Annotated[str, _is("Address that the server listens on.", min_length=1)] = "127.0.0.1"
    server_port: Annotated[int, _is("Port that the server listens on; 0 takes a free one.", ge=0, le=65535)] = 8080
    server_socket: Annotated[str, _is("Unix socket that the server listens on instead of a port.")] = ""
    server_tokens: Annotated[
        str, _is("File of the clients' tokens; empty asks for none, on the loopback address or a Unix socket alone.")
    ] = ""
    server_problems: Annotated[
        str, _is("Database of problems that samples may name instead of bringing tests; empty is none.")
    ] = ""
    server_policy_running: Annotated[
        int, _is("Programs that the policies of one client may have running at a time.", ge=1, le=100_000)
    ] = 64
    server_policy_kept: Annotated[
        int, _is("Programs of the policies of one client that the server remembers.", ge=1, le=1_000_000)
    ] = 1000
    server_policy_kept_mb: Annotated[
        int, _is("MiB that those and their results may take; the oldest are forgotten first.", ge=1, le=1 << 20)
    ] = 64
    server_max_body_mb: Annotated[int, _is("MiB of one request's body.", ge=1, le=1 << 12)] = 64
    server_connections: Annotated[int, _is("Connections at once; more are answered 503.", ge=1, le=1 << 16)] = 1000
    server_client_pending: Annotated[
        int, _is("Samples that one client may have in the server without a result.", ge=1)
    ] = 50_000
    server_journal: Annotated[
        str, _is("File of the batches that the server has taken; empty takes one in the user's state folder.")
    ] = ""
    server_journal_mb: Annotated[
        int, _is("MiB of batches to keep in the file; older finished ones go, then new ones are refused.", ge=1)
    ] = 4096
    server_keep_s: Annotated[float, _is("Seconds for which a finished batch can be fetched.", ge=0, le=1e7)] = 3600.0
    server_drain_s: Annotated[
        float, _is("Seconds that a server told to end gives to what it has taken; the rest waits for its return.", ge=0)
    ] = 30.0
    server_ready_s: Annotated[
        float, _is("Seconds for which a sample that passed shows that the server is ready.", gt=0, le=3600)
    ] = 10.0
    server_log: Annotated[
        Literal["debug", "info", "warning", "error"], _is("Least level of the server's log; debug names every sample.")
    ] = "info"
    server_telemetry_mb: Annotated[
        int, _is("MiB of results that the server's dashboard keeps to drill down into, the newest.", ge=0, le=1 << 16)
    ] = 64
    server_alert_window_s: Annotated[float, _is("Seconds of the stretch that alert rules look at.", ge=10, le=600)] = (
        60.0
    )
    server_alert_baseline_s: Annotated[
        float, _is("Seconds of the stretch before it that they compare it with.", ge=60, le=3000)
    ] = 900.0
    server_alert_min_samples: Annotated[int, _is("Results that a stretch must have for a rule to judge it.", ge=1)] = (
        100
    )
    server_alert_surge: Annotated[
        float, _is("Rise of a verdict's share of samples that raises verdict_surge.", gt=0, le=1)
    ] = 0.2
    server_alert_tail: Annotated[
        float, _is("Factor by which the 99th percentile of sample times grows that raises tail_growth.", gt=1)
    ] = 3.0
    server_alert_unknown: Annotated[
        float, _is("Share of unknown and internal_error samples that raises unknown_rise.", gt=0, le=1)
    ] = 0.02
    server_alert_throughput: Annotated[
        float, _is("Fall of throughput, as a share, that raises throughput_fall while samples wait.", gt=0, le=1)
    ] = 0.6
    server_alert_interception: Annotated[
        float, _is("Fall of the share of denied or risky samples that raises interception_fall.", gt=0, le=1)
    ] = 0.7
    server_alert_clear: Annotated[
        float, _is("Share of its threshold that a signal must fall to before its alert is cleared.", ge=0, le=1)
    ] = 0.7

    def cache_folder(self) -> str:
        """Return the folder that `cache_dir` stands for."""
        if self.cache_dir:
            return os.path.abspath(self.cache_dir)
        home = os.environ.get("XDG_CACHE_HOME", "")
        return os.path.join(home if os.path.isabs(home) else os.path.expanduser("~/.cache"), "scalebox")

    def limits_of(self, profile: str) -> Limits:
        """Return the limits of a built-in or user-defined profile; raises KeyError for an unknown one."""
        return self.profiles[profile] if profile in self.profiles else PROFILES[profile]

    def profile_names(self) -> tuple[str, ...]:
        """Return the names of all profiles, the built-in ones first."""
        return tuple(dict.fromkeys((*PROFILES, *self.profiles)))


class Described(msgspec.Struct, frozen=True):
    """One setting, for people."""

    name: str
    default: Any
    description: str


def describe() -> Iterator[Described]:
    """Yield every setting with its default and its meaning, in the table's order."""
    defaults = Settings()
    for name, annotation in _annotations().items():
        meta = annotation.__metadata__[0]
        yield Described(name, getattr(defaults, name), meta.description)


def load(path: str | None = None, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Return the settings of this process: `overrides` over `environ` (os.environ) over the file over defaults.

    An override of None counts as not given. Raises SettingsError, which names the setting, its
    source and the mend, for a setting that is unknown or makes no sense.
    """
    environ = os.environ if environ is None else environ
    given = [
        _from_file(path, environ),
        _from_environment(environ),
        {name: (_check(name, value, "argument"), "argument") for name, value in overrides.items() if value is not None},
    ]
    values = {name: found for source in given for name, found in source.items()}
    settings = Settings(**{name: value for name, (value, _) in values.items()})
    if settings.profile not in settings.profile_names():
        known = ", ".join(settings.profile_names())
        where = values["profile"][1]
        raise SettingsError(f"{where}: profile: no profile is called {settings.profile!r} (one of {known})")
    return settings


def _from_file(path: str | None, environ: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Return the settings of the file by name, each with its source."""
    named = path or environ.get(CONFIG_VARIABLE)
    file = named or FILE_NAME
    try:
        with open(file, "rb") as stream:
            data = stream.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        if named is None:
            return {}
        raise SettingsError(f"{file}: no such file (check --config and {CONFIG_VARIABLE})") from None
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from None
    if len(data) > _MAX_FILE_BYTES:
        raise SettingsError(f"{file}: more than {_MAX_FILE_BYTES} bytes, no settings file (check its path)")
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file}: not TOML: {error}") from None
    return {name: (_check(name, value, file), file) for name, value in table.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    values = {}
    for variable, text in environ.items():
        if variable.startswith(PREFIX) and not variable.startswith(_RESERVED):
            name = variable.removeprefix(PREFIX).lower()
            values[name] = _check(name, _from_text(name, text, variable), variable), variable
    return values


def _from_text(name: str, text: str, source: str) -> Any:
    """Return the text of a variable as the value that a file would hold."""
    kind = _annotations()[name].__origin__ if name in _annotations() else str
    if kind is bool:
        folded = text.strip().lower()
        if folded not in _TRUE + _FALSE:
            raise SettingsError(f"{source}: must be true or false, not {text!r}")
        return folded in _TRUE
    if kind is int or kind is float:
        try:
            return kind(text)
        except ValueError:
            noun = "a whole number" if kind is int else "a number"
            raise SettingsError(f"{source}: must be {noun}, not {text!r}") from None
    if get_origin(kind) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if get_origin(kind) is dict:
        raise SettingsError(f"{source}: {name} is a table, which a variable cannot hold (put it in {FILE_NAME})")
    return text


def _check(name: str, value: Any, source: str) -> Any:
    annotation = _annotations().get(name)
    if annotation is None:
        close = difflib.get_close_matches(name, _annotations(), n=1)
        mend = f"did you mean {close[0]}?" if close else f"one of {', '.join(_annotations())}"
        raise SettingsError(f"{source}: no setting is called {name!r} ({mend})")
    if name == "profiles":
        return _check_profiles(value, source)
    if name == "readable" and any(isinstance(item, str) and not item.startswith("/") for item in _items(value)):
        raise SettingsError(f"{source}: readable: paths must be absolute, not {value!r}")
    try:
        return msgspec.convert(value, annotation)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{source}: {name}: {_complaint(value, annotation, str(error))}") from None


def _items(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else ()


#: What msgspec says of a value of the wrong type or size, and the same for people.
_EXPECTED = re.compile(r"Expected `(\w+)`(?: ([<>]=?) ([^\s,]+))?")
_RELATIONS = {">=": "{} or more", ">": "more than {}", "<=": "at most {}", "<": "less than {}"}
_NOUNS = {"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false", "array": "a list"}


def _complaint(value: Any, annotation: Any, text: str) -> str:
    kind = annotation.__origin__
    if get_origin(kind) is Literal:
        return f"{value!r} is none of {', '.join(get_args(kind))}"
    found = _EXPECTED.match(text)
    if found is None:
        expected = text.partition(" - at ")[0].replace("`", "")
        return f"{value!r} makes no sense: {expected[:1].lower()}{expected[1:]}"
    noun, relation, bound = found.groups()
    reach = f", {_RELATIONS[relation].format(bound.removesuffix('.0'))}" if relation else ""
    return f"{value!r} makes no sense ({_NOUNS.get(noun, noun)}{reach})"


def _check_profiles(value: Any, source: str) -> dict[str, Limits]:
    if not isinstance(value, Mapping):
        raise SettingsError(f"{source}: profiles must be a table of tables (as in [profiles.big] cpu_s = 8.0)")
    profiles: dict[str, Limits] = {}
    for name, given in value.items():
        where = f"{source}: profiles.{name}"
        if isinstance(given, Limits):
            profiles[name] = given
            continue
        if not isinstance(given, Mapping):
            raise SettingsError(f"{where} must be a table of limits (as in cpu_s = 8.0)")
        base = given.get("base", "default")
        known = {**PROFILES, **profiles}
        if not isinstance(base, str) or base not in known:
            raise SettingsError(f"{where}.base: no earlier profile is called {base!r} (one of {', '.join(known)})")
        try:
            profiles[name] = parse_limits(
                {key: limit for key, limit in given.items() if key != "base"}, known[base], field=f"profiles.{name}"
            )
        except InputError as error:
            raise SettingsError(f"{source}: {error}") from None
    return profiles


@functools.cache
def _annotations() -> dict[str, Any]:
    return get_type_hints(Settings, include_extras=True)
