"""Which samples will keep a worker with a compiler: the engine's guess, made without a look at the disk.

It decides the order in which samples are verified, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import msgspec

from scalebox.core.sample import Sample, StdinTest
from scalebox.languages.registry import languages

_MOST = 100_000


class ExpectedBuilds:
    """Remembers what was built, as long as builds are kept. For one thread that learns, and any number that ask."""

    def __init__(self, *, kept: bool) -> None:
        self._kept = kept
        self._built: OrderedDict[bytes, None] = OrderedDict()

    def key(self, sample: Sample) -> bytes:
        """Return what stands for the program that is built of a sample; b"" where nothing is."""
        language = languages().get(sample.language)
        if language is None or not language.keep:
            return b""  # a check of the syntax takes no longer than a run
        # A program that reads its input is the same with all tests; others are built with what calls them.
        plain = all(isinstance(test, StdinTest) for test in sample.tests)
        parts = (sample.language, sample.code, sample.response, sample.solution_files, None if plain else sample.tests)
        return hashlib.blake2b(msgspec.msgpack.encode(parts), digest_size=16).digest()

    def expects(self, key: bytes) -> bool:
        """Return whether a sample with this key is likely to be compiled."""
        return bool(key) and key not in self._built

    def learn(self, key: bytes) -> None:
        """Take note of a program that was built, and ran."""
        if key and self._kept:
            self._built[key] = None
            self._built.move_to_end(key)
            if len(self._built) > _MOST:
                self._built.popitem(last=False)
