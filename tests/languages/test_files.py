"""Programs of several files, read by standard input: each language finds them in its own way."""

from __future__ import annotations

import pytest
from tests.languages.conftest import Verify

from scalebox.core.errors import InputError
from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample

pytestmark = pytest.mark.timeout(900)

#: Language → the program, its further files. It doubles what it reads.
PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "python": ("from pkg.twice import twice\nprint(twice(int(input())))\n",
               {"pkg/twice.py": "def twice(x): return 2 * x\n"}),
    "c": ('#include "t.h"\nint main() { int x; scanf("%d", &x); printf("%d", twice(x)); }\n',
          {"t.h": "#include <stdio.h>\nint twice(int);\n", "t.c": "int twice(int x) { return 2 * x; }\n"}),
    "cpp": ('#include "t.h"\n#include <iostream>\nint main() { int x; std::cin >> x; std::cout << twice(x); }\n',
            {"t.h": "int twice(int);\n", "sub/t.cc": "int twice(int x) { return 2 * x; }\n"}),
    "java": ("import java.util.Scanner;\npublic class Main {\n public static void main(String[] a) {\n"
             "  System.out.println(Twice.of(new Scanner(System.in).nextInt()));\n }\n}\n",
             {"helpers.java": "class Twice { static int of(int x) { return 2 * x; } }\n"}),
    "javascript": ('const twice = require("./twice");\nconsole.log(twice(+require("fs").readFileSync(0, "utf8")));\n',
                   {"twice.js": "module.exports = x => 2 * x;\n"}),
    "rust": ("mod twice;\nfn main() {\n let mut s = String::new();\n std::io::stdin().read_line(&mut s).unwrap();\n"
             ' println!("{}", twice::of(s.trim().parse().unwrap()));\n}\n',
             {"twice.rs": "pub fn of(x: i32) -> i32 { 2 * x }\n"}),
    "go": ('package main\n\nimport "fmt"\n\nfunc main() {\n\tvar x int\n\tfmt.Scan(&x)\n\tfmt.Println(twice(x))\n}\n',
           {"twice.go": "package main\n\nfunc twice(x int) int { return 2 * x }\n"}),
    "ruby": ('require_relative "twice"\nputs twice(gets.to_i)\n', {"twice.rb": "def twice(x) = 2 * x\n"}),
}  # fmt: skip


PROGRAMS["cpp20"] = PROGRAMS["cpp"]


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_finds_its_further_files(verify: Verify, language: str) -> None:
    _skip_without(language)
    code, files = PROGRAMS[language]
    result = verify(language, code, ("21\n", "42\n"), ("4\n", "8\n"), solution_files=files)
    assert (result.verdict, result.message) == ("passed", "")


@pytest.mark.parametrize("language", ["python", "cpp", "javascript"])
def test_what_is_wrong_in_a_further_file_is_wrong(verify: Verify, language: str) -> None:
    _skip_without(language)
    code, files = PROGRAMS[language]
    wrong = {name: text.replace("2 * x", "3 * x") for name, text in files.items()}
    assert wrong != files
    assert verify(language, code, ("21\n", "42\n"), solution_files=wrong).verdict == "output_mismatch"
    assert verify(language, code, ("21\n", "42\n"), solution_files={}).verdict in ("compile_error", "runtime_error")


def test_one_case_leaves_nothing_in_the_files_for_the_next(verify: Verify) -> None:
    code = "import note\nopen('note.py', 'w').write('text = 0')\nprint(note.text)\n"
    result = verify("python", code, ("", "7\n"), ("", "7\n"), solution_files={"note.py": "text = 7\n"})
    assert [case.verdict for case in result.cases] == ["passed", "passed"]


def test_no_further_file_takes_the_place_of_the_program(verify: Verify) -> None:
    _skip_without("java")
    code = PROGRAMS["java"][0].replace("class Main", "class Sum")
    result = verify("java", code, solution_files={"Sum.java": "class Sum {}"})
    assert (result.verdict, "Sum.java" in result.message) == ("compile_error", True)
    record = {"id": "s", "language": "cpp", "code": "x", "tests": [{"stdin": "", "stdout": ""}]}
    with pytest.raises(InputError, match=r"solution_files\.solution\.cpp.*own file"):
        parse_sample(record | {"solution_files": {"solution.cpp": ""}}, settings=Settings())


def _skip_without(language: str) -> None:
    if language == "python":
        return
    try:
        toolchain(language)
    except Missing as missing:
        pytest.skip(f"{language}: {missing}")
