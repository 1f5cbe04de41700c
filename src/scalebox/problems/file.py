"""Problems of a file of JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator

from scalebox.core.errors import InputError
from scalebox.core.jsonl import decode_object
from scalebox.core.limits import MIB
from scalebox.core.settings import Settings
from scalebox.problems.record import Problem, check_problem


class FileProblems:
    """Problems in memory; each has one version."""

    def __init__(self, problems: dict[str, Problem]) -> None:
        self._problems = problems

    def find(self, problem_id: str, version: int | None) -> Problem | None:
        """Return a problem, None where there is none."""
        return self._problems.get(problem_id) if version in (None, 1) else None

    def __len__(self) -> int:
        return len(self._problems)


def read_problems(path: str, settings: Settings) -> FileProblems:
    """Return the problems of a file. Raises InputError for the first that is none, with line and field."""
    problems: dict[str, Problem] = {}
    for number, found in problem_lines(path, settings):
        if isinstance(found, InputError):
            raise found
        if found.problem_id in problems:
            mend = "give each problem its own"
            raise InputError("an earlier line has this id too", field="problem_id", mend=mend, source=path, line=number)
        problems[found.problem_id] = found
    return FileProblems(problems)


def problem_lines(path: str, settings: Settings) -> Iterator[tuple[int, Problem | InputError]]:
    """Yield (line number, problem or what is wrong with it). Raises InputError where the file cannot be read."""
    most = settings.max_line_mb * MIB
    try:
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(most + 1):
                number += 1
                if len(line) > most:
                    mend = "raise the setting max_line_mb"
                    raise InputError(f"longer than {settings.max_line_mb} MiB", mend=mend, source=path, line=number)
                if line.strip():
                    yield number, _problem(line, settings, path, number)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", source=path) from None


def _problem(line: bytes, settings: Settings, path: str, number: int) -> Problem | InputError:
    try:
        return check_problem(decode_object(line), settings)
    except InputError as error:
        return error.at(path, number)
