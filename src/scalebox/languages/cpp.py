"""C++17, by g++: linked statically, which halves the cost of starting a program; <bits/stdc++.h> is precompiled."""

import re
from signal import SIGABRT

from scalebox.languages.language import Language, SelfTest

_OPENSSL = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]openssl/', re.MULTILINE)
#: The precompiled header is for the first include alone; the file beside it is what a second one finds.
_HEADERS = (
    'echo "#include <bits/stdc++.h>" > "$1/header.hpp"; echo "#include_next <bits/stdc++.h>" > "$1/bits/stdc++.h"'
)


def layout(text: str) -> dict[str, str]:
    """Return what to link ("libraries"): OpenSSL for what includes its headers, "" for all else."""
    return {"libraries": "-Wl,-lssl,-lcrypto" if _OPENSSL.search(text) else ""}


def flags(standard: str) -> tuple[str, ...]:
    """Return the flags that a precompiled header and what uses it must have in common."""
    return (f"-std={standard}", "-O2", "-pipe", "-w", "-pthread")


def build(standard: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that build a program."""
    link = ("-static", "-s", "-fmax-errors=20", "{source}", "-o", "main", "{libraries}")
    return (("{g++}", *flags(standard), "-I{prepared}", *link),)


def prepare(standard: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that make the precompiled header."""
    header = ("-x", "c++-header", "{prepared}/header.hpp", "-o", "{prepared}/bits/stdc++.h.gch")
    return (
        ("/bin/sh", "-c", _HEADERS, "sh", "{prepared}"),
        ("{g++}", *flags(standard), *header),
    )


LANGUAGE = Language(
    name="cpp",
    title="C++17",
    aliases=("c++", "cc", "cxx", "cpp17", "c++17", "gnu++17", "cpp14", "c++14", "cpp11", "c++11", "g++"),
    extensions=(".cpp", ".cc", ".cxx", ".c++"),
    tools=("g++",),
    source="solution.cpp",
    links=(".cpp", ".cc", ".cxx", ".c++"),
    layout=layout,
    build=build("gnu++17"),
    prepare=prepare("gnu++17"),
    prepared=("bits/stdc++.h.gch", "bits/stdc++.h"),
    keep=("main",),
    run=("{program}/main",),
    programs="c",
    error=r"^(?:[^\n:]*:(?P<line>\d+):(?:\d+:)? )?(?:fatal )?error: (?P<message>.*)$",
    memory_text="std::bad_alloc",
    memory_signal=SIGABRT,
    install="apt-get install g++",
    self_test=SelfTest(
        "#include <bits/stdc++.h>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }\n"
    ),
)
