"""The key of a result: everything that decides it, so that whatever is not named here is part of it."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from scalebox.core.sample import Match, Sample
from scalebox.core.settings import Settings

#: Settings that change no label and no text of a result. All others, new ones too, are part of the key.
_NO_MATTER = frozenset(
    "workers recycle_after max_pending prefetch batch_deadline_s result_log scratch_dir cache cache_dir cache_mb"
    " cache_audit build_cache_mb resident_compilers max_line_mb profile profiles reward extraction early_stop"
    " reverify_wait_s".split()
)
#: In the order in which things were given: that of files is the one in which they are linked.
_encode = msgspec.msgpack.Encoder().encode


class Keys(NamedTuple):
    """Under which a result is kept, and under which what its program did, whatever judges that."""

    verdict: bytes
    run: bytes


@functools.cache
def engine_version() -> str:
    """Return what stands for this version of the engine: a digest of its source, which a change of any kind changes."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(__file__).parents[1]
    for path in sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def environment(settings: Settings, tier: str, interpreter: Iterable[str], folders: Iterable[str]) -> bytes:
    """Return a digest of what a worker's results depend on beside the sample.

    `interpreter` says which Python runs samples; `folders` are those where it finds modules, whose entries count.
    """
    matters = {name: value for name, value in msgspec.structs.asdict(settings).items() if name not in _NO_MATTER}
    packages = [sorted(os.listdir(folder)) for folder in folders if os.path.isdir(folder)]
    parts = (engine_version(), os.uname().machine, tier, list(interpreter), packages, matters)
    return hashlib.blake2b(_encode(parts), digest_size=16).digest()


def keys_of(environment: bytes, sample: Sample, kind: str, form: bytes, toolchain: str) -> Keys:
    """Return the keys of a sample whose program is `form`, of a `kind`, and is built by a `toolchain`'s version."""
    bare = msgspec.structs.replace(sample.bare(), response=None, code=None)  # `form` says how it is written
    head = hashlib.blake2b(b"\0".join([environment, kind.encode(), form, toolchain.encode()]), digest_size=32).digest()
    unjudged = msgspec.structs.replace(bare, match=Match(), checker=None)
    return Keys(_digest(b"verdict", head, bare), _digest(b"run", head, unjudged))


def _digest(what: bytes, head: bytes, sample: Sample) -> bytes:
    return hashlib.blake2b(what + head + _encode(sample), digest_size=20).digest()
