"""JavaScript as node tells its two kinds apart: what cannot be parsed as its kind does not build, and all else does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.languages.conftest import Verify, lacking

from scalebox.languages.toolchain import Missing, toolchain

_READ_OLD = 'const fs = require("fs");\n'
_READ_NEW = 'import fs from "fs";\n'
_SUM = 'console.log(fs.readFileSync(0, "utf8").split(" ").map(Number).reduce((a, b) => a + b));\n'

RIGHT = {
    "a script": _READ_OLD + _SUM,
    "a script for a shell": "#!/usr/bin/env node\n" + _READ_OLD + _SUM,
    "a script that returns": _READ_OLD + _SUM + "return;\nlet after;\n",
    "what only scripts may": _READ_OLD + _SUM + "with ({}) {}\nvar await = 010;\n",
    "a script that imports late": 'import("fs").then((fs) => {\n' + _SUM + "});\n",
    "a script of whose text a module is part": _READ_OLD + _SUM + "`\nimport x from 'y';\nexport {};\n`;\n",
}
RIGHT_MODULES = {
    "a module": _READ_NEW + _SUM,
    "a module that exports": _READ_NEW + _SUM + "export const x = 1;\nexport default x;\n",
    "a module that makes its require": 'import { createRequire } from "module";\n'
    "const require = createRequire(import.meta.url);\n" + _READ_OLD + _SUM,
    "a module that waits": 'const fs = await import("fs");\n' + _SUM,
}
#: A program, the line, and part of the message.
WRONG = {
    "a script cut short": (_READ_OLD + "console.log((1;\n", 2, "Unexpected token"),
    "a script in strict mode": ('"use strict";\n\nwith ({}) {}\n', 3, "Strict mode"),
    "a name twice": ("let x = 1;\nlet x = 2;\n", 2, "already been declared"),
    "a wrong function that nobody calls": ("\n\nfunction f() {\n  return let 1;\n}\n", 4, "SyntaxError"),
}
WRONG_MODULES = {
    "a module cut short": (_READ_NEW + "\nconsole.log((1;\n", 3, "Unexpected token"),
    "a name twice in a module": (_READ_NEW + "let x = 1;\nlet x = 2;\n", 3, "already been declared"),
    "what only scripts may, in a module": (_READ_NEW + "with (fs) {}\n", 2, "Strict mode"),
    "a module that returns": (_READ_NEW + "return;\n", 2, "return"),
    "a module that exports what is not there": ("let x;\nexport { y };\n", 2, "'y' is not defined"),
    "a module that does not end": ('export default {\n  a: 1,\n  b: "\n', 3, "SyntaxError"),
    "a module whose wrong function nobody calls": ("export function f() {\n  return let 1;\n}\n", 2, "SyntaxError"),
    "both kinds, and wrong": (_READ_OLD + "export const x = 1;\nlet fs;\n", 3, "already been declared"),
}


@pytest.fixture(scope="module", autouse=True)
def node() -> str:
    try:
        return toolchain("javascript").tools["node"]
    except Missing as missing:
        lacking("javascript", str(missing))


@pytest.fixture(scope="module")
def modules(node: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where node is one from before 20.19, which takes every file of ours for a script."""
    file = Path(tmp_path_factory.mktemp("modules"), "solution.js")
    file.write_text("export {};\n")
    if subprocess.run([node, file], capture_output=True, check=False).returncode:
        pytest.skip("this node takes every .js file for a script")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_script_passes(verify: Verify, name: str) -> None:
    result = verify("javascript", RIGHT[name])
    assert (result.verdict, result.message, result.denied) == ("passed", "", [])


@pytest.mark.parametrize("name", RIGHT_MODULES)
@pytest.mark.usefixtures("modules")
def test_a_right_module_passes(verify: Verify, name: str) -> None:
    result = verify("javascript", RIGHT_MODULES[name])
    assert (result.verdict, result.message, result.denied) == ("passed", "", [])


def _does_not_build(verify: Verify, source: str, line: int, said: str) -> None:
    result = verify("javascript", source)
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert result.message.startswith(f"line {line}: ")
    assert said in result.message
    assert "/" not in result.message


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_script_does_not_build_and_says_where(verify: Verify, name: str) -> None:
    _does_not_build(verify, *WRONG[name])


@pytest.mark.parametrize("name", WRONG_MODULES)
@pytest.mark.usefixtures("modules")
def test_a_wrong_module_does_not_build_and_says_where(verify: Verify, name: str) -> None:
    _does_not_build(verify, *WRONG_MODULES[name])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (_READ_OLD + _SUM + "export const x = 1;\n", "require is not defined"),  # a module, and those have none
        ('import x from "./nowhere.mjs";\nconsole.log(42);\n', "nowhere"),
        (_READ_NEW + "throw new Error('late');\n", "late"),
    ],
)
@pytest.mark.usefixtures("modules")
def test_what_only_a_run_can_tell_is_no_error_of_the_build(verify: Verify, source: str, said: str) -> None:
    result = verify("javascript", source)
    assert result.verdict == "runtime_error"
    assert said in result.cases[0].stderr


#: More than a pipe takes at once, and an end that waits for nobody.
ENDS_AT_ONCE = {
    "one write": "process.stdout.write(all); process.exit(0);\n",
    "a line each": "for (const line of lines) console.log(line);\nprocess.exit();\n",
    "in a call-back": "process.stdin.resume();\n"
    'process.stdin.on("end", () => { console.log(lines.join("\\n")); process.exit(0); });\n',
    "in a call-back of readline": 'const rl = require("readline").createInterface({ input: process.stdin });\n'
    'rl.on("line", () => {});\nrl.on("close", () => { console.log(lines.join("\\n")); process.exit(0); });\n',
}
_LINES = 'const lines = Array.from({ length: 300000 }, (_, i) => String(i)), all = lines.join("\\n") + "\\n";\n'


@pytest.mark.parametrize("name", ENDS_AT_ONCE)
@pytest.mark.parametrize("language", ["javascript", "typescript-transpile"])
def test_what_was_written_before_an_exit_is_all_there(verify: Verify, language: str, name: str) -> None:
    expected = "".join(f"{number}\n" for number in range(300_000))
    result = verify(language, _LINES + ENDS_AT_ONCE[name], ("", expected), output_mb=16, cpu_s=20.0)
    assert (result.verdict, result.message, result.denied) == ("passed", "", [])


def test_the_exit_code_is_that_of_the_exit(verify: Verify) -> None:
    result = verify("javascript", 'console.log("42".repeat(100000));\nprocess.exit(3);\n')
    assert (result.verdict, result.cases[0].exit_code) == ("runtime_error", 3)
