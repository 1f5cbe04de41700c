"""What a sample says about the programs of the task's author: its checker and its interactor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from scalebox.core.errors import InputError
from scalebox.core.limits import Limits
from scalebox.core.sample import JudgeProgram, Protocol
from scalebox.languages import registry
from scalebox.parse.fields import check_names, files_of, json_kind, shown, source_of, strings_of, text_of

_FIELDS = ("language", "code", "protocol", "files", "args")
#: What Linux takes, with room to spare.
_MOST_WORD = 100_000
_PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


def checker(given: Mapping[str, Any], kind: str, limits: Limits) -> JudgeProgram | None:
    """Return the program that judges outputs, None where a match does, for tests of `kind`. Raises InputError."""
    program = judge_program(given, "checker", limits)
    if program is not None and kind != "stdin":
        mend = "leave it out: a checker is for tests by stdin and stdout"
        raise InputError(f"{kind} tests judge by themselves", field="checker", mend=mend)
    if program is not None and "match" in given:
        raise InputError("both match and checker are given", field="match", mend="give one of them")
    return program


def interactor(given: Mapping[str, Any], kind: str, limits: Limits) -> JudgeProgram | None:
    """Return the program that the sample's own talks to, None where there is none, for tests of `kind`.

    Raises InputError.
    """
    program = judge_program(given, "interactor", limits)
    if program is None:
        return None
    if kind != "stdin":
        mend = "leave it out: an interactor is for tests by stdin and stdout"
        raise InputError(f"{kind} tests have nobody to talk to", field="interactor", mend=mend)
    if program.protocol == "python":
        mend = "an interactor is a program that talks: testlib, icpc or exit_code"
        raise InputError("a function cannot talk", field="interactor.protocol", mend=mend)
    for name in ("match", "checker"):
        if given.get(name) is not None:
            mend = "leave it out: the interactor judges"
            raise InputError("not together with an interactor", field=name, mend=mend)
    return program


def judge_program(given: Mapping[str, Any], name: str, limits: Limits) -> JudgeProgram | None:
    """Return the program that the field `name` gives, None where there is none. Raises InputError."""
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, Mapping):
        mend = 'such as {"language": "cpp", "code": "…", "protocol": "testlib"}'
        raise InputError(f"must be an object, not {json_kind(value)}", field=name, mend=mend)
    check_names(value, _FIELDS, f"{name}.")
    language = registry.find(text_of(value, "language", f"{name}.language", "the language that it is written in"))
    known = ", ".join(registry.languages())
    if language is None:
        problem = f"no such language: {shown(value['language'])}"
        raise InputError(problem, field=f"{name}.language", mend=f"one of {known}")
    args = strings_of(value.get("args") or (), f"{name}.args", "an array of texts")
    for number, word in enumerate(args):
        if "\0" in word or len(word.encode()) > _MOST_WORD:
            problem, mend = "cannot be a word of a command line", f"no NUL, at most {_MOST_WORD} bytes"
            raise InputError(problem, field=f"{name}.args[{number}]", mend=mend)
    code, protocol = source_of(value, "code", f"{name}.code"), _protocol(value, name)
    if protocol == "python" and language.name != "python":
        mend = "a function is called in Python alone: another protocol is for programs"
        raise InputError(f"not for {language.name}", field=f"{name}.protocol", mend=mend)
    files = files_of(value.get("files") or {}, f"{name}.files", limits)
    if language.source in files:
        mend = "give the program as code, and as files what lies beside it"
        raise InputError("this is where the program itself is put", field=f"{name}.files.{language.source}", mend=mend)
    return JudgeProgram(
        language=language.name,
        code=code,
        protocol=protocol,
        files=files,
        args=args,
    )


def _protocol(value: Mapping[str, Any], name: str) -> Protocol:
    field, mend = f"{name}.protocol", f"one of {', '.join(_PROTOCOLS)}"
    text = text_of(value, "protocol", field, mend)
    for protocol in _PROTOCOLS:
        if text == protocol:
            return protocol
    raise InputError(f"no such protocol: {shown(text)}", field=field, mend=mend)
