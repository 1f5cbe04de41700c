"""What a language declares: how its programs are built and run, and what that needs of the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec


class SelfTest(NamedTuple):
    """A program, what it reads, and what it then prints."""

    program: str
    stdin: str = "20 22\n"
    stdout: str = "42\n"


class Resident(NamedTuple):
    """A compiler that stays for many builds: what starts it, and how a command begins that it can stand for.

    It is told the rest of the command. It answers on its standard streams, by the protocol of
    `execute.jailed_resident`, and keeps nothing of a program.
    """

    start: tuple[str, ...]
    stands_for: tuple[str, ...]


def verbatim(text: str) -> str:
    """Return a word in which nothing is a placeholder."""
    return text.replace("{", "{{").replace("}", "}}")


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language, or one variant of it (another standard, another mode of its compiler).

    The words of `build`, `run` and `prepare` may name `{source}` (the source's file), `{program}` (the folder in which
    the built program lies), `{prepared}` (where `prepare` has put its files), `{memory_mb}` (the case's limit), every
    tool by its name, `{home}`, and whatever `layout` returns; so may the values of `env`, and `{tmp}`.
    A word with `{prepared}` is left out where that cannot be had, and so is one that comes out empty.
    """

    name: str
    title: str
    #: Other names that samples may use, and suffixes of source files, with their dot.
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    #: What a code fence calls it, where that is another language's name.
    tag: str = ""
    #: Programs that must be there; the first one tells the version when it is called with `version`.
    tools: tuple[str, ...] = ()
    version: tuple[str, ...] = ("--version",)
    #: A command that prints the folder of the toolchain, whose bin/ has the tools: for those behind a proxy.
    home: tuple[str, ...] = ()
    #: More that programs and compilers must be able to read: paths, shell patterns allowed.
    readable: tuple[str, ...] = ()
    source: str = "solution.txt"
    #: What depends on the text of the program, such as the name of its file: more placeholders, by name.
    layout: Callable[[str], dict[str, str]] | None = None
    #: Suffixes of further files of a program that go to the compiler too, after `{source}`.
    links: tuple[str, ...] = ()
    #: Commands to run, one after another; none of them runs the program.
    build: tuple[tuple[str, ...], ...] = ()
    #: Which files a build makes, as shell patterns below the working directory. Nothing: the source is the program.
    keep: tuple[str, ...] = ()
    #: What builds faster than `build`, and makes the same.
    resident: Resident | None = None
    run: tuple[str, ...] = ()
    #: What its runtime tries once by itself, as denials are named, and goes on without: no deed of the program's.
    tries: tuple[str, ...] = ()
    #: Files of ours that lie beside every program when it runs: name and text.
    beside: dict[str, str] = {}
    #: The file of `execute/programs` that puts tests around such programs. Nothing: there are no such tests.
    programs: str = ""
    #: Whether suites of test modules can be run: those of jest are the only ones outside Python.
    suites: bool = False
    env: dict[str, str] = {}
    #: Commands that make, once for each machine, what speeds up builds, and the files that must then be there.
    prepare: tuple[tuple[str, ...], ...] = ()
    prepared: tuple[str, ...] = ()
    #: A regular expression with the groups `line` and `message`, which finds the first error in the compiler's words.
    error: str = ""
    #: Whether its programs end at once where they cannot read of themselves in /proc, as in the `process` tier.
    needs_proc: bool = False
    #: Memory of the run-time system itself, which comes on top of what a case may use.
    overhead_mb: int = 0
    #: What such programs map without using it. Matters only where a limit on mappings stands in for a cgroup.
    mapped_mb: int = 0
    #: What a run-time system says that has ended a program for want of memory, and how that then ends.
    memory_text: str = ""
    memory_exit: int | None = None
    memory_signal: int | None = None
    #: How to get the toolchain on Debian.
    install: str = ""
    self_test: SelfTest

    def stays(self, prepared: str) -> bool:
        """Return whether there is a compiler that stays; some are `prepared`."""
        return self.resident is not None and (bool(prepared) or "{prepared}" not in self.resident.start)
