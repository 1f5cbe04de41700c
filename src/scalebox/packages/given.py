"""Programs given beside a package, to be verified on its cases."""

from __future__ import annotations

from scalebox.core.errors import InputError
from scalebox.packages import expected
from scalebox.packages.files import folder_of
from scalebox.packages.kattis import with_include
from scalebox.packages.model import Package, Submission


def given_submission(package: Package, path: str) -> Submission:
    """Return the program in a file, or in the files of a folder. Raises InputError.

    It is expected to pass, unless it says otherwise itself, in an @EXPECTED_RESULTS@.
    """
    files = folder_of(path)
    texts = {name: files.text(name) for name in files.names()}
    source = with_include(texts, path, package.include)
    said = expected.annotated(source.text())
    if isinstance(said, str):
        raise InputError(f"@EXPECTED_RESULTS@ has a result that is not known: {said!r}", source=path)
    return Submission(name=path, source=source, expected=said or expected.ACCEPTED)
