"""Programs that only look as if something had been refused to them, or should have been."""

from __future__ import annotations

from tests.golden.table import Row, check_table, stdin

from scalebox import ScaleBoxClient

INNOCENT = [
    Row(
        "imports-socket",
        "importing is not connecting",
        """
        import socket, ssl, urllib.request, http.client
        print(socket.AF_INET + 1)
        """,
    ),
    Row(
        "imports-much",
        "importing is not using",
        """
        import subprocess, multiprocessing, ctypes, pickle, tempfile
        print(3)
        """,
    ),
    Row(
        "prints-permission-denied",
        "what a program prints is no evidence",
        """
        import sys
        print('Permission denied')
        print('PermissionError: [Errno 13] Permission denied', file=sys.stderr)
        """,
        verdict="output_mismatch",
    ),
    Row(
        "raises-own-text",
        "the text of an exception is no evidence",
        "raise RuntimeError('Operation not permitted: seccomp')",
        verdict="runtime_error",
    ),
    Row(
        "imports-socket-and-fails",
        "a wrong answer beside an import is a wrong answer",
        "import socket\nprint(4)",
        verdict="output_mismatch",
    ),
    Row("missing-file", "a file that is not there is a plain error", "open('input.txt')", verdict="runtime_error"),
    Row(
        "temporary-file",
        "temporary files are allowed",
        """
        import tempfile
        with tempfile.TemporaryFile() as f:
            f.write(b'3'); f.seek(0); print(f.read().decode())
        """,
    ),
    Row(
        "file-written-and-read",
        "files in the working directory are allowed",
        "open('a.txt', 'w').write('3')\nprint(open('a.txt').read())",
    ),
    Row(
        "file-given",
        "files of the test lie in the working directory",
        "print(open('data/in.txt').read())",
        [stdin("", "3", files={"data/in.txt": "3"})],
    ),
    Row(
        "memory-within-the-limit",
        "300 MB under 512",
        """
        held = bytearray(300 << 20)
        for place in range(0, len(held), 4096): held[place] = 1
        print(3)
        """,
    ),
    Row(
        "sleeps-a-little",
        "waiting is not computing",
        """
        import time
        time.sleep(0.5)
        print(3)
        """,
        limits={"cpu_s": 0.3},
    ),
    Row(
        "clock-and-random",
        "clocks and generators work",
        """
        import time, random, secrets, uuid
        time.time(); random.random(); secrets.token_hex(); uuid.uuid4()
        print(3)
        """,
    ),
]


def test_only_what_the_kernel_refused_is_denied(client: ScaleBoxClient) -> None:
    check_table(client, INNOCENT)
