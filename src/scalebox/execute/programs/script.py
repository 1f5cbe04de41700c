"""Languages whose programs are read from top to bottom: the last lines of the text take the token and send it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from scalebox.execute.programs.assembled import Assembled, first_outside, joined, words
from scalebox.languages.language import Language


class _Script(NamedTuple):
    """What stands before the prefix on its line, before the tests and behind them.

    `opaque` finds strings and comments; `taken` finds names that the code gives to something of its own, or ways to do
    so unseen. `undone` are commands of which the code can have functions. `options` are for the command that runs it,
    and `last` finds an end of the code's that would be the end of the program.
    """

    end: str
    begin: str = ""
    middle: str = ""
    opaque: str = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#[^\n]*"
    taken: str = r"(?!)"
    undone: Sequence[str] = ()
    options: tuple[str, ...] = ()
    last: str = r"(?!)"


#: Commands by which tests in Bash judge. For the shell, a function of such a name goes before them.
_COMMANDS = (
    "[ set test trap exit return eval source builtin command unset printf read shopt declare local echo let true false "
    "cd wait export readonly diff cmp grep cat sort head tail tr wc"
).split()
_ASSERT = ("zend.assertions", "assert.exception", "assert.active")
_SCRIPTS = {
    "bash": _Script(
        # The exit code of a program is that of its last command.
        end="scalebox_status=$?\nif [[ $scalebox_status = 0 ]]; then IFS= read -r -N 16 scalebox_token <&3 && "
        'printf %s "$scalebox_token" >&3 || exit 1; fi\nexit "$scalebox_status"\n',
        middle="trap - DEBUG ERR RETURN\n",
        taken=r"\b(set|test|trap|exit|return|eval|source|builtin|command|unset|printf|read|shopt|declare)"
        r"\s*\(\s*\)|\bfunction\s+(set|test|trap|exit|return|builtin|command|printf|read)\b|\b(expand_aliases)\b"
        r"|\b(enable)\s+-[nf]",
        undone=_COMMANDS,
    ),
    "perl": _Script(
        end="{ CORE::open(my $line, '+<&=', 3); CORE::sysread($line, my $token, 16); "
        "CORE::syswrite($line, $token); }\n",
        taken=r"(CORE::GLOBAL)|\*\s*(?:::|main::)?(\w+)\s*=|(\*\s*\{)|\buse\s+(subs)\b|\b(Test::Deep)\b"
        r"|(\*\s*\$\w+\s*=(?![=~]))",
    ),
    "ruby": _Script(
        # The first handler to be registered is the last to be called: after those that run suites.
        begin="at_exit { line = IO.for_fd(3, autoclose: false); line.syswrite(line.sysread(16)) if $scalebox_ended && "
        "($!.nil? || ($!.is_a?(SystemExit) && $!.success?)) }; ",
        # A suite that runs by itself would do so when all is over: an exit in it would then look like its end.
        end="if defined?(Test::Unit::AutoRunner)\n  Test::Unit::AutoRunner.need_auto_run = false\n"
        "  exit(1) unless Test::Unit::AutoRunner.run\nend\n$scalebox_ended = true\n",
    ),
    "php": _Script(
        # Whether `assert` asserts, the machine's own settings say otherwise; the code could as well.
        options=("-d", "zend.assertions=1", "-d", "assert.exception=1"),
        middle="".join(f"@\\ini_set('{name}', '1');\n" for name in _ASSERT),
        end="".join(f"if (!\\in_array(\\ini_get('{name}'), ['1', false], true)) exit(1);\n" for name in _ASSERT)
        + "$line = \\fopen('php://fd/3', 'r+'); \\fwrite($line, \\fread($line, 16));\n",
        opaque=r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#[^\n]*|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)",
        last=r"\?>\s*\Z",
    ),
}
_SEPARATOR = re.compile(r"[\s;|&(){}$\"]+")
_FUNCTION = re.compile(r"(?:^|[\s;])(?:function\s+)?([\w\[]+)\s*\(\s*\)")
#: Ways that are found whatever names the tests use.
_ALWAYS = frozenset(["CORE::GLOBAL", "*{", "subs", "expand_aliases", "enable"])
#: As the standard has it, `unset` and `exit` go before any functions of their names.
_UNDO = "POSIXLY_CORRECT=1\n\\unset -f %s || \\exit 1\n\\set +o posix\n\\unset POSIXLY_CORRECT\n"
FAILED = r"AssertionError|[Aa]ssertion.*failed|^Failure:"


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program."""
    script = _SCRIPTS[language.name]
    code = re.sub(script.last, "", code)
    at = first_outside(suffix, re.compile(script.opaque))
    # What stands before the first of PHP's tags is text that it prints.
    middle = script.middle if language.name != "php" or "<?" in prefix + code else ""
    tests = suffix[:at] + ("\n" if at else "") + _undone(script, prefix, suffix) + middle + suffix[at:]
    end = "" if suffix.endswith("\n") else "\n"
    *command, program = language.run
    changed = msgspec.structs.replace(language, run=(*command, *script.options, program))
    return joined(
        changed, script.begin + prefix, code, tests + end + script.end, failed=FAILED,
        problem=_problem(script, code, suffix),
    )  # fmt: skip


def _undone(script: _Script, prefix: str, suffix: str) -> str:
    """Return what takes back functions of the code that are named like the tests' own, or like commands they use."""
    declared = set(_FUNCTION.findall(suffix))
    used = set(_SEPARATOR.split(suffix)) - set(_FUNCTION.findall(prefix)) - declared
    names = [name for name in script.undone if name in used] + (sorted(declared) if script.undone else [])
    return _UNDO % " ".join(names) if names else ""


def _problem(script: _Script, code: str, suffix: str) -> str:
    used = words(suffix) | _ALWAYS
    for found in re.findall(script.taken, code):
        name = next((one for one in found if one), "").replace(" ", "")
        if name in used or (name == "Test::Deep" and name in suffix) or name.startswith("*$"):
            return f"the code takes the place of {name}, which the tests use"
    return ""
