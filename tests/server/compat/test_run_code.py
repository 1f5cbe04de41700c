"""SandboxFusion's `/run_code` and `/run_jupyter`: shapes, status words, and what its server gets wrong."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests.server.conftest import Server

Post = Callable[[str, dict[str, Any]], dict[str, Any]]

RESPONSE = {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
COMMAND = {"status", "execution_time", "return_code", "stdout", "stderr"}


def run_of(answer: dict[str, Any]) -> tuple[Any, ...]:
    """Return how a program ended: what was said of the request, and of the run."""
    run = answer["run_result"]
    return answer["status"], run["status"], run["return_code"], run["stdout"]


def test_the_shape_is_sandbox_fusions(ask: Post) -> None:
    answer = ask("/run_code", {"code": 'print("Hello, world!")', "language": "python"})
    assert set(answer) == RESPONSE
    assert set(answer["run_result"]) == COMMAND
    assert answer["run_result"].pop("execution_time") > 0
    assert answer == {
        "status": "Success", "message": "", "compile_result": None, "executor_pod_name": None, "files": {},
        "run_result": {"status": "Finished", "return_code": 0, "stdout": "Hello, world!\n", "stderr": ""},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("print(input()[::-1])", ("Success", "Finished", 0, "cba\n")),
        ("import sys; print(1); sys.exit(3)", ("Failed", "Finished", 3, "1\n")),
        ("1 / 0", ("Failed", "Finished", 1, "")),
        ("def f(:", ("Failed", "Finished", 1, "")),
        ("import os; os.kill(os.getpid(), 9)", ("Failed", "Finished", -9, "")),
        ("import os; os._exit(0)", ("Success", "Finished", 0, "")),
        ("import os, sys; sys.stdout.write(os.read(0, 9).decode()); exit(0)", ("Success", "Finished", 0, "abc\n")),
        ("print('x' * 150_000, end='')", ("Success", "Finished", 0, "x" * 150_000)),
        ("print('x' * (1 << 20))", ("Success", "Finished", 0, "x" * (1 << 20) + "\n")),
        (
            "import subprocess; subprocess.Popen(['sleep', '60']); print('over')",
            ("Success", "Finished", 0, "over\n"),
        ),
        ("import subprocess; print(subprocess.getoutput('echo hi'))", ("Success", "Finished", 0, "hi\n")),
    ],
)
def test_how_programs_end(ask: Post, code: str, ended: tuple[Any, ...]) -> None:
    assert run_of(ask("/run_code", {"code": code, "language": "python", "stdin": "abc\n"})) == ended


def test_what_it_says_of_an_error(ask: Post) -> None:
    answer = ask("/run_code", {"code": "def f(:", "language": "python"})
    assert "invalid syntax" in answer["run_result"]["stderr"]


def test_time_is_over_although_the_program_catches_the_signal(ask: Post) -> None:
    code = "import signal\nsignal.alarm(0)\nsignal.signal(signal.SIGXCPU, lambda *_: 0)\nwhile True: pass"
    answer = ask("/run_code", {"code": code, "language": "python", "run_timeout": 0.5})
    if "too busy" in answer["message"]:
        pytest.skip(answer["message"])
    assert (answer["status"], answer["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")
    assert answer["run_result"]["return_code"] is None


def test_memory_is_over(ask: Post) -> None:
    code = "x = bytearray(600 << 20); print(len(x))"
    answer = ask("/run_code", {"code": code, "language": "python", "memory_limit_MB": 256})
    assert answer["status"] == "Failed"
    assert answer["run_result"]["return_code"] != 0
    assert answer["run_result"]["stdout"] == ""


def test_output_without_an_end_is_no_success(ask: Post) -> None:
    answer = ask("/run_code", {"code": "while True: print('x' * 10_000)", "language": "python"})
    assert answer["status"] == "Failed"
    assert answer["message"].startswith("output_exceed")


def test_nothing_runs_on_for_a_client_that_is_gone(server: Server, ask: Post) -> None:
    body = {"code": "import time; time.sleep(1000)", "language": "python", "run_timeout": 900}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/run_code", json=body, timeout=1, trust_env=False)
    # There is one worker.
    assert run_of(ask("/run_code", {"code": "print(1)", "language": "python"})) == ("Success", "Finished", 0, "1\n")


def test_the_network_is_out_of_reach(ask: Post) -> None:
    code = "import socket\ntry: socket.socket()\nexcept OSError as error: print('refused')"
    answer = ask("/run_code", {"code": code, "language": "python"})
    assert run_of(answer) == ("Success", "Finished", 0, "refused\n")


def test_files_go_in_and_come_back(ask: Post) -> None:
    data = bytes(range(256))
    files = {"d/in.bin": base64.b64encode(data).decode(), "helper.py": base64.b64encode(b"x = 5").decode(), "no": None}
    code = "import helper\nopen('out.bin', 'wb').write(open('d/in.bin', 'rb').read()[::-1]); print(helper.x)"
    body = {"code": code, "language": "python", "files": files, "fetch_files": ["./out.bin", "absent"]}
    answer = ask("/run_code", body)
    assert run_of(answer) == ("Success", "Finished", 0, "5\n")
    assert base64.b64decode(answer["files"].pop("./out.bin")) == data[::-1]
    assert answer["files"] == {}


def test_files_in_lines_of_base64(ask: Post) -> None:
    data = base64.encodebytes(bytes(range(256))).decode()
    assert "\n" in data.strip()
    for path, program in (("/run_code", "code"), ("/run_jupyter", "cells")):
        code = "open('out', 'wb').write(open('in', 'rb').read()) and None"
        body = {"language": "python", program: code if program == "code" else [code]}
        answer = ask(path, {**body, "files": {"in": data}, "fetch_files": ["./out"]})
        assert answer["files"] == {"./out": data.replace("\n", "")}


def test_a_program_may_have_an_hour(ask: Post) -> None:
    assert ask("/run_code", {"code": "", "language": "python", "run_timeout": 3600})["status"] == "Failed"


def test_a_program_whose_files_are_fetched_ends_as_it_would(ask: Post) -> None:
    body = {"language": "python", "fetch_files": ["a"], "code": "open('a', 'w').write('1')\nraise SystemExit(7)"}
    answer = ask("/run_code", body)
    assert run_of(answer) == ("Failed", "Finished", 7, "")
    assert answer["files"] == {"a": base64.b64encode(b"1").decode()}


def test_pytest(ask: Post) -> None:
    code = "def test_a(): assert True\ndef test_b(): assert False"
    body = {"code": code, "language": "pytest", "args": ["-q", "-p", "no:randomly"], "run_timeout": 30}
    answer = ask("/run_code", body)
    assert answer["status"] == "Failed"
    assert answer["run_result"]["return_code"] == 1
    assert "1 failed, 1 passed" in answer["run_result"]["stdout"]


CPP = '#include <iostream>\nint main() { int a; std::cin >> a; std::cout << a * 2 << "\\n"; }'
JAVA = (
    "import java.util.*;\npublic class Main { public static void main(String[] a) {"
    " System.out.println(new Scanner(System.in).nextInt() * 2); } }"
)
GO = 'package main\nimport "fmt"\nfunc main() { var a int; fmt.Scan(&a); fmt.Println(a * 2) }'
RUST = (
    "use std::io;\nfn main() { let mut s = String::new(); io::stdin().read_line(&mut s).unwrap();"
    ' println!("{}", s.trim().parse::<i32>().unwrap() * 2); }'
)
NODE = "console.log(2 * require('fs').readFileSync(0, 'utf8'))"
TYPESCRIPT = "declare var require: any; const n: number = 2 * require('fs').readFileSync(0, 'utf8'); console.log(n)"


PROGRAMS = [
    ("cpp", "cpp", CPP), ("java", "java", JAVA), ("go", "go", GO), ("rust", "rust", RUST),
    ("nodejs", "javascript", NODE), ("typescript", "typescript-transpile", TYPESCRIPT),
    ("bash", "bash", "read a; echo $((a * 2)) | cat"), ("php", "php", "echo 2 * fgets(STDIN), PHP_EOL;"),
    ("perl", "perl", "print 2 * <STDIN>, qq(\\n)"), ("ruby", "ruby", "puts 2 * gets.to_i"),
    ("lua", "lua", "print(2 * io.read('n'))"),
    ("R", "r", "cat(2 * scan(file('stdin'), quiet = TRUE), '\\n', sep = '')"),
    ("racket", "racket", "#lang racket\n(displayln (* 2 (read)))"),
]  # fmt: skip
#: Their toolchains are slow to start, or to make ready.
SLOW = ("java", "rust", "typescript", "R", "racket")


@pytest.mark.parametrize(
    ("name", "toolchain", "code"),
    [pytest.param(*one, marks=[pytest.mark.fidelity] if one[0] in SLOW else [], id=one[0]) for one in PROGRAMS],
)
def test_other_languages(ask: Post, needs: Callable[[str], None], name: str, toolchain: str, code: str) -> None:
    needs(toolchain)
    body = {"code": code, "language": name, "stdin": "21\n", "compile_timeout": 60, "run_timeout": 20}
    answer = ask("/run_code", body)
    assert run_of(answer) == ("Success", "Finished", 0, "42\n"), answer


def test_a_program_that_does_not_compile(ask: Post, needs: Callable[[str], None]) -> None:
    needs("cpp")
    answer = ask("/run_code", {"code": "int main() { return nothing; }", "language": "cpp", "compile_timeout": 60})
    assert answer["status"] == "Failed"
    assert answer["run_result"] is None
    assert answer["compile_result"]["status"] == "Finished"
    assert answer["compile_result"]["return_code"] == 1
    assert "nothing" in answer["compile_result"]["stderr"]


def test_a_header_that_is_included_twice(ask: Post, needs: Callable[[str], None]) -> None:
    needs("cpp")
    code = "#include <bits/stdc++.h>\n" * 2 + "int main() { std::cout << 1; }"
    answer = ask("/run_code", {"code": code, "language": "cpp", "compile_timeout": 60})
    assert run_of(answer) == ("Success", "Finished", 0, "1"), answer


def test_the_tests_of_a_go_file(ask: Post, needs: Callable[[str], None]) -> None:
    needs("go")
    head = 'package x\nimport "testing"\nfunc twice(x int) int { return 2 * x }\n'
    for expected, status in ((42, "Success"), (43, "Failed")):
        test = f'func TestTwice(t *testing.T) {{ if twice(21) != {expected} {{ t.Errorf("wrong") }} }}\n'
        answer = ask("/run_code", {"code": head + test, "language": "go_test", "compile_timeout": 60})
        assert answer["status"] == status, answer


@pytest.mark.parametrize("more", [{"files": {"data.txt": "eA=="}}, {"stdin": "1"}])
def test_what_the_tests_of_a_go_file_would_not_find_is_our_fault(ask: Post, more: dict[str, Any]) -> None:
    answer = ask("/run_code", {"code": "package x", "language": "go_test", **more})
    assert answer["status"] == "SandboxError"
    assert "go_test" in answer["message"]


@pytest.mark.parametrize("language", ["cuda", "python_gpu", "jest", "junit"])
def test_languages_that_are_not_here_are_our_fault(ask: Post, language: str) -> None:
    answer = ask("/run_code", {"code": "", "language": language})
    assert answer["status"] == "SandboxError"
    assert language in answer["message"]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"language": "python"}, "code"),
        ({"code": "1", "language": "cobol"}, "language"),
        ({"code": 1, "language": "python"}, "code"),
        ({"code": "1", "language": "python", "run_timeout": -1}, "limits"),
        ({"code": "1", "language": "python", "files": {"../x": ""}}, "files"),
        ({"code": "1", "language": "python", "files": {"x": "***"}}, "files"),
        ({"code": "1", "language": "python", "files": {"x": "", "x/y": ""}}, "tests[0]"),
        ({"code": "1", "language": "python", "fetch_files": ["/etc/passwd"]}, "fetch_files"),
    ],
)
def test_bad_requests_are_answered_as_fast_api_does(http: httpx.Client, body: dict[str, Any], place: str) -> None:
    answer = http.post("/run_code", json=body)
    assert answer.status_code == 422, answer.text
    (problem,) = answer.json()["detail"]
    assert set(problem) == {"type", "loc", "msg"}
    assert problem["loc"][:1] == ["body"]
    assert place in f"{problem['loc']} {problem['msg']}"


def test_a_body_that_is_no_json(http: httpx.Client) -> None:
    answer = http.post("/run_code", content=b"{", headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_a_body_that_is_not_there(http: httpx.Client) -> None:
    (problem,) = http.post("/run_code").json()["detail"]
    assert problem["msg"] == "there is no body"


CELLS = [
    "a = 123",
    "a",
    "print(a)",
    'import sys; sys.stderr.write("stderr message")',
    'raise RuntimeError("error message")',
]


def test_cells_share_a_namespace(ask: Post) -> None:
    answer = ask("/run_jupyter", {"cells": CELLS})
    assert set(answer) == {"status", "message", "driver", "cells", "executor_pod_name", "files"}
    assert (answer["status"], answer["driver"]["status"], answer["driver"]["return_code"]) == ("Success", "Finished", 0)
    assert [cell["stdout"] for cell in answer["cells"]] == ["", "", "123\n", "", ""]
    assert [cell["display"] for cell in answer["cells"]][:3] == [[], [{"text/plain": "123"}], []]
    assert answer["cells"][3]["stderr"] == "stderr message"
    (error,) = answer["cells"][4]["error"]
    assert (error["ename"], error["evalue"]) == ("RuntimeError", "error message")
    assert error["traceback"][-1] == "RuntimeError: error message"


def test_a_cell_shows_and_starts_processes_and_leaves_files(ask: Post) -> None:
    cells = [
        "class Shown:\n    def _repr_html_(self): return '<b>'\nprint(open('in').read())\ndisplay(Shown(), 2)",
        "import subprocess; _ = subprocess.run(['echo', 'child'])",
        "open('out', 'w').write('x');",
    ]
    body = {"cells": cells, "files": {"in": base64.b64encode(b"given").decode()}, "fetch_files": ["out"]}
    answer = ask("/run_jupyter", body)
    first, second, third = answer["cells"]
    assert first["stdout"] == "given\n"
    assert [sorted(shown) for shown in first["display"]] == [["text/html", "text/plain"], ["text/plain"]]
    assert second["stdout"] == "child\n"
    assert third["display"] == []
    assert answer["files"] == {"out": base64.b64encode(b"x").decode()}


@pytest.mark.parametrize("limits", [{"cell_timeout": 0.3}, {"total_timeout": 1}])
def test_a_cell_that_takes_too_long(ask: Post, limits: dict[str, float]) -> None:
    answer = ask("/run_jupyter", {"cells": ["while True: pass"], **limits})
    assert (answer["status"], answer["driver"]["status"], answer["cells"]) == ("Failed", "TimeLimitExceeded", [])


def test_an_exception_that_cannot_say_what_it_is_ends_its_cell_alone(ask: Post) -> None:
    cells = ["class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E()", "print(2)"]
    failed, after = ask("/run_jupyter", {"cells": cells})["cells"]
    assert (failed["error"][0]["ename"], after["stdout"]) == ("E", "2\n")


def test_a_cell_that_ends_the_interpreter(ask: Post) -> None:
    answer = ask("/run_jupyter", {"cells": ["import os; os._exit(5)"]})
    assert (answer["status"], answer["driver"]["return_code"], answer["cells"]) == ("Failed", 5, [])


def test_ping(http: httpx.Client) -> None:
    assert http.get("/v1/ping").json() == "pong"
