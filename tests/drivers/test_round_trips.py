"""Every value of every type goes into a program and comes out of it as it was."""

# ruff: noqa: E501 - programs have long lines

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.drivers.conftest import LANGUAGES, Call, needed
from tests.drivers.types import EDGES, TYPES, case, identities, strategies

from scalebox.core.result import VerificationResult

pytestmark = pytest.mark.timeout(600)

#: What a language can tell apart is compared by type too: numbers of JavaScript are of one.
_STRICT = {"javascript": "value", "typescript": "value"}


def _failed(result: VerificationResult) -> list[tuple[str, str, str]]:
    return [
        (case.id, str(case.verdict), case.detail or case.stderr) for case in result.cases if case.verdict != "passed"
    ]


def test_values_at_the_ends_of_types(call: Call, language: str) -> None:
    values = [(kind, value) for kind in TYPES[language] for value in EDGES[kind]]
    tests = [{**case(kind, value), "id": f"{number}-{kind}"} for number, (kind, value) in enumerate(values)]
    result = call(language, identities(language), *tests, match={"mode": _STRICT.get(language, "strict_types")})
    assert (result.message, _failed(result)) == ("", [])


@pytest.mark.parametrize("language", LANGUAGES)
def test_any_value_comes_back_as_it_was(call: Call, language: str) -> None:
    needed(language)
    kinds = strategies(language)
    one = st.sampled_from(sorted(kinds)).flatmap(lambda kind: st.tuples(st.just(kind), kinds[kind]))

    @settings(max_examples=4, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(one, min_size=20, max_size=45))
    def check(values: list[tuple[str, object]]) -> None:
        mode = _STRICT.get(language, "strict_types")
        result = call(language, identities(language), *(case(*value) for value in values), match={"mode": mode})
        assert (result.message, _failed(result)) == ("", [])

    check()


_FLOATS = {
    "cpp": "double inverse(double x) { return 1 / x; }\ndouble none() { return NAN; }\nbool is_nan(double x) { return x != x; }",
    "java": "class A { static double inverse(double x) { return 1 / x; }\nstatic double none() { return 0.0 / 0; }\n"
    "static boolean is_nan(double x) { return x != x; } }",
    "rust": "fn inverse(x: f64) -> f64 { 1.0 / x }\nfn none() -> f64 { -f64::NAN }\nfn is_nan(x: f64) -> bool { x.is_nan() }",
    "go": "func inverse(x float64) float64 { return 1 / x }\nfunc none() float64 { return math.NaN() }\n"
    "func is_nan(x float64) bool { return x != x }",
    "javascript": "const inverse = x => 1 / x, none = () => NaN;\nconst is_nan = (x) => x !== x;",
    "typescript": "function inverse(x: number) { return 1 / x; }\nfunction none() { return NaN; }\n"
    "function is_nan(x: number) { return x !== x; }",
}


def test_zero_keeps_its_sign_and_nan_is_equal_to_nothing(call: Call, language: str) -> None:
    tests = [
        {"call": "inverse", "args_repr": "[-0.0]", "expect_repr": "-inf"},
        {"call": "is_nan", "args_repr": "[nan]", "expect": True},
        {"call": "none", "args": [], "expect_repr": "nan"},
    ]
    found = [str(case.verdict) for case in call(language, _FLOATS[language], *tests).cases]
    assert found == ["passed", "passed", "assert_fail"]


def test_keys_of_json_stand_for_integers(call: Call, language: str) -> None:
    tests = [{"call": "id_numbered", "args": [{"-7": "a", "9": ""}], "expect_repr": "{-7: 'a', 9: ''}"}]
    assert call(language, identities(language), *tests).verdict == "passed"


_UNFIT = [
    ("i32", 2**31, "is out of range"), ("i32", "12", "is no integer"), ("i32", 1.0, "is no integer"),
    ("i32", True, "is no integer"), ("i32", None, ""), ("f64", "1", "is no number"), ("bool", 1, "is no bool"),
    ("str", 1, "is no "), ("char", "ab", "is no char"), ("ints", 1, "is no list"), ("ints", [1, "2"], "is no integer"),
    ("longs", [1], "is no list"), ("named", [1], "is no "), ("list_node", 1, ""), ("tree_node", [1, None, None, 4], "parent"),
]  # fmt: skip


@pytest.mark.parametrize("language", ["cpp", "go", "java", "rust"])
def test_what_does_not_fit_the_type_is_told(call: Call, language: str) -> None:
    result = call(needed(language), identities(language), *(case(kind, value) for kind, value, _ in _UNFIT))
    for (kind, value, problem), one in zip(_UNFIT, result.cases, strict=True):
        told = one.detail.removeprefix("the arguments do not fit the function: argument 1 ")
        assert (one.verdict, told != one.detail, problem in told) == ("runtime_error", True, True), (
            kind,
            value,
            one.detail,
        )


def test_what_does_not_fit_the_type_of_a_script_is_told(call: Call) -> None:
    values = [
        ("i32", 2**60, "is more than a number holds exactly"), ("i32", "1", "is no number"), ("str", 1, "is no string"),
        ("i64", 1.5, "is no bigint"), ("bool", 1, "is no boolean"), ("longs", [1], "is no list"),
        ("numbered", {"a": ""}, "is no bigint"), ("set", 1, "is no list"), ("pair", [1], "another length"),
        ("maybe", "1", "is no number"), ("tree_node", [1, None, None, 4], "without a parent"),
    ]  # fmt: skip
    result = call(needed("typescript"), identities("typescript"), *(case(kind, value) for kind, value, _ in values))
    for (_, _, problem), one in zip(values, result.cases, strict=True):
        assert one.verdict == "runtime_error"
        assert one.detail.startswith("the arguments do not fit the function: argument 1 ")
        assert problem in one.detail
