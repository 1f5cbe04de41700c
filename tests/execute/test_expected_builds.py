"""The engine's guess of which samples will be compiled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scalebox.core.sample import AssertTest, Sample, StdinTest
from scalebox.execute.expected_builds import ExpectedBuilds


def sample(
    language: str = "cpp", code: str = "int main() {}", stdin: str = "1", files: dict[str, str] | None = None
) -> Sample:
    tests = (StdinTest(id="0", stdin=stdin, stdout=""),)
    return Sample(id="s", language=language, code=code, tests=tests, solution_files=files or {})


@given(language=st.sampled_from(["python", "bash", "ruby", "no such language"]))
def test_what_no_compiler_sees_is_no_build(language: str) -> None:
    expected = ExpectedBuilds(kept=True)
    key = expected.key(sample(language))
    assert not expected.expects(key)


def test_what_was_built_is_not_built_again() -> None:
    expected = ExpectedBuilds(kept=True)
    key = expected.key(sample())
    assert expected.expects(key)
    expected.learn(key)
    assert not expected.expects(key)
    assert not expected.expects(expected.key(sample(stdin="2"))), "other tests, the same program"
    for other in (sample(code="int main() { }"), sample("c"), sample(files={"more.cpp": "int f;"})):
        assert expected.expects(expected.key(other))


def test_programs_made_of_their_tests_are_others_with_others() -> None:
    expected = ExpectedBuilds(kept=True)
    first, second = (
        Sample(id="s", language="go", code="x", tests=(AssertTest(id="0", source=source),)) for source in "ab"
    )
    expected.learn(expected.key(first))
    assert expected.expects(expected.key(second))


def test_without_a_cache_everything_is_built_again() -> None:
    expected = ExpectedBuilds(kept=False)
    key = expected.key(sample())
    expected.learn(key)
    assert expected.expects(key)
