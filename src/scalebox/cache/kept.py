"""One worker's view of the cache: finds a sample's result, keeps one, and has some that it found run again."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TypeVar

import msgspec

from scalebox.cache.key import Keys
from scalebox.cache.store import Store
from scalebox.core.result import CaseResult, Timings, VerificationResult
from scalebox.core.sample import Sample
from scalebox.core.verdicts import DOUBTFUL, Verdict

_T = TypeVar("_T")

#: Lookups after which their counts are written.
_COUNT_AFTER = 200
#: What of a failure's words another spelling of the program would not say: names of local variables, line numbers.
_OF_ONE_SPELLING = re.compile(r"(?:local|free|cell) variable|\bline \d")


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """A result, without whose it is, and which text of the program gave it."""

    text: bytes
    result: VerificationResult


class Run(msgspec.Struct, array_like=True, frozen=True):
    """What a program did, as `execute.replay` writes it, and which text of the program did it."""

    text: bytes
    recorded: bytes


_encode = msgspec.msgpack.Encoder().encode
_entry = msgspec.msgpack.Decoder(Entry)
_run = msgspec.msgpack.Decoder(Run)


class Kept:
    """What is kept of the results of this and other workers, for samples that are not to be run again.

    `share` of what is found is to be run all the same, to see that the cache can be trusted; with `rejudge`, results
    are not found, but only what programs did.
    """

    def __init__(self, store: Store, *, share: float, rejudge: bool = False) -> None:
        self._store = store
        self._share = share
        self._rejudge = rejudge
        self._counts: Counter[str] = Counter()

    def lookup(self, sample: Sample, kind: str, keys: Keys, text: bytes) -> Lookup:
        """Return what is known of a sample whose program has the fingerprint in `keys`, and is the text `text`."""
        return Lookup(self, self._store, sample, fingerprint=(kind, text), keys=keys, rejudge=self._rejudge)

    def audits(self) -> bool:
        """Return whether what was found now is to be run all the same."""
        return random.random() < self._share  # noqa: S311 - a sample, not a secret

    def count(self, what: str) -> None:
        """Count an outcome of a lookup; written now and then, and when the cache is closed."""
        self._counts[what] += 1
        if self._counts.total() >= _COUNT_AFTER:
            self.flush()

    def flush(self) -> None:
        """Write the counts."""
        if self._counts:
            self._store.count(**self._counts)
            self._counts.clear()

    def close(self) -> None:
        """Write the counts, and close the store."""
        self.flush()
        self._store.close()


class Lookup:
    """One sample at the cache."""

    def __init__(
        self, kept: Kept, store: Store, sample: Sample, *, fingerprint: tuple[str, bytes], keys: Keys, rejudge: bool
    ) -> None:
        self._kept = kept
        self._store = store
        self._sample = sample
        self._language = sample.language
        self._kind, self._text = fingerprint
        self._keys = keys
        self._rejudge = rejudge
        #: Whether what was found came of this very text.
        self._same = True

    # --- found ---------------------------------------------------------------------------------------

    def result(self, code: str) -> VerificationResult | None:
        """Return the sample's result, `code` its program; None where it has to be found out."""
        data = None if self._rejudge else self._store.get(self._keys.verdict)
        entry = _decoded(_entry, data)
        if entry is None or not self._usable(entry.text):
            return None
        if not self._same and not _speaks_for_others(entry.result):
            return None
        return self._own(entry.result, code)

    def recorded(self) -> bytes | None:
        """Return what the program did, to be judged anew; None where it has to be run."""
        run = _decoded(_run, self._store.get(self._keys.run))
        return run.recorded if run is not None and self._usable(run.text) else None

    def _usable(self, text: bytes) -> bool:
        self._same = text == self._text
        return not any(self._store.is_off(kind) for kind in self._classes())

    def _classes(self) -> tuple[str, ...]:
        """Return the classes that what was found belongs to: it rests on programs doing the same again, at least."""
        same = f"{self._language}/text"
        return (same,) if self._same else (same, f"{self._language}/{self._kind}")

    def _own(self, result: VerificationResult, code: str) -> VerificationResult:
        """Make a result this sample's. Its texts are those of its own spelling, or there are none."""
        result.id, result.problem_id, result.code = self._sample.id, self._sample.problem_id, code
        result.cached, result.timings = True, Timings()
        if not self._same:
            for case in result.cases:
                case.stderr = ""
        return result

    def owned(self, result: VerificationResult) -> VerificationResult:
        """Mark a result that was judged anew from what was `recorded`."""
        return self._own(result, result.code)

    def counted(self, *, found: bool) -> None:
        """Count this lookup."""
        self._kept.count("misses" if not found else "hits" if self._same else "hits_other_text")

    # --- kept ----------------------------------------------------------------------------------------

    def audited(self) -> bool:
        """Return whether what was found is to be had by a run too."""
        return self._kept.audits()

    def keep(self, result: VerificationResult, recorded: bytes | None) -> None:
        """Keep a result that is certain, and what the program did where that was recorded."""
        if not is_certain(result, self._sample):
            return
        kind = f"{self._language}/{self._kind}"
        bare = msgspec.structs.replace(result, id="", problem_id=None, meta=None, code="")
        self._store.put(self._keys.verdict, kind, _encode(Entry(self._text, bare)))
        if recorded is not None:
            self._store.put(self._keys.run, f"{kind} run", _encode(Run(self._text, recorded)))

    def compare(self, kept: VerificationResult, fresh: VerificationResult) -> None:
        """Compare what was found with what a run gave. A class that is wrong is not used any more."""
        self._kept.count("audited")
        differ = _differences(kept, fresh)
        if not differ:
            return
        self._kept.count("disagreements")
        self._store.drop(self._keys.verdict)
        self._store.drop(self._keys.run)
        # A limit on time may be met once, and not another time: that says nothing of the program.
        certain = not any(Verdict.TIME_OUT in pair or DOUBTFUL & set(pair) for pair in differ)
        self._store.disagree(
            self._classes()[-1], self._sample.id, str(differ[0][0]), str(differ[0][1]), certain=certain
        )


