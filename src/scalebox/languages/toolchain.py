"""Toolchains on this machine: where the tools of a language are, and which version."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path

import msgspec

from scalebox.core import file_lock
from scalebox.languages.language import Language
from scalebox.languages.registry import languages

_PROBE_S = 60.0
_PREPARE_S = 300.0
#: Where toolchains put themselves that PATH may not name.
_MORE_FOLDERS = ("/usr/local/go/bin", "/usr/lib/go/bin", "~/.cargo/bin")


class Toolchain(msgspec.Struct, frozen=True):
    """What builds and runs programs of one language here. `readable` are the folders that it needs outside of /usr."""

    language: str
    tools: Mapping[str, str]
    home: str
    version: str
    readable: tuple[str, ...]


class Missing(Exception):
    """A language's toolchain is not here; the text says what is missing."""


@functools.cache
def toolchain(name: str) -> Toolchain:
    """Find the toolchain of the language `name` and ask it for its version. Raises Missing."""
    language = languages()[name]
    paths = {tool: _which(tool) for tool in language.tools}
    absent = [tool for tool, path in paths.items() if not path]
    if absent:
        raise Missing(f"toolchain missing: no {' and no '.join(absent)} for {language.title}")
    home = ""
    if language.home:
        home = _ask(language, [paths[language.home[0]], *language.home[1:]])
        paths |= {tool: f"{home}/bin/{tool}" for tool in paths if os.path.exists(f"{home}/bin/{tool}")}
    asked = [word.format(home=home) if home else word for word in language.version]
    version = _ask(language, [paths[language.tools[0]], *asked])
    roots = {home} if os.path.isdir(home) else set()
    for path in paths.values():
        real = os.path.realpath(path)
        if not real.startswith(("/usr/", "/bin/", "/lib/")):
            roots.add(os.path.dirname(os.path.dirname(real)))
    readable = (*sorted(roots), *(found for pattern in language.readable for found in sorted(glob(pattern))))
    return Toolchain(name, paths, home, version, readable)


def identity_of(found: Toolchain) -> str:
    """Return what tells a toolchain from any other that was or will be here: its version, and that of each tool's file.

    What runs a program may change, and its compiler may not; either may, and this process go on.
    """
    parts = [found.version]
    for tool, path in sorted(found.tools.items()):
        with contextlib.suppress(OSError):
            real = os.path.realpath(path)
            about = os.stat(real)
            parts.append(f"{tool}={real} {about.st_size} {about.st_mtime_ns}")
    return "\0".join(parts)


def _which(tool: str) -> str:
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *map(os.path.expanduser, _MORE_FOLDERS)]
    return shutil.which(tool, path=os.pathsep.join(folders)) or ""


def _ask(language: Language, command: Sequence[str]) -> str:
    """Return the first line that a tool prints."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_S, check=True, stdin=subprocess.DEVNULL)
        return (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        raise Missing(f"toolchain missing: {command[0]} for {language.title} does not run ({error})") from None


def prepare(found: Toolchain, folder: str) -> str:
    """Make below `folder` what speeds up builds of this language; return where it is, "" where there is nothing.

    It is made once for each version, by whichever process comes first, and never by or from a sample. Raises Missing
    where it was not made in time: what builds with it must not be blamed for that.
    """
    language = languages()[found.language]
    if not language.prepare or not folder:
        return ""
    key = hashlib.sha256(repr((language.prepare, found.version, sorted(found.tools.items()))).encode()).hexdigest()[:16]
    place = Path(folder, "prepared", f"{language.name}-{key}")
    try:
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            with _locked(f"{place}.lock") as lock:
                if not place.is_dir():
                    _prepare(language, found, place, lock)
        return str(place)
    except subprocess.TimeoutExpired:
        why = f"what speeds up builds in {language.title} was not made within {_PREPARE_S:g} s"
        raise Missing(f"{why} (run scalebox doctor --prepare before samples come)") from None
    except (OSError, subprocess.SubprocessError):
        return ""


@contextlib.contextmanager
def _locked(path: str) -> Iterator[int]:
    with open(path, "wb") as file, file_lock.held(file.fileno()):
        yield file.fileno()


def _prepare(language: Language, found: Toolchain, place: Path, lock: int) -> None:
    """Make it beside its place. Compilers have the lock too: where this process is killed, they go on for a while."""
    made = f"{place}.part"
    shutil.rmtree(made, ignore_errors=True)  # of one that was killed
    os.mkdir(made)
    try:
        words = {"prepared": made, "home": found.home, **found.tools}
        for file in language.prepared:
            Path(made, file).parent.mkdir(parents=True, exist_ok=True)
        for command in language.prepare:
            line = [word.format_map(words) for word in command]
            subprocess.run(
                line, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PREPARE_S, check=True, cwd=made,
                pass_fds=(lock,),
            )  # fmt: skip
        if all(Path(made, file).is_file() for file in language.prepared):
            for path, _, files in os.walk(made):
                os.chmod(path, 0o755)  # noqa: S103 - samples run as a user of their own
                for file in files:
                    os.chmod(os.path.join(path, file), 0o644)
            os.rename(made, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)
