"""Judges can be written in any language: each of these accepts the one word that it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scalebox.core.settings import Settings
from scalebox.languages.toolchain import Missing, toolchain
from scalebox.parse import parse_sample
from scalebox.worker import Verifier

pytestmark = pytest.mark.timeout(900)

JUDGES = {
    "c": '#include <stdio.h>\n#include <string.h>\nint main() { char s[9] = ""; fgets(s, 9, fopen("answer.txt", "r"));'
    ' return strcmp(s, "ok\\n") != 0; }',
    "java": "import java.nio.file.*; public class Check { public static void main(String[] a) throws Exception {"
    ' System.exit(Files.readString(Path.of("answer.txt")).trim().equals("ok") ? 0 : 1); } }',
    "javascript": "process.exit(require('fs').readFileSync('answer.txt', 'utf8').trim() === 'ok' ? 0 : 1)",
    "go": 'package main\nimport ("os"; "strings")\nfunc main() { text, _ := os.ReadFile("answer.txt")\n'
    'if strings.TrimSpace(string(text)) != "ok" { os.Exit(1) } }',
    "rust": 'fn main() { let text = std::fs::read_to_string("answer.txt").unwrap();'
    ' std::process::exit(if text.trim() == "ok" { 0 } else { 1 }) }',
    "ruby": "exit(File.read('answer.txt').strip == 'ok' ? 0 : 1)",
    "perl": "open(F, 'answer.txt'); $x = <F>; chomp $x; exit($x eq 'ok' ? 0 : 1)",
    "php": "<?php exit(trim(file_get_contents('answer.txt')) === 'ok' ? 0 : 1);",
    "lua": "os.exit(io.open('answer.txt'):read('l') == 'ok' and 0 or 1)",
    "bash": '[ "$(< answer.txt)" = ok ]',
}


@pytest.fixture(scope="module")
def verifier(cache: Path) -> Iterator[Verifier]:
    made = Verifier(Settings(cache_dir=str(cache)), sorted(os.sched_getaffinity(0))[:1])
    yield made
    made.close()


@pytest.mark.parametrize("language", JUDGES)
def test_a_judge_in_this_language(verifier: Verifier, language: str) -> None:
    try:
        toolchain(language)
    except Missing as missing:
        pytest.skip(f"{language}: {missing}")
    checker = {"language": language, "code": JUDGES[language], "protocol": "exit_code"}
    tests = [{"stdin": word, "stdout": "ok\n"} for word in ("ok", "no", "ok")]
    record = {"id": "s", "code": "print(input())", "tests": tests, "checker": checker}
    result, _ = verifier.verify(parse_sample(record, settings=Settings()))
    verifier.tidy()
    assert [case.verdict for case in result.cases] == ["passed", "output_mismatch", "passed"], result.message