def is_certain(result: VerificationResult, sample: Sample) -> bool:
    """Return whether a run of the same would end the same: nothing is doubted, or rests on the clock or the host."""
    return bool(result.cases) and all(_case_is_certain(case, sample) for case in result.cases)


def _case_is_certain(case: CaseResult, sample: Sample) -> bool:
    match case.verdict:
        case Verdict.UNKNOWN | Verdict.INTERNAL_ERROR:
            return False
        case Verdict.TIME_OUT:
            # By the clock, or where it took two runs to say, others on the machine may have been to blame.
            return case.cpu_s >= sample.limits.cpu_s and case.attempts == 1
        case Verdict.COMPILE_ERROR:
            return case.detail.startswith("line ")  # what a compiler found; not how long it took, or what it ran out of
        case Verdict.RESOURCE_DENIED:
            return case.detail.startswith("denied: ")  # by the kernel; a full disk may be the host's
        case _:
            return True


def _speaks_for_others(result: VerificationResult) -> bool:
    """Return whether a result may be told of another spelling of the program."""
    return not any(
        case.verdict == Verdict.COMPILE_ERROR or _OF_ONE_SPELLING.search(case.detail) for case in result.cases
    )


def _differences(kept: VerificationResult, fresh: VerificationResult) -> list[tuple[str, str]]:
    """Return the pairs of labels that differ."""
    was, now = ({case.id: case.verdict for case in one.cases} for one in (kept, fresh))
    names = dict.fromkeys((*was, *now))
    pairs = [(was.get(name, Verdict.NOT_RUN), now.get(name, Verdict.NOT_RUN)) for name in names]
    return [pair for pair in pairs if pair[0] != pair[1]]


def _decoded(decoder: msgspec.msgpack.Decoder[_T], data: bytes | None) -> _T | None:
    try:
        return None if data is None else decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
