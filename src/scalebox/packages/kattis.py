"""Packages in the format of Kattis and the ICPC: its oldest version, which most packages have, and that of 2023-07.

https://www.kattis.com/problem-package-format/ is the specification. Statements, input validators, graders, generators
and visualizers are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from scalebox.core.errors import InputError
from scalebox.packages import expected
from scalebox.packages.documents import Entry, read_yaml
from scalebox.packages.expected import Expectation
from scalebox.packages.files import Files
from scalebox.packages.model import Package, Submission, TimeLimit
from scalebox.packages.programs import Source, language_of, source_of
from scalebox.packages.testdata import Data, unread
from scalebox.packages.validators import FOLDERS, judge_record, match_of, read_validator, texts

MARKER = "problem.yaml"
_LEGACY = ("legacy", "legacy-icpc")
_DRAFT = ("2023-07", "2023-07-draft", "2025-09")
_KNOWN = (
    "problem_format_version", "type", "validation", "validator_flags", "limits", "name", "uuid", "author", "authors",
    "credits", "source", "source_url", "license", "rights_owner", "keywords", "languages", "embargo_until", "version",
    "difficulty", "grading", "libraries", "allow_file_writing", "constants", "scoring",
)  # fmt: skip
_LIMITS = (
    "time_limit", "time_multiplier", "time_multipliers", "time_resolution", "time_safety_margin", "memory", "output",
    "code", "compilation_time", "compilation_memory", "validation_time", "validation_memory", "validation_output",
    "validation_passes",
)  # fmt: skip
#: What the format says where the package says nothing.
_MEMORY_MB, _OUTPUT_MB, _BUILD_S, _BUILD_MEMORY_MB = 2048, 8, 60, 2048
#: Contest systems let programs start others, up to some number: files in include/ do so.
_PROCESSES = 64
_TYPES = ("pass-fail", "scoring", "interactive")
_GIVES_POINTS = "a validator that gives points is not supported: an output that it accepts for fewer has no verdict"
#: The language of files that go with all programs.
_ALL = "default"


def read_kattis(files: Files) -> Package:
    """Return the package that the files are. Raises InputError with the file and, in YAML, the line."""
    problem = read_yaml(files.text(MARKER), files.place(MARKER))
    draft = _is_draft(problem)
    types = _types(problem)
    custom, interactive, scored = _validation(problem, files, draft, types)
    if problem.get("constants") is not None:
        raise problem.mapping()["constants"].error("constants in files are not supported", "write the values out")
    scoring = "scoring" in types
    data = Data(files, _judging(problem, files, custom, interactive, draft and scoring), answers=not interactive)
    group = data.read()
    notes = [*unread(problem, _KNOWN), *data.notes]
    counted = scoring and not (draft or scored or data.graded or files.names("graders") or _regraded(problem))
    if scoring and not counted:
        notes.append(f"{files.label}: points are not shown: they are not a sum over groups of verdicts alone")
    unused = next((folder for folder in FOLDERS if files.names(folder)), "")
    if unused and not custom:
        notes.append(f"{files.place(unused)} is not used: {MARKER} does not say validation: custom")
    include, more = _include(files, draft)
    return Package(
        name=files.name(),
        layout="kattis",
        cases=tuple(data.cases),
        submissions=tuple(_Submissions(files, draft, scoring, include).read()),
        time=_time_limit(problem, files, draft),
        limits=_limits(problem),
        include=include,
        scoring=group if counted else None,
        notes=(*notes, *more),
    )


def _is_draft(problem: Entry) -> bool:
    version = problem.get("problem_format_version")
    if version is None or version.text() in _LEGACY:
        return False
    if version.text() not in _DRAFT:
        known = ", ".join((*_LEGACY, *_DRAFT))
        raise version.error(f"{version.text()[:64]!r} is not supported", f"one of {known}")
    return True


def _types(problem: Entry) -> set[str]:
    entry = problem.get("type")
    types = {"pass-fail"} if entry is None else set(entry.words())
    for name in sorted(types - set(_TYPES)):
        assert entry is not None
        raise entry.error(f"{name[:64]!r} is not supported", f"one of {', '.join(_TYPES)}")
    return types


def _validation(problem: Entry, files: Files, draft: bool, types: set[str]) -> tuple[bool, bool, bool]:
    """Return whether the package has a validator of its own, which is an interactor, which may give points."""
    entry = problem.get("validation")
    if entry is None:
        custom = (draft or "interactive" in types) and any(files.names(folder) for folder in FOLDERS)
        return custom, "interactive" in types, custom and "scoring" in types
    kind, *options = entry.words() or [""]
    strange = [option for option in options if option not in ("interactive", "score")]
    if kind not in ("default", "custom") or strange or (kind == "default" and options):
        raise entry.error(
            f"{entry.text()[:64]!r} is not known", "default, or custom with interactive or score after it"
        )
    if "score" in options:
        raise entry.error(_GIVES_POINTS)
    return kind == "custom", "interactive" in options or "interactive" in types, False


def _regraded(problem: Entry) -> bool:
    """Say whether problem.yaml itself changes how points are counted, as older packages do."""
    grading = problem.get("grading")
    return grading is not None and not set(grading.mapping()) <= {"objective", "range", "show_test_data_groups"}


def _judging(problem: Entry, files: Files, custom: bool, interactive: bool, points: bool) -> Any:
    """Return what makes of a case's flags how it is judged; the package's own flags come before them.

    With `points` a validator may leave some, without a word on it in problem.yaml.
    """
    own = tuple(entry.words()) if (entry := problem.get("validator_flags")) is not None else ()
    if not custom:
        if interactive:
            raise InputError("is interactive, but has no validator of its own", source=files.place(MARKER))
        return lambda flags, place: {"match": match_of((*own, *flags), place)}
    validator = read_validator(files)
    if points and "score.txt" in validator.text():
        raise InputError(_GIVES_POINTS, source=files.place(MARKER))
    role = "interactor" if interactive else "checker"
    return lambda flags, _place: {role: judge_record(validator, "icpc", (*own, *flags))}


def _limits(problem: Entry) -> dict[str, Any]:
    given = problem.get("limits")
    if given is not None:
        given.check_names(_LIMITS)

    def limit(name: str, default: int, most: float) -> float:
        entry = given.get(name) if given is not None else None
        return default if entry is None else entry.number(most=most)

    return {
        "processes": _PROCESSES,
        "memory_mb": round(limit("memory", _MEMORY_MB, 1 << 20)),
        "output_mb": limit("output", _OUTPUT_MB, 1024),
        "build_s": limit("compilation_time", _BUILD_S, 3600),
        "build_memory_mb": round(limit("compilation_memory", _BUILD_MEMORY_MB, 1 << 20)),
    }


def _time_limit(problem: Entry, files: Files, draft: bool) -> TimeLimit:
    """Return the time limit: of problem.yaml, of the file .timelimit, of domjudge-problem.ini, or how it follows."""
    limits = problem.get("limits")
    multipliers = limits.get("time_multipliers") if limits is not None else None
    fixed = _number(limits, "time_limit")
    if fixed is None:
        fixed = _written_limit(files)
    multiplier = _number(limits, "time_multiplier", 1) or _number(multipliers, "ac_to_time_limit", 1)
    return TimeLimit(
        seconds=fixed,
        multiplier=multiplier or (2.0 if draft else 5.0),
        resolution_s=_number(limits, "time_resolution") or 1.0,
    )


def _number(holder: Entry | None, name: str, least: float = 0.0) -> float | None:
    entry = holder.get(name) if holder is not None else None
    return None if entry is None else entry.number(least, 3600)


def _written_limit(files: Files) -> float | None:
    for name in (".timelimit", "domjudge-problem.ini"):
        if name not in files:
            continue
        for number, line in enumerate(files.text(name).splitlines(), 1):
            key, equals, value = line.partition("=")
            if name == ".timelimit" or (equals and key.strip() == "timelimit"):
                text = value if equals else line
                return Entry(text.strip().strip("'\""), files.place(name), number).number(most=3600)
    return None


def _include(files: Files, draft: bool) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the files that go with every submission, by language, and notes on those that do with none."""
    found: dict[str, dict[str, str]] = {}
    notes = []
    for name in files.names("include"):
        _, folder, *rest = name.split("/")
        language = _ALL if folder == _ALL and draft else language_of(folder)
        if language is None or not rest:
            notes.append(f"{files.place(name)} is not read: include/{folder} is no language that is known here")
        else:
            found.setdefault(language, {})["/".join(rest)] = files.text(name)
    return found, notes


