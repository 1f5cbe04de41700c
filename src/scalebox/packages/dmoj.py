"""Packages in the layout of DMOJ: `init.yml`, the tests beside it or in a zip, and submissions as in its test suite.

Submissions lie in `tests/NAME/`, with a `test.yml` that says what is expected of them. What this reader does not
support it refuses, by name and line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB
from scalebox.packages.documents import Entry, read_yaml
from scalebox.packages.expected import ANY, Expectation, one_of
from scalebox.packages.files import Files, Zip
from scalebox.packages.model import Case, Package, Submission, TimeLimit
from scalebox.packages.programs import source_of
from scalebox.packages.scores import Group
from scalebox.packages.validators import judge_record

MARKER = "init.yml"
_KNOWN = (
    "archive", "test_cases", "pretest_test_cases", "points", "checker", "interactive", "hints", "meta", "unbuffered",
    "output_limit_length", "output_prefix_length", "wall_time_factor",
)  # fmt: skip
_CASE = ("in", "out", "points", "checker", "batched", "dependencies", "output_prefix_length")
#: What may be said of a judge's program. Flags, an order of its own for the arguments and another scale of points would
#: change what it judges.
_PROGRAM = (
    "files", "type", "lang", "feedback", "time_limit", "memory_limit", "compiler_time_limit", "preprocessing_time",
)  # fmt: skip
_OUTPUT_MB = 24.0
_DEFAULT_PRECISION = 6


def read_dmoj(files: Files) -> Package:
    """Return the package that the files are. Raises InputError with the file and, in YAML, the line."""
    return _Reader(files).read()


class _Reader:
    def __init__(self, files: Files) -> None:
        self._files = files
        self._init = read_yaml(files.text(MARKER), files.place(MARKER))
        self._init.check_names(_KNOWN)
        self._archive: Files | None = None
        self._cases: list[Case] = []

    def read(self) -> Package:
        archive = self._init.get("archive")
        if archive is not None:
            self._archive = Zip(self._files.place(archive.text()), self._files.read(archive.text()))
        listed = self._init.get("test_cases")
        if listed is None or not isinstance(listed.data, list):
            mend = "list them, each with in and out"
            raise (listed or self._init).error("has no list of test_cases: patterns of names are not supported", mend)
        first = self._init.get("pretest_test_cases")
        groups = [self._counted(item, pretest=True) for item in (first.items() if first is not None else ())]
        groups += [self._counted(item) for item in listed.items()]
        if not self._cases:
            raise listed.error("holds no tests: nothing could be judged", "list at least one")
        return Package(
            name=self._files.name(),
            layout="dmoj",
            cases=tuple(self._cases),
            submissions=tuple(self._submissions()),
            time=TimeLimit(),
            limits={"output_mb": self._output_mb(), "build_s": 60},
            scoring=None if any(group is None for group in groups) else _sum_of(groups),
        )

    def _output_mb(self) -> float:
        limit = self._init.get("output_limit_length")
        return _OUTPUT_MB if limit is None else limit.number(most=1024 * MIB) / MIB

    def _counted(self, item: Entry, *, pretest: bool = False) -> Group | None:
        """Read a case, or a batch of them; return what its points depend on, None if that cannot be told.

        Pretests come first and are worth nothing, whatever they say.
        """
        item.check_names(_CASE)
        start = len(self._cases)
        batch = item.get("batched")
        points = self._points(item, pretest)
        for case in [item] if batch is None else batch.items():
            case.check_names(_CASE)
            if batch is not None and case.get("batched") is not None:
                raise case.error("is a batch within a batch")
            self._read_case(case, item, points)
        names = tuple(case.name for case in self._cases[start:])
        if item.get("dependencies") is not None:
            return None
        return Group(members=names, accept=points, whole=True)

    def _points(self, item: Entry, pretest: bool) -> float:
        entry = item.get("points") or self._init.get("points")
        return 0.0 if pretest else 1.0 if entry is None else entry.number(-1e9)

    def _read_case(self, case: Entry, item: Entry, points: float) -> None:
        number, given, wanted = len(self._cases) + 1, case.get("in"), case.get("out")
        if wanted is None and self._init.get("interactive") is None:
            raise case.error("has no out", "name the file of the expected output")
        judging = self._judging(case.get("checker") or item.get("checker") or self._init.get("checker"))
        self._cases.append(
            Case(
                name=str(number),
                stdin="" if given is None else self._text(given),
                stdout="" if wanted is None else self._text(wanted),
                judging=judging,
                weight=points if points > 0 and "match" not in judging else 1.0,
            )
        )

    def _text(self, entry: Entry) -> str:
        """Return a file of tests, in the package or in its archive, with the line ends that DMOJ gives it.

        It ends the last line, too.
        """
        name = entry.text()
        for files in (self._files, self._archive):
            if files is not None and name in files:
                text = files.text(name).replace("\r\n", "\n").replace("\r", "\n")
                return text if text.endswith("\n") or not text else f"{text}\n"
        raise entry.error(f"no such file: {name[:200]!r}")

    def _judging(self, checker: Entry | None) -> Mapping[str, Any]:
        interactive = self._init.get("interactive")
        if interactive is not None:
            return {"interactor": self._program(interactive)}
        if checker is None:
            return {"match": _standard({}, self._init)}
        named = checker.data if isinstance(checker.data, dict) else {}
        name = named["name"].text() if "name" in named else checker.text()
        entry = checker.get("args") if named else None
        args = {} if entry is None else entry.mapping()
        if name == "bridged":
            return {"checker": self._program(entry or checker)}
        if name not in _CHECKERS:
            problem = f"the checker {name[:64]!r} has no match mode that judges alike"
            raise checker.error(problem, f"one of {', '.join(sorted((*_CHECKERS, 'bridged')))}")
        return {"match": _CHECKERS[name](args, checker)}

    def _program(self, entry: Entry) -> dict[str, Any]:
        """Return the record of a testlib program."""
        entry.check_names(_PROGRAM)
        kind = entry.get("type")
        if kind is None or kind.text() not in ("testlib", "testlib_py"):
            what = "default" if kind is None else kind.text()[:64]
            raise (kind or entry).error(f"the type {what!r} of a judge is not supported", "testlib is")
        listed = entry.get("files")
        if listed is None:
            raise entry.error("has no files", "name the judge's source")
        names = [item.text() for item in listed.items()] if isinstance(listed.data, list) else [listed.text()]
        if "testlib.h" in self._files:
            names.append("testlib.h")
        sources = {name: self._files.text(name) for name in dict.fromkeys(names)}
        return judge_record(source_of(sources, listed.source), "testlib", ())

    def _submissions(self) -> Iterator[Submission]:
        for path in self._files.names("tests"):
            folder, _, last = path.rpartition("/")
            if last != "test.yml":
                continue
            test = read_yaml(self._files.text(path), self._files.place(path))
            source = test.get("source")
            if source is None:
                raise test.error("has no source", "name the submission's file")
            if (skip := test.get("skip")) is not None and skip.flag():
                continue
            name = folder.removeprefix("tests/")
            if isinstance(source.data, list):
                yield from (self._submission(f"{name}/{file}", folder, file, test) for file in source.words())
            else:
                yield self._submission(name, folder, source.text(), test)

    def _submission(self, name: str, folder: str, file: str, test: Entry) -> Submission:
        path, limits = f"{folder}/{file}", _limits(test)
        try:
            expected = _expected(test)
            program = source_of({file: self._files.text(path)}, self._files.place(path))
        except InputError as error:
            return Submission(name=name, problem=error.problem)
        return Submission(name=name, source=program, expected=expected, limits=limits)


def _sum_of(groups: list[Group | None]) -> Group:
    return Group(members=tuple(group for group in groups if group is not None), stop=False)


def _limits(test: Entry) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    if (time := test.get("time")) is not None:
        limits["cpu_s"] = time.number(most=3600)
    if (memory := test.get("memory")) is not None:
        limits["memory_mb"] = max(1, round(memory.number() / 1024))
    return limits


def _expected(test: Entry) -> Expectation:
    """Return what is expected: of every case that is judged, one of these outcomes; AC where nothing is said.

    IR is a run-time error by exit code. Where cases are short-circuited (SC), the first that fails decides.
    """
    if (cases := test.get("cases")) is not None:
        raise cases.error("expects something of single cases, which is not supported")
    entry = test.get("expect")
    outcomes = {"AC"} if entry is None else set(entry.words())
    if outcomes == {"*"}:
        return Expectation(permitted=ANY)
    known = {*ANY, "IR", "SC"}
    if not outcomes or not outcomes <= known:
        assert entry is not None
        raise entry.error("expects an outcome that is not known here", f"of {', '.join(sorted(known))}")
    called = {"RTE" if outcome == "IR" else outcome for outcome in outcomes} - {"SC"}
    return one_of(*called) if "SC" in outcomes else Expectation(permitted=frozenset(called))


def _no_args(args: Mapping[str, Entry]) -> None:
    for entry in args.values():
        raise entry.error("is not supported for this checker", "leave it out")


def _standard(args: Mapping[str, Entry], _checker: Entry) -> dict[str, Any]:
    _no_args(args)
    return {"mode": "tokens", "by_line": True}


def _identical(args: Mapping[str, Entry], _checker: Entry) -> dict[str, Any]:
    _no_args({name: entry for name, entry in args.items() if name != "pe_allowed"})
    return {"mode": "exact"}


def _sorted(args: Mapping[str, Entry], checker: Entry) -> dict[str, Any]:
    split = args["split_on"].text() if "split_on" in args else "lines"
    if split != "whitespace":
        raise checker.error("no match mode compares lines in any order, token by token", "split_on: whitespace")
    return {"mode": "tokens_unordered"}


def _floats(*bounds: str) -> Callable[[Mapping[str, Entry], Entry], dict[str, Any]]:
    def made(args: Mapping[str, Entry], _checker: Entry) -> dict[str, Any]:
        _no_args({name: entry for name, entry in args.items() if name not in ("precision", "error_mode")})
        precision = int(args["precision"].number(1, 300)) if "precision" in args else _DEFAULT_PRECISION
        within = _ERROR_MODES.get(args["error_mode"].text()) if "error_mode" in args else bounds
        if within is None:
            raise args["error_mode"].error("is not known", f"one of {', '.join(_ERROR_MODES)}")
        tolerances = dict.fromkeys(within, 10.0**-precision)
        return {"mode": "float", "abs": 0.0, "rel": 0.0, "by_line": True, "near_integers": True} | tolerances

    return made


_ERROR_MODES = {"default": ("abs", "rel"), "absolute": ("abs",), "relative": ("rel",)}
#: Checkers that a match mode judges as.
_CHECKERS: Mapping[str, Callable[[Mapping[str, Entry], Entry], dict[str, Any]]] = {
    "standard": _standard,
    "identical": _identical,
    "sorted": _sorted,
    "floats": _floats("abs", "rel"),
    "floatsabs": _floats("abs"),
    "floatsrel": _floats("rel"),
}
