"""The fingerprint of a sample's program: what it is apart from how it is written, as far as nobody can see that."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterator
from typing import NamedTuple

from scalebox.core.sample import AssertTest, CallTest, HarnessTest, ProgramTest, PytestTest, Sample, StdinTest, Test
from scalebox.gate import determinism, determinism_words, fingerprint_tokens
from scalebox.gate.fingerprint_python import compiled


class Fingerprint(NamedTuple):
    """A program's identity. `reason` says why its results are not to be kept, "" where they are.

    `text` identifies the source as it is written, `form` what it is; `kind` says how `form` was found: by "text",
    "bytecode" or "tokens".
    """

    reason: str = ""
    kind: str = "text"
    form: bytes = b""
    text: bytes = b""


def fingerprint(sample: Sample, source: str, version: str) -> Fingerprint:
    """Return the fingerprint of `source`, the program of `sample`; never raises, and never runs any of it.

    `version` is that of the Python that runs samples.
    """
    if sample.interactor is not None:
        return Fingerprint("what an interactor says may vary")
    # Where the program becomes a part of something larger, its own form is not the whole.
    alone = not sample.solution_files and not isinstance(sample.tests[0], ProgramTest)
    if sample.language != "python":
        return _of_tokens(sample, source, alone)
    if sample.solution_files:
        return Fingerprint("it comes with files of its own")
    # A Python that compiles other code, or refuses what this one takes, is not to be compared by what this one makes.
    alike = version.split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    own = {sample.main.removesuffix(".py"), *(_module_of(name) for name in _files(sample))}
    return _of_python(source.encode("utf-8", "surrogatepass"), _texts(sample), frozenset(own), alone and alike)


def _of_tokens(sample: Sample, source: str, alone: bool) -> Fingerprint:
    reason = determinism_words.reason_of(sample.language, "\n".join([source, *_texts(sample)]), sample.solution_files)
    if reason:
        return Fingerprint(reason)
    text = _digest(source.encode("utf-8", "surrogatepass"))
    form = fingerprint_tokens.tokens(sample.language, source) if alone else None
    return Fingerprint("", "tokens", form, text) if form else Fingerprint("", "text", text, text)


@functools.lru_cache(maxsize=1024)
def _of_python(source: bytes, tests: tuple[str, ...], own: frozenset[str], comparable: bool) -> Fingerprint:
    reason = determinism.tests_reason(tests, own)
    if reason:
        return Fingerprint(reason)
    found = compiled(source, keep_names=determinism.tests_see_texts(tests))
    if found is None:
        return Fingerprint("it cannot be compiled here, so nothing is known of it")
    reason = determinism.reason_of(found.tree)
    if reason:
        return Fingerprint(reason)
    text = _digest(source)
    return Fingerprint("", "bytecode", found.digest, text) if comparable else Fingerprint("", "text", text, text)


def _digest(source: bytes) -> bytes:
    return hashlib.blake2b(source, digest_size=16).digest()


def _tests_of_code(sample: Sample) -> tuple[Test, ...]:
    """Return the tests where they are code, else none: all of a sample's are of one kind."""
    return () if isinstance(sample.tests[0], StdinTest | CallTest) else sample.tests


def _files(sample: Sample) -> Iterator[str]:
    """Yield the names of the tests' files."""
    for test in _tests_of_code(sample):
        if isinstance(test, PytestTest):
            yield from test.files


def _module_of(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _texts(sample: Sample) -> tuple[str, ...]:
    """Return all program text that runs beside the program."""
    texts = [sample.setup, *sample.solution_files.values()]
    for test in _tests_of_code(sample):
        if isinstance(test, AssertTest | HarnessTest):
            texts.append(test.source)
        elif isinstance(test, ProgramTest):
            texts += (test.prefix, test.suffix)
        elif isinstance(test, PytestTest):
            texts += test.files.values()
    return tuple(texts)