class _Submissions:
    """Reads the folder `submissions`."""

    def __init__(self, files: Files, draft: bool, scoring: bool, include: Mapping[str, Mapping[str, str]]) -> None:
        self._files = files
        self._include = include
        self._draft = draft
        older = expected.LEGACY_SCORING if scoring else expected.LEGACY
        self._of_folder = expected.DRAFT if draft else older
        self._rules = list(self._read_rules())

    def read(self) -> Iterator[Submission]:
        """Yield the submissions; one that cannot be run here says why."""
        paths: dict[str, list[str]] = {}
        for name in self._files.names("submissions"):
            _, folder, *rest = name.split("/")
            if rest:
                paths.setdefault(f"{folder}/{rest[0]}", []).append(name)
        for path, names in paths.items():
            yield self._submission(path, names)

    def _submission(self, path: str, names: list[str]) -> Submission:
        folder = path.partition("/")[0]
        named = [rule for pattern, rule in self._rules if pattern == folder]
        wanted = self._of_folder.get(folder)
        for rule in named:
            wanted = _replaced(wanted, rule)
        rules = [rule for pattern, rule in self._rules if _matches(pattern, path)]
        try:
            source = self._source(path, names, rules)
        except InputError as error:
            return Submission(name=path, problem=error.problem, expected=wanted)
        said = expected.annotated(source.text())
        if isinstance(said, str):
            return Submission(name=path, problem=f"@EXPECTED_RESULTS@ has a result that is not known: {said!r}")
        wanted = said or wanted
        for rule in rules:
            wanted = wanted if rule in named else _ruled(wanted, rule)
        accepted = wanted is not None and wanted.permitted == expected.ACCEPTED.permitted
        timed = folder == "accepted" and accepted and not any(_untimed(rule) for rule in rules)
        return Submission(name=path, source=source, expected=wanted, timed=timed)

    def _source(self, path: str, names: list[str], rules: list[Entry]) -> Source:
        root = f"submissions/{path}"
        single = names == [root]
        found = texts(self._files, names, root.rpartition("/")[0] if single else root)
        options = {"language": "", "main": ""}
        for rule in rules:
            for key, entry in (("language", rule.get("language")), ("main", rule.get("entrypoint"))):
                options[key] = options[key] if entry is None else entry.text()
        return with_include(found, self._files.place(root), self._include, **options)

    def _read_rules(self) -> Iterator[tuple[str, Entry]]:
        name = "submissions/submissions.yaml"
        if name in self._files:
            for pattern, rule in read_yaml(self._files.text(name), self._files.place(name)).mapping().items():
                if "{" in pattern:
                    raise rule.error("braces in a pattern are not supported", "write one pattern for each")
                rule.check_names(_RULE)
                yield pattern.removesuffix("/"), rule


