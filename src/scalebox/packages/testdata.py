"""The folder `data` of a Kattis package: cases in their groups, each with the settings that its groups hand down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.packages.documents import Entry, read_yaml
from scalebox.packages.files import Files
from scalebox.packages.model import Case
from scalebox.packages.scores import Accepts, Aggregation, Group

GROUPS = ("sample", "secret")
_SETTINGS = ("testdata.yaml", "test_group.yaml")
#: Flags of the validator, by the names they have had.
_FLAG_NAMES = ("output_validator_flags", "output_validator_args")
_KNOWN = (
    *_FLAG_NAMES, "on_reject", "grading", "grader_flags", "accept_score", "reject_score", "range",
    "input_validator_flags", "input_validator_args", "max_score", "score_aggregation", "scoring", "require_pass",
    "full_feedback", "static_validation", "static_validator_args", "hint", "description", "objective", "run_samples",
)  # fmt: skip
_AGGREGATIONS: tuple[Aggregation, ...] = ("sum", "min", "max", "avg")
#: Of a default grader's flags, those that choose the verdict of a group; what comes after it hangs on that.
_VERDICT_FLAGS: Mapping[str, Accepts] = {
    "first_error": "all", "worst_error": "all", "no_errors": "all", "accept_if_any_accepted": "any",
    "always_accept": "always",
}  # fmt: skip
#: Those, the strictest first.
_LENIENCE: tuple[Accepts, ...] = ("all", "any", "always")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a group says of its cases, and hands down to the groups in it."""

    flags: tuple[str, ...] = ()
    stop: bool = True
    accept: float = 1.0
    reject: float = 0.0
    aggregation: Aggregation = "sum"
    accepts: Accepts = "all"
    ignore_sample: bool = False
    #: Points come of a program in the package.
    graded: bool = False


