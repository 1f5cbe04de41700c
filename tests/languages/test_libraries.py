"""Libraries of the field: tiny programs that use each, and what is said where one is not there."""

from __future__ import annotations

import os

import pytest
from tests.languages.conftest import Verify

pytestmark = pytest.mark.timeout(600)

_MD5 = "900150983cd24fb0d6963f7d28e17f72"
#: Language, program and what it prints. `make toolchains` installs them all.
USES = {
    "Boost": (
        "cpp",
        "#include <iostream>\n#include <boost/multiprecision/cpp_int.hpp>\n"
        'int main() { std::cout << boost::multiprecision::pow(boost::multiprecision::cpp_int(2), 100) << "\\n"; }\n',
        "1267650600228229401496703205376",
    ),
    "OpenSSL": (
        "cpp",
        "#include <cstdio>\n#  include <openssl/md5.h>\n"
        'int main() { unsigned char d[16]; MD5((const unsigned char*)"abc", 3, d);'
        ' for (int i = 0; i < 16; i++) printf("%02x", d[i]); }\n',
        _MD5,
    ),
    "js-md5": ("javascript", 'const md5 = require("js-md5");\nconsole.log(md5("abc"));\n', _MD5),
    "testify": (
        "go",
        'package main\n\nimport (\n\t"fmt"\n\n\t"github.com/stretchr/testify/assert"\n)\n\ntype told struct{}\n\n'
        'func (told) Errorf(string, ...interface{}) { fmt.Println("told") }\n\n'
        "func main() {\n\tassert.Equal(told{}, []int{1}, []int{1})\n\tassert.Equal(told{}, 1, 2)\n}\n",
        "told",
    ),
    "rand": (
        "rust",
        "use rand::{rngs::StdRng, Rng, SeedableRng};\nfn main() {\n    let x: u32 = StdRng::seed_from_u64(1).gen();\n"
        '    let y: u32 = rand::thread_rng().gen_range(0..7);\n    println!("{}", (x as u64) < 1 << 32 && y < 7);\n}\n',
        "true",
    ),
    "regex": (
        "rust",
        'fn main() { println!("{}", regex::Regex::new(r"(\\d+)-\\w").unwrap().replace("12-é", "<$1>")); }\n',
        "<12>",
    ),
    "Test::Deep": ("perl", "use Test::Deep;\nprint eq_deeply([1, { a => 2 }], [1, { a => 2 }]);\n", "1"),
    "kotlinx.coroutines": (
        "kotlin",
        "import kotlinx.coroutines.*\nfun main() = runBlocking { println(async { delay(1); 42 }.await()) }\n",
        "42",
    ),
    "kotlinx.coroutines in a script": (
        "kotlin-script",
        "import kotlinx.coroutines.*\nrunBlocking { println(async { delay(1); 42 }.await()) }\n",
        "42",
    ),
    "md5": ("rust", 'fn main() { println!("{:x}", md5::compute(b"abc")); }\n', _MD5),
}

#: What says that a library is not there.
ABSENT = ("No such file or directory", "Cannot find module", "cannot find package", "can't find crate", "Can't locate")


@pytest.mark.parametrize("library", USES)
def test_it_can_be_used(verify: Verify, tier: str, library: str) -> None:
    language, program, stdout = USES[library]
    if (language, tier, os.geteuid()) == ("rust", "process", 0):
        pytest.skip("root's programs in the process tier cannot enter the folder in which the tests keep crates")
    result = verify(language, program, ("", stdout))
    said = result.message + "".join(case.stderr for case in result.cases)
    if any(word in said for word in ABSENT) and os.environ.get("SCALEBOX_TEST_TOOLCHAINS") != "required":
        pytest.skip(f"{library} is not installed: {said[:200]}")
    assert (result.verdict, result.message) == ("passed", "")


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("cpp", "#include <openssl/nothing.h>\nint main() {}\n"),
        ("cpp", "#include <boost/nothing.hpp>\nint main() {}\n"),
        ("go", 'package main\n\nimport _ "github.com/nobody/nothing"\n\nfunc main() {}\n'),
        ("rust", "use nothing::Nothing;\nfn main() {}\n"),
    ],
)
def test_one_that_is_not_there_is_an_error_of_the_program(verify: Verify, language: str, program: str) -> None:
    result = verify(language, program, ("", ""))
    assert (result.verdict, result.stage) == ("compile_error", "build")
    assert "nothing" in result.message
    assert result.message.startswith("line ")
