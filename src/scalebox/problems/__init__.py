"""Problems that are kept apart from samples: a sample names one by `problem_id` and brings no tests.

So a trainer never touches hidden tests. A problem is a record with `tests` and what belongs to them; every change of it
is a new version, and `problem_id` may say which: `"p-7@3"`.
"""

from __future__ import annotations

from scalebox.core.settings import Settings
from scalebox.problems.file import read_problems
from scalebox.problems.record import Problem, Problems, check_problem
from scalebox.problems.resolve import sample_of
from scalebox.problems.store import ProblemStore, is_store

__all__ = ["Problem", "ProblemStore", "Problems", "check_problem", "open_problems", "read_problems", "sample_of"]


def open_problems(path: str, settings: Settings) -> Problems:
    """Return the problems of a store or of a file of JSON Lines, told apart by what is in it.

    Raises InputError, which names line and field.
    """
    return ProblemStore(path, make=False) if is_store(path) else read_problems(path, settings)
