"""The program of a sample: its code, or what its response holds, and what that makes of its prompt."""

from __future__ import annotations

from scalebox.core.sample import CallTest, Sample
from scalebox.gate.complete import complete
from scalebox.gate.continued import continued
from scalebox.gate.extract import extract, extract_after, newlines, program_text
from scalebox.languages.registry import languages


def program_of(sample: Sample) -> tuple[str, str]:
    """Return the sample's source, "" where there is none, and how it was found ("code" where it was given as it is).

    Code that is given as it is goes on where the prompt ends too, but is never cut.
    """
    names = _names(sample)
    if sample.language != "python":
        return _of_other(sample, names)
    if sample.code is not None:
        prompt = program_text(sample.prompt, names)
        return (complete(prompt, newlines(sample.code), names) if prompt else sample.code), "code"
    response = sample.response or ""
    if sample.prompt.strip():
        found = extract_after(sample.prompt, response, stop=sample.stop, choose=sample.extract, entry_points=names)
    else:
        found = extract(response, choose=sample.extract, entry_points=names)
    return found.code, found.how


def _of_other(sample: Sample, names: tuple[str, ...]) -> tuple[str, str]:
    """Return the same for a language of which no grammar is known here."""
    # The mark says how a file was encoded, which text no longer is; some compilers choke on it.
    code, how = (sample.code or "").removeprefix("\ufeff"), "code"
    if sample.code is None:
        language = languages()[sample.language].tag or sample.language
        found = extract(sample.response or "", language=language, choose=sample.extract, entry_points=names)
        code, how = found.code, found.how
    if not sample.prompt.strip():
        return code, how
    code = continued(newlines(sample.prompt), newlines(code), sample.stop)
    return code, how if code else "empty"


def _names(sample: Sample) -> tuple[str, ...]:
    """Return the candidate names of what is tested; the first test's call where none are given."""
    first = sample.tests[0] if sample.tests else None
    if sample.entry_points or not isinstance(first, CallTest):
        return sample.entry_points
    return (first.call,)
