"""Packages of Kattis and the ICPC: what is read, and what is refused, with the place."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.packages.conftest import KATTIS, Write

from scalebox import Settings
from scalebox.core.errors import InputError
from scalebox.packages import Expectation, load_package
from scalebox.packages.expected import ANY
from scalebox.packages.model import Package, Submission
from scalebox.packages.validators import match_of

VALIDATOR = {
    "problem.yaml": "validation: custom\nvalidator_flags: one two\n",
    "output_validators/check/check.cpp": '#include "check.h"\nint main() { return 42; }\n',
    "output_validators/check/check.h": "// header\n",
}


def submission(package: Package, name: str) -> Submission:
    return next(found for found in package.submissions if found.name == name)


def test_the_smallest_package(write: Write) -> None:
    package = load_package(write())
    assert (package.name, package.layout, package.scoring, package.notes) == ("twice", "kattis", None, ())
    assert [(case.name, case.stdin, case.stdout, case.hidden) for case in package.cases] == [
        ("secret/1", "1\n", "2\n", True)
    ]
    assert package.cases[0].judging == {"match": {"mode": "tokens_ignore_case"}}
    assert package.limits == {
        "processes": 64,
        "memory_mb": 2048,
        "output_mb": 8,
        "build_s": 60,
        "build_memory_mb": 2048,
    }
    assert (package.time.seconds, package.time.multiplier) == (None, 5.0)
    [sample] = package.samples(package.submissions[0], Settings(), time_limit_s=2.0)
    assert (sample.id, sample.language, sample.problem_id) == ("accepted/a.py#0", "python", "twice")
    assert (sample.limits.cpu_s, sample.limits.wall_s, sample.limits.memory_mb) == (2.0, 16.0, 2048)


def test_a_folder_around_everything_in_a_zip(write: Write) -> None:
    inside = {f"deep/{name}": text for name, text in KATTIS.items()}
    package = load_package(write(inside, {}, zipped=True))
    assert (package.name, len(package.cases)) == ("deep", 1)


def test_cases_come_in_order_samples_first_and_groups_hand_down_flags(write: Write) -> None:
    package = load_package(
        write(
            {
                "problem.yaml": "validator_flags: case_sensitive\n",
                "data/sample/1.in": "", "data/sample/1.ans": "",
                "data/secret/b/2.in": "", "data/secret/b/2.ans": "",
                "data/secret/b/inner/1.in": "", "data/secret/b/inner/1.ans": "",
                "data/secret/a.in": "", "data/secret/a.ans": "",
                "data/secret/b/testdata.yaml": "output_validator_flags: float_tolerance 1e-4\n",
                "data/secret/b/inner/testdata.yaml": "output_validator_flags: []\n",
                "data/secret/a.files/extra/x.txt": "text",
            }
        )
    )  # fmt: skip
    names = ["sample/1", "secret/1", "secret/a", "secret/b/2", "secret/b/inner/1"]
    assert [case.name for case in package.cases] == names
    assert [case.hidden for case in package.cases] == [False, True, True, True, True]
    judged = [case.judging["match"] for case in package.cases]
    near = {"mode": "float", "abs": 1e-4, "rel": 1e-4, "ignore_case": False, "near_integers": True}
    assert judged == [{"mode": "tokens"}] * 3 + [near, {"mode": "tokens"}]
    assert package.cases[2].files == {"extra/x.txt": "text"}
    samples = package.samples(package.submissions[0], Settings(), time_limit_s=1)
    assert [[test.id for test in sample.tests] for sample in samples] == [names[:3] + names[4:], names[3:4]]
    assert [sample.id for sample in samples] == ["accepted/a.py#0", "accepted/a.py#1"]


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        ("", {"mode": "tokens_ignore_case"}),
        ("case_sensitive", {"mode": "tokens"}),
        ("case_sensitive space_change_sensitive", {"mode": "exact"}),
        ("float_absolute_tolerance 1e-3", {"mode": "float", "abs": 1e-3, "rel": 0.0, "ignore_case": True}),
        ("float_relative_tolerance .5", {"mode": "float", "abs": 0.0, "rel": 0.5, "ignore_case": True}),
        ("float_tolerance 1 case_sensitive float_relative_tolerance 0",
         {"mode": "float", "abs": 1.0, "rel": 0.0, "ignore_case": False}),
    ],
)  # fmt: skip
def test_flags_of_the_default_validator(flags: str, match: dict[str, Any]) -> None:
    near = {"near_integers": True} if match["mode"] == "float" else {}
    assert match_of(flags.split(), "p") == match | near


@pytest.mark.parametrize(
    "flags",
    ["space_change_sensitive", "case_sensitive space_change_sensitive float_tolerance 1", "float_tolerance",
     "float_tolerance x", "float_tolerance -1", "float_tolerance nan", "float_tolerance inf", "other"],
)  # fmt: skip
def test_flags_that_no_mode_judges_as_are_refused(write: Write, flags: str) -> None:
    with pytest.raises(InputError, match=r"twice/data/secret/1\.in"):
        load_package(write({"problem.yaml": f"validator_flags: {flags}\n"}))


@pytest.mark.parametrize(("options", "role"), [("", "checker"), (" interactive", "interactor")])
def test_a_validator_of_its_own(write: Write, options: str, role: str) -> None:
    package = load_package(
        write({**VALIDATOR, "problem.yaml": f"validation: custom{options}\nvalidator_flags: one two\n"})
    )
    record = package.cases[0].judging[role]
    assert (record["language"], record["protocol"], record["args"]) == ("cpp20", "icpc", ["one", "two"])
    assert (list(record["files"]), "42" in record["code"]) == (["check.h"], True)


def test_the_draft_needs_no_word_on_its_validator(write: Write) -> None:
    package = load_package(
        write(
            {
                "problem.yaml": "problem_format_version: 2023-07-draft\nlimits: {time_limit: 1.5, memory: 64}\n",
                "output_validator/v.py": "raise SystemExit(42)\n",
                "data/secret/test_group.yaml": "output_validator_args: [a, 'b c']\n",
            }
        )
    )
    assert package.cases[0].judging["checker"]["args"] == ["a", "b c"]
    assert (package.time.seconds, package.time.multiplier, package.limits["memory_mb"]) == (1.5, 2.0, 64)


@pytest.mark.parametrize(
    ("files", "seconds"),
    [
        ({".timelimit": "3\n"}, 3.0),
        ({"domjudge-problem.ini": "color = '#fff'\ntimelimit = '0.5'\n"}, 0.5),
        ({"problem.yaml": "limits: {time_limit: 7}\n", ".timelimit": "3\n"}, 7.0),
    ],
)
def test_time_limits(write: Write, files: dict[str, str], seconds: float) -> None:
    assert load_package(write(files)).time.seconds == seconds


def test_a_time_limit_that_follows(write: Write) -> None:
    time = load_package(write({"problem.yaml": "limits: {time_multiplier: 4}\n"})).time
    assert [time.derived(slowest) for slowest in (0.0, 0.25, 0.26, 2.0)] == [1.0, 1.0, 2.0, 8.0]


def test_submissions_by_folder_annotation_and_rule(write: Write) -> None:
    package = load_package(
        write(
            {
                "submissions/wrong_answer/w.cpp": "int main() {}\n",
                "submissions/mixed/m.c": "/* @EXPECTED_RESULTS@: TIMELIMIT, RUN-ERROR */ int main() {}\n",
                "submissions/mixed/n.c": "// @EXPECTED_RESULTS@: PERHAPS\n",
                "submissions/other/o.rb": "puts 1\n",
                "submissions/accepted/p.lisp": "(print 1)\n",
                "submissions/accepted/q/main.py": "import other\n", "submissions/accepted/q/other.py": "x = 1\n",
                "submissions/accepted/r/a.py": "", "submissions/accepted/r/b.py": "",
                "submissions/accepted/s/A.java": "class A {}", "submissions/accepted/s/B.java":
                    "class B { public static void main(String[] a) {} }",
                "submissions/submissions.yaml":
                    "accepted/a.*: {use_for_time_limit: false}\nwrong_answer/*: {required: [WA]}\n",
            }
        )
    )  # fmt: skip
    found = {given.name: (str(given.expected), given.timed, given.problem[:20]) for given in package.submissions}
    assert found == {
        "accepted/a.py": ("AC", False, ""),
        "accepted/p.lisp": ("AC", False, "is in no language th"),
        "accepted/q": ("AC", True, ""),
        "accepted/r": ("AC", False, "does not show which "),
        "accepted/s": ("AC", True, ""),
        "mixed/m.c": ("RTE|TLE", False, ""),
        "mixed/n.c": ("None", False, "@EXPECTED_RESULTS@ h"),
        "other/o.rb": ("None", False, ""),
        "wrong_answer/w.cpp": ("WA", False, ""),
    }
    for name, main in (("accepted/q", "main.py"), ("accepted/s", "B.java")):
        source = submission(package, name).source
        assert source is not None
        assert (source.main, len(source.files)) == (main, 1)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("accepted: {permitted: [AC, TLE]}", ["AC|TLE"]),
        ("accepted/: {permitted: [AC, TLE], required: [TLE]}", ["TLE"]),
        ("accepted/*: {permitted: [AC, TLE], required: [TLE]}", ["TLE", "AC only"]),
        ("wrong_answer: {permitted: [AC, RTE]}", ["AC"]),
        ("'*': {required: [RTE]}", ["RTE", "AC only"]),
        ("'*.py': {required: [RTE]}", ["AC"]),
        ("'accepted/[a]*': {required: [RTE]}", ["AC"]),
        ("'a*/a.*': {required: [RTE]}", ["RTE", "AC only"]),
    ],
)
def test_which_submissions_a_rule_means(write: Write, rules: str, said: list[str]) -> None:
    version = "problem_format_version: 2023-07\n"
    [found] = load_package(write({"problem.yaml": version, "submissions/submissions.yaml": f"{rules}\n"})).submissions
    assert found.expected is not None
    only = ["AC only"] * (len(said) > 1 and found.expected.permitted == {"AC"})
    assert [str(found.expected), *only] == said


def test_the_rule_of_a_folder_stands_in_the_place_of_what_that_means(write: Write) -> None:
    version, late = "problem_format_version: 2023-07\n", {"submissions/time_limit_exceeded/t.py": "print(1)\n"}
    rules = "time_limit_exceeded: {permitted: [AC, WA, TLE]}\nmixed: {required: [WA]}\n"
    files = {"problem.yaml": version, "submissions/submissions.yaml": rules, "submissions/mixed/m.py": "print(2)\n"}
    found = {given.name: given.expected for given in load_package(write({**files, **late})).submissions}
    wa, tle = frozenset({"WA"}), frozenset({"TLE"})
    assert found["time_limit_exceeded/t.py"] == Expectation(permitted=frozenset({"AC", "WA", "TLE"}), required=(tle,))
    assert found["mixed/m.py"] == Expectation(permitted=ANY, required=(wa,))


def test_included_files_replace_those_of_a_submission_and_some_go_with_all(write: Write) -> None:
    files = {
        "problem.yaml": "problem_format_version: 2023-07\n",
        "include/python3/lib.py": "ours", "include/default/data.txt": "all", "include/default/lib.py": "all",
        "submissions/accepted/b/main.py": "import lib", "submissions/accepted/b/lib.py": "theirs",
    }  # fmt: skip
    package = load_package(write(files))
    source = submission(package, "accepted/b").source
    assert source is not None
    assert (source.main, source.files) == ("main.py", {"lib.py": "ours", "data.txt": "all"})
    assert package.notes == ()


@pytest.mark.parametrize(
    ("flags", "aggregation", "accepts"),
    [
        ("", "sum", "all"),
        ("first_error", "sum", "all"),
        ("avg accept_if_any_accepted first_error", "avg", "any"),
        ("accept_if_any_accepted always_accept", "sum", "always"),
        (None, "max", "always"),
    ],
)
def test_flags_of_the_grader_stand_in_the_place_of_those_handed_down(
    write: Write, flags: str | None, aggregation: str, accepts: str
) -> None:
    inner = {} if flags is None else {"data/secret/testdata.yaml": f"grader_flags: {flags}\n"}
    outer = {"data/testdata.yaml": "grader_flags: max always_accept\n"}
    scoring = load_package(write({"problem.yaml": "type: scoring\n", **outer, **inner})).scoring
    assert scoring is not None
    [group] = scoring.members
    assert not isinstance(group, str)
    assert (group.aggregation, group.accepts) == (aggregation, accepts)


def test_points_that_problem_yaml_changes_are_not_shown(write: Write) -> None:
    for grading, shown in (("{objective: min, range: 0 9}", True), ("{accept_score: 9}", False)):
        package = load_package(write({"problem.yaml": f"type: scoring\ngrading: {grading}\n"}))
        assert (package.scoring is not None, len(package.notes)) == (shown, not shown)


def test_what_may_have_been_meant_and_plays_no_part_is_a_note(write: Write) -> None:
    stray = {"data/secret/2.ans": "", "data/sample/3.ans": "", "data/4.in": "", "data/invalid_input/5.in": ""}
    package = load_package(write({**stray, "output_validators/v.py": ""}))
    assert [note.rpartition("twice/")[2] for note in package.notes] == [
        "data/sample/3.ans is no test: it has no input beside it (nor are 1 more like it)",
        "data/4.in is no test: it is neither in data/sample nor in data/secret",
        "output_validators is not used: problem.yaml does not say validation: custom",
    ]


def test_included_files_go_with_their_language(write: Write) -> None:
    package = load_package(
        write(
            {
                "include/cpp/run.cpp": "int main() { return solve(); }\n", "include/cpp/run.h": "int solve();\n",
                "include/python3/lib.py": "x = 1\n", "include/cobol/x.cob": "",
                "submissions/accepted/b.cpp": "int solve() { return 0; }\n",
            }
        )
    )  # fmt: skip
    python, cpp = (submission(package, f"accepted/{name}").source for name in ("a.py", "b.cpp"))
    assert python is not None
    assert cpp is not None
    assert (python.main, list(python.files)) == ("a.py", ["lib.py"])
    assert (cpp.main, sorted(cpp.files)) == ("run.cpp", ["b.cpp", "run.h"])
    assert ["cobol" in note for note in package.notes] == [True]


def test_an_unknown_key_is_a_note_with_its_line(write: Write) -> None:
    package = load_package(write({"problem.yaml": "name: x\nvalidator_flag: case_sensitive\n"}))
    assert [note.rpartition("twice/")[2] for note in package.notes] == ["problem.yaml:2: validator_flag is not read"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"problem.yaml": None}, "is no problem package that is known here"),
        ({"problem.yaml": "- 1\n"}, "problem.yaml:1: must be a mapping, not a list"),
        ({"problem.yaml": "name: x\ntype: multi-pass\n"}, "problem.yaml:2: type: 'multi-pass' is not supported"),
        ({"problem.yaml": "problem_format_version: 2042-01\n"}, "problem.yaml:1: problem_format_version: '2042-01'"),
        ({"problem.yaml": "validation: costum\n"}, "problem.yaml:1: validation: 'costum' is not known"),
        ({"problem.yaml": "validation: ''\n"}, "validation: '' is not known"),
        ({"problem.yaml": "validation: custom\n"}, "has no output validator"),
        ({"problem.yaml": "validation: default interactive\n"}, "validation: 'default interactive' is not known"),
        ({"problem.yaml": "validation: custom score\n"}, "problem.yaml:1: validation: a validator that gives points"),
        ({"problem.yaml": "problem_format_version: 2023-07\ntype: scoring\n",
          "output_validator/v.py": "open(argv[3] + 'score.txt', 'w')"}, "a validator that gives points"),
        ({"problem.yaml": "validator_flags: float_tolerance 2\n"}, "1.in: a relative tolerance of 1 or more"),
        ({"problem.yaml": "type: interactive\n"}, "is interactive, but has no validator"),
        ({"problem.yaml": "limits: {memory: lots}\n"}, "limits.memory: must be a number"),
        ({"problem.yaml": "limits: {time_limt: 3}\n"}, "limits.time_limt: is not known (did you mean time_limit?)"),
        ({"problem.yaml": "limits: {time_multiplier: 0.5}\n"}, "limits.time_multiplier: 0.5 makes no sense"),
        ({"problem.yaml": "constants: {n: 3}\n"}, "constants in files are not supported"),
        ({"problem.yaml": b"\xff\xfe"}, "problem.yaml: not UTF-8 at byte 1"),
        ({".timelimit": "soon\n"}, ".timelimit:1: must be a number, not 'soon'"),
        ({"data/secret/1.in": None}, "data: holds no tests"),
        ({"data/secret/1.ans": None}, "data/secret/1.in: has no answer"),
        ({"data/secret/1.ans": b"\xff"}, "data/secret/1.ans: not UTF-8 at byte 1"),
        ({"data/secret/1.args": "x"}, "1.args: arguments of the program's command line"),
        ({"data/secret/1.yaml": "args: [x]"}, "1.yaml:1: args: arguments of the program's command line"),
        ({"data/secret/1/2.in": "", "data/secret/1/2.ans": ""}, "data/secret/1: is a case and a group"),
        ({"data/secret/testdata.yaml": "a: [\n"}, "testdata.yaml:2: no YAML"),
        ({"data/secret/testdata.yaml": "on_reject: halt\n"}, "testdata.yaml:1: on_reject: 'halt' is not known"),
        ({**VALIDATOR, "output_validators/check/build": "#!/bin/sh"}, "check/build: is a script"),
        ({**VALIDATOR, "output_validators/more/v.py": ""}, "holds several validators"),
        ({**VALIDATOR, "output_validators/check/v.py": ""}, "check: mixes cpp20 and python"),
        ({"submissions/submissions.yaml": "a: {permitted: [OK]}\naccepted/*: {permitted: [OK]}\n"},
         "submissions.yaml:2: accepted/*.permitted: holds an outcome that is not known"),
        ({"submissions/submissions.yaml": "a: {scoer: 3}\n"}, "a.scoer: is not known"),
    ],
)  # fmt: skip
def test_what_is_unusable_is_told_with_its_place(write: Write, files: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        load_package(write(files))
    assert problem in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.dictionaries(
        st.sampled_from(
            ["problem.yaml", "data/secret/testdata.yaml", "submissions/submissions.yaml", ".timelimit", "init.yml",
             "domjudge-problem.ini", "data/secret/1.yaml", "submissions/accepted/a.py", "include/cpp/x.h"]
        ),
        st.text(alphabet="ab:-[]{},&*!\"#% \n1.", max_size=30)
        | st.builds(
            "{}: {}\n".format,
            st.sampled_from("type validation limits validator_flags on_reject grader_flags accepted/*".split()),
            st.sampled_from(["1", "[]", "{}", "null", "[1, [2]]", "{a: 1}", "true", "{permitted: 3}", "custom score"]),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_a_package_is_read_or_an_input_error(write: Write, files: dict[str, str]) -> None:
    path = write(files, zipped=True)
    with contextlib.suppress(InputError):
        load_package(path)