def _matches(pattern: str, path: str) -> bool:
    """Say whether a pattern means a submission, or the folder that it is in: a star stands for a part of one name."""
    glob = re.escape(pattern).replace(re.escape("*"), "[^/]*")
    return re.match(f"{glob}(/|$)", path) is not None


_RULE = (
    "language", "entrypoint", "authors", "model_solution", "permitted", "required", "message", "use_for_time_limit",
)  # fmt: skip


def with_include(
    files: Mapping[str, str],
    place: str,
    include: Mapping[str, Mapping[str, str]],
    *,
    language: str = "",
    main: str = "",
) -> Source:
    """Return the program of some files, with those that the package adds to its language. Raises InputError."""
    known = language_of(language) if language else ""
    if known is None:
        raise InputError(f"is in {language[:64]!r}, which is not known here", source=place)
    alone = source_of(files, place, language=known, main=main if main in files else "")
    more = {**include.get(_ALL, {}), **include.get(alone.language, {})}
    return source_of(files, place, language=alone.language, main=main, include=more) if more else alone


def _ruled(wanted: Expectation | None, rule: Entry) -> Expectation | None:
    """Return what is expected under a rule of submissions.yaml, too."""
    sets = _sets(rule)
    if not sets:
        return wanted
    said = _expectation(sets)
    return said if wanted is None else wanted & said


def _replaced(wanted: Expectation | None, rule: Entry) -> Expectation | None:
    """Return what is expected in a folder that has a rule itself, which stands in the place of what it always means."""
    sets = _sets(rule)
    if not sets or wanted is None:
        return _expectation(sets) if sets else wanted
    said = _expectation({"permitted": wanted.permitted, **sets})
    return said if "required" in sets else msgspec.structs.replace(said, required=wanted.required)


def _expectation(sets: Mapping[str, frozenset[str]]) -> Expectation:
    return Expectation(
        permitted=sets.get("permitted", expected.ANY), required=(sets["required"],) if "required" in sets else ()
    )


def _sets(rule: Entry) -> dict[str, frozenset[str]]:
    """Return the outcomes that a rule permits, and those of which it requires one."""
    sets = {}
    for name in ("permitted", "required"):
        if (entry := rule.get(name)) is not None:
            sets[name] = frozenset(entry.words())
            if not sets[name] or not sets[name] <= expected.ANY:
                raise entry.error("holds an outcome that is not known", f"of {', '.join(sorted(expected.ANY))}")
    return sets


def _untimed(rule: Entry) -> bool:
    entry = rule.get("use_for_time_limit")
    return entry is not None and entry.data is not True and entry.data != "lower"
