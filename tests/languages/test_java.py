"""Java: what its virtual machine tries by itself is no deed of the program's; what the program tries is."""

from __future__ import annotations

import pytest
from tests.languages.conftest import Verify

_READ = 'String[] words = Files.readString(Path.of("/dev/stdin")).trim().split(" ");'
_SUM = "System.out.println(Integer.parseInt(words[0]) + Integer.parseInt(words[1])"
_CONNECT = 'try { new java.net.Socket("127.0.0.1", 9); } catch (java.io.IOException e) { }'


def program(*lines: str) -> str:
    body = "\n".join(lines)
    return (
        "import java.nio.file.*;\npublic class Main {\n"
        f"public static void main(String[] args) throws Exception {{\n{body}\n}}\n}}\n"
    )


@pytest.mark.parametrize("language", ["java"])
def test_reading_a_file_is_no_attempt_at_a_network(verify: Verify, language: str) -> None:
    right = verify(language, program(_READ, _SUM + ");"))
    wrong = verify(language, program(_READ, _SUM + " + 1);"))
    assert (right.verdict, right.denied, right.risk) == ("passed", [], "none")
    assert (wrong.verdict, wrong.denied, wrong.risk) == ("output_mismatch", [], "none")


@pytest.mark.parametrize("lines", [(_CONNECT, _READ), (_READ, _CONNECT)], ids=["before", "after"])
@pytest.mark.parametrize("language", ["java"])
def test_a_connection_is_one(verify: Verify, language: str, lines: tuple[str, ...]) -> None:
    result = verify(language, program(*lines, _SUM + " + 1);"))
    assert result.verdict == "resource_denied"
    assert any("network: socket(" in denied for denied in result.denied)