class Data:
    """Reads cases; `judging` makes of a case's flags, and the place they come from, how it is judged."""

    def __init__(self, files: Files, judging: Callable[[tuple[str, ...], str], Mapping[str, Any]], *, answers: bool):
        self._files = files
        self._judging = judging
        self._answers = answers
        self.cases: list[Case] = []
        self.notes: list[str] = []
        #: Whether points can be told from verdicts.
        self.graded = False

    def _stray(self) -> Iterator[str]:
        """Yield a note on files that look like parts of tests, and are of none."""
        names = self._files.names("data")
        lone = [
            name for name in names
            if name.endswith(".ans") and name.split("/")[1] in GROUPS and f"{name[:-4]}.in" not in self._files
        ]  # fmt: skip
        outside = [name for name in names if name.endswith(".in") and name.count("/") == 1]
        for found, why in ((lone, "has no input beside it"), (outside, "is neither in data/sample nor in data/secret")):
            if found:
                more = f" (nor are {len(found) - 1} more like it)" if len(found) > 1 else ""
                yield f"{self._files.place(found[0])} is no test: it {why}{more}"

    def read(self) -> Group:
        """Read everything; return the group of all cases. Raises InputError, also where there is no case."""
        settings = self._settings("data", Settings())
        members: list[Group | str] = [
            self._group(f"data/{name}", settings) for name in GROUPS if self._files.names(f"data/{name}")
        ]
        if not self.cases:
            mend = "put tests into data/secret, NAME.in and NAME.ans"
            raise InputError("holds no tests: nothing could be judged", source=self._files.place("data"), mend=mend)
        self.notes += self._stray()
        if settings.ignore_sample:
            members = members[1:] if self._files.names("data/sample") else members
        return _counted(settings, members)

    def _group(self, folder: str, handed: Settings) -> Group:
        settings = self._settings(folder, handed)
        members: list[Group | str] = []
        for name in sorted(set(self._members(folder))):
            path = f"{folder}/{name}"
            members.append(self._group(path, settings) if self._is_folder(path) else self._case(path, settings))
        return _counted(settings, members)

    def _members(self, folder: str) -> Iterator[str]:
        """Yield the names of the cases in a folder, and of the folders in it that are groups."""
        for path in self._files.names(folder):
            name, *deeper = path.removeprefix(f"{folder}/").split("/")
            if deeper and not name.endswith(".files"):
                yield name
            elif not deeper and name.endswith(".in"):
                yield name.removesuffix(".in")

    def _is_folder(self, path: str) -> bool:
        if f"{path}.in" in self._files and self._files.names(path):
            raise InputError("is a case and a group", source=self._files.place(path), mend="rename one")
        return f"{path}.in" not in self._files

    def _case(self, path: str, settings: Settings) -> str:
        files, answer = self._files, f"{path}.ans"
        if self._answers and answer not in files:
            raise InputError("has no answer", source=files.place(f"{path}.in"), mend=f"add {files.place(answer)}")
        flags, place = settings.flags, files.place(f"{path}.in")
        if f"{path}.args" in files:
            problem = "arguments of the program's command line are not supported"
            raise InputError(problem, source=files.place(f"{path}.args"))
        if f"{path}.yaml" in files:
            flags = self._own_flags(f"{path}.yaml") or flags
        extra = {name.removeprefix(f"{path}.files/"): files.text(name) for name in files.names(f"{path}.files")}
        name = path.removeprefix("data/")
        case = Case(
            name=name, stdin=files.text(f"{path}.in"), stdout=files.text(answer) if answer in files else "",
            judging=self._judging(flags, place), files=extra, hidden=not name.startswith("sample/"),
        )  # fmt: skip
        self.cases.append(case)
        return name

    def _own_flags(self, path: str) -> tuple[str, ...]:
        document = self._document(path)
        if document.get("args") is not None:
            problem = "arguments of the program's command line are not supported"
            raise document.mapping()["args"].error(problem)
        return _flags(document) or ()

    def _document(self, path: str) -> Entry:
        document = read_yaml(self._files.text(path), self._files.place(path))
        document.mapping()
        return document

    def _settings(self, folder: str, handed: Settings) -> Settings:
        path = next((f"{folder}/{name}" for name in _SETTINGS if f"{folder}/{name}" in self._files), None)
        if path is None:
            return handed
        document = self._document(path)
        if document.get("args") is not None:
            raise document.mapping()["args"].error("arguments of the program's command line are not supported")
        self.notes += unread(document, _KNOWN)
        changes: dict[str, Any] = {}
        flags = _flags(document)
        if flags is not None:
            changes["flags"] = flags
        for name, key in (("accept", "accept_score"), ("reject", "reject_score")):
            score = document.get(key)
            if score is not None:
                changes[name] = score.number(-1e9)
        if (reject := document.get("on_reject")) is not None:
            if reject.text() not in ("break", "continue", "grade"):
                raise reject.error(f"{reject.text()[:64]!r} is not known", "break or continue")
            changes["stop"] = reject.text() == "break"
        self._grading(document, changes)
        return msgspec.structs.replace(handed, **changes)

    def _grading(self, document: Entry, changes: dict[str, Any]) -> None:
        if (grading := document.get("grading")) is not None and grading.text() != "default":
            self.graded = True
        if any(document.get(name) is not None for name in ("max_score", "score_aggregation", "scoring")):
            self.graded = True
        if (entry := document.mapping().get("grader_flags")) is not None:
            self._grader_flags([] if entry.data is None else entry.words(), changes)

    def _grader_flags(self, flags: list[str], changes: dict[str, Any]) -> None:
        """Read flags of the default grader: all that a group says of it stands in the place of what it was handed."""
        changes |= {"aggregation": "sum", "accepts": "all", "ignore_sample": "ignore_sample" in flags}
        for flag in flags:
            if flag in _AGGREGATIONS:
                changes["aggregation"] = flag
            elif flag in _VERDICT_FLAGS:
                # "Any" and "always" are no modes against each other: with the latter, the former says nothing.
                changes["accepts"] = max(changes["accepts"], _VERDICT_FLAGS[flag], key=_LENIENCE.index)
            elif flag != "ignore_sample":
                self.graded = True


def _counted(settings: Settings, members: list[Group | str]) -> Group:
    return Group(
        members=tuple(members), aggregation=settings.aggregation, accept=settings.accept, reject=settings.reject,
        stop=settings.stop, accepts=settings.accepts,
    )  # fmt: skip


def _flags(document: Entry) -> tuple[str, ...] | None:
    found = next((entry for name in _FLAG_NAMES if (entry := document.get(name)) is not None), None)
    return None if found is None else tuple(found.words())


def unread(document: Entry, known: tuple[str, ...]) -> list[str]:
    """Return a note for each key of a document that is not read."""
    return [
        f"{entry.source}:{entry.line}: {name} is not read"
        for name, entry in document.mapping().items()
        if name not in known
    ]
