"""Raw records to samples: what each field becomes, and the field and mend of every refusal."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalebox.core import values
from scalebox.core.errors import InputError, SettingsError
from scalebox.core.limits import PROFILES, Limits
from scalebox.core.sample import CallTest, JudgeProgram, Match, Sample, StdinTest
from scalebox.core.settings import Settings
from scalebox.parse import parse_line, parse_sample

SETTINGS = Settings()
STDIN = {"stdin": "1 2\n", "stdout": "3\n"}
CALL = {"call": "f", "args": [1], "expect": 2}
PYTEST = {"files": {"test_x.py": "def test_a(): assert f(1)"}, "required": ["test_x.py::test_a"]}


CHECKER = {"language": "c", "code": "int main() {}", "protocol": "icpc"}
INTERACTOR = CHECKER | {"protocol": "icpc"}


def _sample(**fields: Any) -> dict[str, Any]:
    """Return a usable record with `fields` changed; a field of ... is left out."""
    raw = {"id": "s-1", "code": "pass", "tests": [STDIN]} | fields
    return {name: value for name, value in raw.items() if value is not ...}


def _calls(**fields: Any) -> dict[str, Any]:
    test = {name: value for name, value in (CALL | fields).items() if value is not ...}
    return _sample(tests=[test])


def _stdin(**fields: Any) -> dict[str, Any]:
    test = {name: value for name, value in (STDIN | fields).items() if value is not ...}
    return _sample(tests=[test])


def _parse(raw: dict[str, Any], settings: Settings = SETTINGS) -> Sample:
    return parse_sample(raw, settings=settings)


def _call(raw: dict[str, Any]) -> CallTest:
    test = _parse(raw).tests[0]
    assert isinstance(test, CallTest)
    return test


def test_a_sample_of_the_shortest_form() -> None:
    assert _parse(_sample()) == Sample(
        id="s-1", code="pass", tests=(StdinTest(id="0", stdin="1 2\n", stdout="3\n"),), limits=Limits()
    )


def test_every_field_of_a_sample() -> None:
    raw = _sample(
        code=...,
        response="an answer",
        problem_id="p-7",
        language="Python3",
        match={"mode": "float", "abs": 0.5},
        limits={"timeout_sec": 3},
        profile="rlvr",
        reward="all_or_nothing",
        meta={"step": 1 << 70},
        trajectory=[{"kind": "message", "text": "hm"}],
        reference="pass",
        tests_written=["assert True"],
    )
    sample = _parse(raw)
    assert (sample.response, sample.code, sample.language) == ("an answer", None, "python")
    assert sample.match == Match(mode="float", abs=0.5)
    assert sample.limits == msgspec.structs.replace(PROFILES["rlvr"], wall_s=3.0)
    assert (sample.problem_id, sample.reward, sample.meta) == ("p-7", "all_or_nothing", {"step": 1 << 70})
    assert sample.steps == 1


def test_settings_give_what_a_sample_leaves_out() -> None:
    settings = Settings(
        profile="small",
        profiles={"small": Limits(memory_mb=64)},
        reward="all_or_nothing",
        extraction="longest",
        early_stop=True,
    )
    sample = _parse(_sample(), settings)
    assert sample.limits.memory_mb == 64
    assert (sample.reward, sample.extract, sample.early_stop) == ("all_or_nothing", "longest", True)


def test_a_senseless_default_reward_is_an_error_of_the_settings() -> None:
    with pytest.raises(SettingsError, match="reward"):
        _parse(_sample(), Settings(reward="most"))


def test_null_counts_as_left_out() -> None:
    nulls = dict.fromkeys(["response", "problem_id", "match", "limits", "profile", "reward", "prompt", "checker"])
    assert _parse(_sample(**nulls)) == _parse(_sample())


def test_every_field_of_a_stdin_test() -> None:
    raw = _stdin(id="big", hidden=False, weight=2, files={"data/in.txt": "x", "b": ""})
    expected = StdinTest(
        id="big", stdin="1 2\n", stdout="3\n", files={"data/in.txt": "x", "b": ""}, hidden=False, weight=2.0
    )
    assert _parse(raw).tests == (expected,)


def test_default_ids_are_places() -> None:
    assert [test.id for test in _parse(_sample(tests=[STDIN, STDIN | {"id": "x"}, STDIN])).tests] == ["0", "x", "2"]


def test_a_call_in_json() -> None:
    test = _call(_calls(call="Solution().f", args=[[1, 2.5], "x"], kwargs={"k": None}, expect={"a": [1]}))
    assert test.call == "Solution().f"
    assert values.decode(test.arguments) == (([1, 2.5], "x"), {"k": None})
    assert values.decode(test.expect) == {"a": [1]}
    assert test.expect_json


def test_a_call_in_python_literals() -> None:
    test = _call(_calls(args=..., args_repr="[(1, 2), {3}]", expect=..., expect_repr="frozenset({inf, 1j})"))
    assert values.decode(test.arguments) == (((1, 2), {3}), {})
    assert values.decode(test.expect) == frozenset({math.inf, 1j})
    assert not test.expect_json


def test_null_may_be_expected() -> None:
    assert values.decode(_call(_calls(expect=None)).expect) is None
    assert values.decode(_call(_calls(expect=None, expect_repr="(1,)")).expect) == (1,)


def test_records_filled_up_with_nulls() -> None:
    filled = {"call": None, "args": None, "expect": None, "assert": None, "files": None, "id": None}
    assert _parse(_sample(tests=[STDIN | filled])).tests == _parse(_sample()).tests


def test_python_values_need_no_json() -> None:
    test = _call(_calls(args=((1, 2),), expect={1, 2}))
    assert values.decode(test.arguments) == (((1, 2),), {})
    assert values.decode(test.expect) == {1, 2}


_LIKE = [
    1,
    1.0,
    True,
    None,
    "1",
    -0.0,
    0.0,
    math.nan,
    1 << 70,
    [1],
    (1,),
    [1.0],
    {"1": 1},
    b"1",
    bytearray(b"1"),
    {1},
    [],
    (),
]


@given(st.lists(st.sampled_from(_LIKE), min_size=1, max_size=12))
def test_tests_seen_before_are_told_from_others_like_them(seen: list[Any]) -> None:
    for value in [*seen, *seen]:
        test = _call(_calls(args=[value], expect=value))
        assert test.expect == values.encode(value)
        assert test.arguments == values.encode(((value,), {}))


def test_tests_that_their_owner_changes_are_other_tests() -> None:
    line = json.dumps(_calls(args=[[1]]))
    raw = json.loads(line)
    assert _parse(raw).tests is _parse(json.loads(line)).tests
    raw["tests"][0]["args"][0].append(2)
    assert _call(raw).arguments == values.encode((([1, 2],), {}))


def test_tests_seen_before_are_held_to_the_limits_of_each_sample() -> None:
    assert _parse(_stdin(stdin="1" * 100)).tests
    for _ in range(2):
        with pytest.raises(InputError, match="stdin_mb"):
            _parse(_stdin(stdin="1" * 100) | {"limits": {"stdin_mb": 0.00001}})


def test_lone_surrogates() -> None:
    assert _parse(_sample(code="x = '\ud800'")).code == "x = '\ufffd'"
    assert _parse(_sample(code=..., response="\udfff")).response == "\ufffd"
    assert values.decode(_call(_calls(args=["\ud800"])).arguments) == (("\ud800",), {})


MISSING_ID = _sample(id=...)
BAD: list[tuple[dict[str, Any], str, str, str]] = [
    # record, field, part of the problem, part of the mend
    (MISSING_ID, "id", "missing", "s-1"),
    (_sample(id=7), "id", "must be a string, not a number", '"7"'),
    (_sample(id=True), "id", "not a boolean", "s-1"),
    (_sample(id=""), "id", "1 to 512 characters", "s-1"),
    (_sample(id="x" * 513), "id", "1 to 512 characters", "s-1"),
    (_sample(id="\ud800"), "id", "lone surrogate", ""),
    (_sample(problem_id=7), "problem_id", "must be a string", '"7"'),
    (_sample(code=...), "response", "neither response nor code", "give one"),
    (_sample(code=None), "response", "neither response nor code", "give one"),
    (_sample(response="x"), "response", "both response and code", "give one"),
    (_sample(code=3), "code", "must be a string, not a number", "source as it is"),
    (_sample(code=..., response=["x"]), "response", "must be a string, not an array", "the text of"),
    (_sample(language="Cobol"), "language", "no such language: Cobol", "python"),
    (_sample(language="ruby", tests=[CALL]), "tests", "call tests are not supported by this version for ruby", "stdin"),
    (_sample(language="rust", tests=[{**CALL, "kwargs": {"a": 1}}]), "tests[0].kwargs", "no arguments by name", "args"),
    (_sample(language="go", tests=[{"call": "f", "args_repr": "[[{1: b'x'}]]", "expect": 1}]), "tests[0].args_repr",
     "bytes cannot be carried to go", "lists"),
    (_sample(language="c++", tests=[{"assert": "x"}]), "tests", "assert tests are not supported", "stdin"),
    (_sample(language="java", prompt="x"), "prompt", "not supported by this version for java", "leave it out"),
    (_sample(language="klingon"), "language", "no such language: klingon", "python"),
    (_sample(language=3), "language", "must be a string", ""),
    (_sample(tests=...), "tests", "missing", "give the tests"),
    (_sample(tests=..., problem_id="p"), "tests", "missing", "--problems, ScaleBoxClient(problems=…)"),
    (_sample(tests={}), "tests", "must be an array, not an object", "even of one"),
    (_sample(tests="x"), "tests", "must be an array, not a string", "decoded first"),
    (_sample(tests=[]), "tests", "no tests: nothing could be judged, never passed", "at least one"),
    (_sample(tests=[3]), "tests[0]", "must be an object, not a number", ""),
    (_sample(tests=["assert f(1)"]), "tests[0]", "must be an object, not a string", '{"assert": '),
    (_sample(tests=[{}]), "tests[0]", "nothing to test", "stdin and stdout"),
    (_sample(tests=[{"id": "x"}]), "tests[0]", "nothing to test", "call, args and expect"),
    (_sample(tests=[STDIN, CALL]), "tests[1]", "may not mix kinds", "sample of its own"),
    (_sample(tests=[STDIN | CALL]), "tests[0]", "different kinds of test", "one kind"),
    (_sample(tests=[STDIN | {"id": "1"}, STDIN]), "tests[1].id", "tests[0] has the id 1 too", "its own"),
    (_sample(limit=1), "limit", "no such field", "limits"),
    (_sample(completion="x"), "completion", "no such field", "response"),
    (_sample(colour="red"), "colour", "no such field", "meta"),
    (_sample(match=3), "match", "must be an object, not 3", "tokens"),
    (_sample(match={"mode": "float", "abs": "x"}), "match.abs", "must be a number, not 'x'", "1e-6"),
    (_sample(match={"mode": "fuzzy"}), "match.mode", "", ""),
    (_sample(match={"mode": "strict_types"}), "match.mode", "", ""),
    (_sample(match={"mode": "regex"}, tests=[STDIN, STDIN | {"stdout": "("}]), "tests[1].stdout", "", ""),
    (_sample(reward="most"), "reward", "most", "pass_rate"),
    (_sample(reward={}), "reward", "must be a string", ""),
    (_sample(profile="huge"), "profile", "no such profile: huge", "rlvr"),
    (_sample(profile=3), "profile", "must be a string", ""),
    (_sample(limits=3), "limits", "must be an object", "cpu_s"),
    (_sample(limits={"cpu": 1}), "limits.cpu", "no such limit", "cpu_s"),
    (_sample(limits={"cpu_s": -1}), "limits.cpu_s", "makes no sense", "more than 0"),
    (_sample(limits={"cpu_s": "3"}), "limits.cpu_s", "must be a number, not '3'", "such as 2"),
    (_sample(limits={"memory_mb": 10**9}), "limits.memory_mb", "makes no sense", "at most 1048576"),
    (_sample(limits={"cpu_s": 10**400}), "limits.cpu_s", "makes no sense", "at most"),
    (_sample(limits={"wall_s": 1, "timeout_sec": 1}), "limits.timeout_sec", "given twice", "alias"),
    (_sample(trajectory="x"), "trajectory", "array of objects", "kind"),
    (_sample(trajectory=["x"]), "trajectory", "array of objects", "kind"),
    (_sample(reference=3), "reference", "must be a string", "solution"),
    *((_sample(**{name: "x"}), name, "not supported by this version", "leave it out") for name in (
        "patch", "repo",
    )),
    (_sample(checker="x"), "checker", "must be an object", "protocol"),
    (_sample(checker={"code": "x"}), "checker.language", "missing", "written in"),
    (_sample(checker=CHECKER | {"args": ["a", "b\0"]}), "checker.args[1]", "cannot be a word", "no NUL"),
    (_sample(checker=CHECKER | {"args": ["x" * 100_001]}), "checker.args[0]", "cannot be a word", "at most 100000"),
    (_sample(checker={"language": "latin"}), "checker.language", "no such language", "cpp"),
    (_sample(checker=CHECKER | {"protocol": "python"}), "checker.protocol", "not for c", "in Python alone"),
    (_sample(checker=CHECKER | {"files": {"solution.c": ""}}), "checker.files.solution.c", "program itself", "as code"),
    (_sample(checker=CHECKER | {"files": {"../x": ""}}), "checker.files.../x", "", ""),
    (_sample(checker=CHECKER | {"limits": {}}), "checker.limits", "no such field", "leave it out"),
    (_sample(checker=CHECKER, match={"mode": "exact"}), "match", "both match and checker", "one of them"),
    (_sample(checker=CHECKER, tests=[CALL]), "checker", "call tests judge by themselves", "stdin and stdout"),
    (_sample(interactor={"language": "c", "code": " "}), "interactor.code", "is empty", ""),
    (_sample(interactor={"language": "c", "code": "x", "args": "-v"}), "interactor.args", "must be an array", "texts"),
    (_sample(interactor={"language": "c", "code": "x", "protocol": "spoj"}), "interactor.protocol", "no such", "icpc"),
    (_sample(interactor={"language": "c", "code": "x", "protocol": "icpc", "files": 3}), "interactor.files",
     "must be an object", ""),
    (_sample(interactor=INTERACTOR, tests=[CALL]), "interactor", "call tests have nobody to talk to", "leave it out"),
    (
        _sample(interactor={**INTERACTOR, "language": "python", "protocol": "python"}),
        "interactor.protocol", "cannot talk", "testlib",
    ),
    (_sample(interactor=INTERACTOR, checker=INTERACTOR), "checker", "not together", "the interactor judges"),
    (_sample(interactor=INTERACTOR, match={"mode": "exact"}), "match", "not together", "the interactor judges"),
    (_stdin(stdin=...), "tests[0].stdin", "missing", '"stdin": ""'),
    (_stdin(stdout=...), "tests[0].stdout", "missing", '"stdout": ""'),
    (_stdin(stdin=3), "tests[0].stdin", "must be a string, not a number", ""),
    (_stdin(stdin="\ud800"), "tests[0].stdin", "lone surrogate", ""),
    (_stdin(stdout="\udfff"), "tests[0].stdout", "lone surrogate", ""),
    (_stdin(stdin="é" * (8 * 1024 * 1024) + "x"), "tests[0].stdin", "16777217 bytes", "stdin_mb"),
    (_stdin(input="1"), "tests[0].input", "no such field", "stdin"),
    (_stdin(timeout=3), "tests[0].timeout", "no such field", "limits.cpu_s"),
    (_stdin(stdoud="1"), "tests[0].stdoud", "no such field", "stdout"),
    (_stdin(id=3), "tests[0].id", "must be a string", '"3"'),
    (_stdin(hidden=1), "tests[0].hidden", "true or false", ""),
    (_stdin(weight=0), "tests[0].weight", "makes no sense", "more than 0"),
    (_stdin(weight=-1), "tests[0].weight", "makes no sense", "more than 0"),
    (_stdin(weight=math.nan), "tests[0].weight", "makes no sense", "more than 0"),
    (_stdin(weight=math.inf), "tests[0].weight", "makes no sense", "more than 0"),
    (_stdin(weight=10**400), "tests[0].weight", "makes no sense", "more than 0"),
    (_stdin(weight=True), "tests[0].weight", "must be a number, not a boolean", ""),
    (_stdin(weight="1"), "tests[0].weight", "must be a number, not a string", ""),
    (_stdin(files=[]), "tests[0].files", "must be an object", ""),
    (_stdin(files={"a": 1}), "tests[0].files.a", "must be a string", ""),
    (_stdin(files={"a": "\ud800"}), "tests[0].files.a", "lone surrogate", ""),
    *((_stdin(files={name: ""}), f"tests[0].files.{shown}", "no name for a file", "working directory")
      for name, shown in (
          ("/etc/passwd", "/etc/passwd"), ("../x", "../x"), ("a/../b", "a/../b"), ("a//b", "a//b"), (".", "."),
          ("", ""), ("a/", "a/"), ("a\0b", r"'a\x00b'"), ("\ud800", r"'\ud800'"), ("x" * 256, repr("x" * 64)),
    )),
    (_stdin(files={"a/b": "", "a": ""}), "tests[0].files.a/b", "a file and a directory", ""),
    (_stdin(files={"a/b/c": "", "a/b": ""}), "tests[0].files.a/b/c", "a/b is a file and a directory", ""),
    (_stdin(files={"a/b/c": "", "a": "", "ab": ""}), "tests[0].files.a/b/c", "a is a file and a directory", ""),
    (_stdin(files={"a": "x" * 101 * 1024 * 1024}), "tests[0].files", "more than the limit disk_mb", "disk_mb"),
    (_calls(files={"a": ""}), "tests[0].files", "has no files", "leave it out"),
    (_calls(call=...), "tests[0].call", "missing", "name the function"),
    (_calls(call=3), "tests[0].call", "must be a string", ""),
    *((_calls(call=name), "tests[0].call", "names no function", "Solution.f") for name in (
        "", "f()", "f(1)", "1f", "a..b", "os.system('x')", "f\n", "a b",
    )),
    (_calls(args=...), "tests[0].args", "missing", '"args": []'),
    (_calls(args=3), "tests[0].args", "must be an array of arguments, not a number", "[x]"),
    (_calls(args={"a": 1}), "tests[0].args", "must be an array of arguments, not an object", "[x]"),
    (_calls(args=[object()]), "tests[0].args", "holds object", "plain data"),
    (_calls(kwargs=[1]), "tests[0].kwargs", "must be an object", ""),
    (_calls(kwargs={"k": object()}), "tests[0].kwargs", "holds object", "plain data"),
    (_calls(expect=...), "tests[0].expect", "missing", "null is one"),
    (_calls(expect=object()), "tests[0].expect", "holds object", "plain data"),
    (_calls(args_repr="[1]"), "tests[0].args_repr", "args is given too", "one of the two"),
    (_calls(expect_repr="1"), "tests[0].expect_repr", "expect is given too", "one of the two"),
    (_calls(args=..., args_repr="(1)"), "tests[0].args_repr", "must be an array of arguments", "[x]"),
    (_calls(args=..., args_repr="(1,"), "tests[0].args_repr", "never closed at character 1", "Python literal"),
    (_calls(args=..., args_repr="[open('x')]"), "tests[0].args_repr", "Call at character 2", "Python literal"),
    (_calls(args=..., args_repr=[1]), "tests[0].args_repr", "must be a string", ""),
    (_calls(expect=..., expect_repr="{[]}"), "tests[0].expect_repr", "unhashable", "Python literal"),
]  # fmt: skip


def test_a_checker() -> None:
    given = {"language": "C++", "code": "int main() {}", "protocol": "testlib", "files": {"a/b.h": "x"}, "args": ["-x"]}
    sample = parse_sample(_sample(checker=given), settings=Settings())
    assert sample.checker == JudgeProgram(
        language="cpp", code="int main() {}", protocol="testlib", files={"a/b.h": "x"}, args=("-x",)
    )
    assert parse_sample(_sample(), settings=Settings()).checker is None


@pytest.mark.parametrize(("raw", "field", "problem", "mend"), BAD, ids=range(len(BAD)))
def test_bad_records(raw: dict[str, Any], field: str, problem: str, mend: str) -> None:
    with pytest.raises(InputError) as caught:
        _parse(raw)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert mend in caught.value.mend
    assert str(caught.value).isprintable()


def test_nested_too_deeply() -> None:
    value: list[Any] = []
    for _ in range(300):
        value = [value]
    for raw in (_calls(args=[value]), _calls(expect=value)):
        with pytest.raises(InputError, match="deep"):
            _parse(raw)


@pytest.mark.parametrize("raw", [None, [], "x", 3])
def test_a_sample_is_an_object(raw: Any) -> None:
    with pytest.raises(InputError, match="must be an object"):
        parse_sample(raw, settings=SETTINGS)


def test_errors_of_a_line_say_where() -> None:
    line = json.dumps(_sample(tests=[])).encode()
    with pytest.raises(InputError) as caught:
        parse_line(line, settings=SETTINGS, source="in.jsonl", number=7)
    assert str(caught.value).startswith("in.jsonl:7: tests: no tests: nothing could be judged")
    with pytest.raises(InputError, match=r"^in.jsonl:8: broken JSON at column 8"):
        parse_line(b'{"id": "', settings=SETTINGS, source="in.jsonl", number=8)


def test_a_line_is_the_sample_of_its_record() -> None:
    raw = _calls(expect=[1, "é"])
    assert parse_line(json.dumps(raw).encode(), settings=SETTINGS) == _parse(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["id", "problem_id", "language", "response", "code", "tests", "match", "limits", "profile",
                         "reward", "meta", "trajectory", "reference", "prompt", "stop", "entry_point", "setup",
                         "solution_files", "main", "checker", "other"])  # fmt: skip
TEST_NAMES = st.sampled_from(["id", "hidden", "weight", "stdin", "stdout", "files", "call", "args", "args_repr",
                              "kwargs", "expect", "expect_repr", "assert", "harness", "prefix", "suffix", "required",
                              "mutant_control", "other"])  # fmt: skip
ANY_TEST = st.dictionaries(TEST_NAMES, JSON, max_size=3).flatmap(
    lambda changes: st.sampled_from([STDIN | changes, CALL | changes, PYTEST | changes, changes])
)


@given(st.dictionaries(NAMES, JSON, max_size=3), st.lists(ANY_TEST, max_size=3), st.booleans())
def test_any_object_is_a_sample_or_an_input_error(changes: dict[str, Any], tests: list[Any], bare: bool) -> None:
    raw = changes if bare else _sample(tests=tests) | changes
    try:
        sample = _parse(raw)
    except InputError as error:
        assert error.problem  # noqa: PT017 (either outcome is right)
    else:
        assert sample.tests
        assert (sample.response is None) != (sample.code is None)
        assert len({test.id for test in sample.tests}) == len(sample.tests)
