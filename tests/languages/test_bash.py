"""Bash reads some patterns only after an option: the check of the syntax takes what a run takes, and no more."""

from __future__ import annotations

import pytest
from tests.languages.conftest import Verify

_ON = "shopt -s extglob\nread -r a b\n"
_SUM = "echo $((a + b))\n"

RIGHT = {
    "a case": _ON + "case $a in\n  +([0-9])) ;;\n  !(x*)|@(y|z)) exit 1 ;;\nesac\n" + _SUM,
    "an argument": _ON + "for f in !(*.txt|*.sh); do :; done\n" + _SUM,
    "a function": _ON + "digits() { case $1 in ?(-)+([0-9])) return 0 ;; esac; return 1; }\ndigits $a && " + _SUM,
    "beside another option": _ON.replace("extglob", "nullglob extglob") + "set -- *(q)\n" + _SUM,
    "what the option reads in another way": _ON + "if false; then !(false); fi\n" + _SUM,
    "in a test or an expansion": "read -r a b\n[[ $a == +([0-9]) ]] && a=${a##*( )}\n" + _SUM,
}
#: A program, and the line.
WRONG = {
    "a pattern, and cut short": (_ON + "case $a in\n  +([0-9])) ;;\nesac\nif true; then\n", 7),
    "a pattern without the option": ("read -r a b\ncase $a in\n  +([0-9])) ;;\nesac\n" + _SUM, 3),
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("language", ["bash"])
def test_a_right_script_passes(verify: Verify, language: str, name: str) -> None:
    result = verify(language, RIGHT[name])
    assert (result.verdict, result.message, result.denied) == ("passed", "", [])


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("language", ["bash"])
def test_a_wrong_script_does_not_build_and_says_where(verify: Verify, language: str, name: str) -> None:
    source, line = WRONG[name]
    result = verify(language, source)
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert result.message.startswith(f"line {line}: ")
