"""Java, by javac and the HotSpot virtual machine: a single file, which may hold several classes."""

from __future__ import annotations

import re
from pathlib import Path

from scalebox.languages.language import Language, Resident, SelfTest, verbatim

#: Comments, texts and characters: what is in them is no code.
OPAQUE = re.compile(
    r'/\*.*?(?:\*/|\Z)|//[^\n]*|"""(?s:.*?)(?:"""|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_TYPE = r"\b(?:class|interface|enum|record)\s+(\w+)"
#: What the virtual machine enters has these modifiers and an array of strings; any other `main` is just a method.
_MAIN = r"\b(?:(?:public|static|final|synchronized|strictfp)\s+){0,5}void\s+main\s*\(\s*(?:final\s+)?(String\b)?"
_PIECE = re.compile(rf"(\bpublic\s+)?(?:(?:abstract|final|sealed|strictfp)\s+)*{_TYPE}|[{{}}]|{_MAIN}")
#: The virtual machine looks which networks there are when it loads its library for them, which `Files` needs, too.
TRIES = ("network: socket(AF_INET)", "network: socket(AF_INET6)", "network: socket(AF_INET)")
PACKAGE = re.compile(r"^[^\S\n]*package\s+([\w.]+)\s*;", re.MULTILINE)


def without_opaque(text: str) -> str:
    """Return the code of `text` without its comments, texts and characters, which Kotlin and Scala write alike."""
    return OPAQUE.sub(" ", text)


def layout(text: str) -> dict[str, str]:
    """Return the file that the source must be in ("file") and the class to run ("main").

    A public class gives the file its name. What runs is that class if it has an entry point, else the first outermost
    class that has one, else the first with anything called `main` in it, else the public one.
    """
    code = without_opaque(text)
    depth, outer, public, first = 0, "", "", ""
    entries: list[str] = []
    others: list[str] = []
    for piece in _PIECE.finditer(code):
        word = piece.group()
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        elif piece.group(2) is None:
            entered = depth == 1 and piece.group(3) and "static" in word.split()
            (entries if entered else others).append(outer if depth > 0 else "")
        elif depth == 0:
            outer = piece.group(2)
            first = first or outer
            if piece.group(1):
                public = outer
    main = public if public in entries else next(filter(None, entries + others), "")
    name = public or main or first or "Main"
    package = PACKAGE.search(code)
    return {"source": f"{name}.java", "main": f"{package.group(1)}.{main or name}" if package else main or name}


_VM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx1024m")
_COMMAND = ("{javac}", *(f"-J{word}" for word in _VM))
_JAVAC = ("-proc:none", "-nowarn", "-Xmaxerrs", "20", "-encoding", "UTF-8", "-d", "classes", "{source}")
_RESIDENT = Path(__file__).with_name("resident_javac.java").read_text(encoding="utf-8")

LANGUAGE = Language(
    name="java",
    title="Java",
    extensions=(".java",),
    tools=("java", "javac"),
    readable=("/etc/java*",),
    source="Main.java",
    links=(".java",),
    layout=layout,
    build=((*_COMMAND, *_JAVAC),),
    keep=("classes/**/*.class",),
    resident=Resident(
        start=(
            "{java}", *_VM, "--add-opens=jdk.compiler/com.sun.tools.javac.util=ALL-UNNAMED", "-cp", "{prepared}",
            "Resident",
        ),
        stands_for=_COMMAND,
    ),
    prepare=(
        ("/bin/sh", "-c", 'printf %s "$2" > "$1/Resident.java"', "sh", "{prepared}", verbatim(_RESIDENT)),
        ("{javac}", "-d", "{prepared}", "{prepared}/Resident.java"),
    ),
    prepared=("Resident.class",),
    # A stack that overflows costs the virtual machine some seven times its size: more would be the memory's limit.
    run=(
        "{java}", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xss64m", "-Xmx{memory_mb}m",
        "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8", "-cp", "{program}/classes", "{main}",
    ),
    programs="java",
    tries=TRIES,
    error=r"^[^\n:]*\.java:(?P<line>\d+): error: (?P<message>.*)$",
    # The heap is bounded by -Xmx: what else the virtual machine needs comes on top.
    overhead_mb=192,
    mapped_mb=2048,
    memory_text="Terminating due to java.lang.OutOfMemoryError",
    memory_exit=3,
    install="apt-get install openjdk-17-jdk-headless",
    self_test=SelfTest(
        "import java.util.Scanner;\npublic class Main {\n    public static void main(String[] args) {\n"
        "        Scanner in = new Scanner(System.in);\n        System.out.println(in.nextInt() + in.nextInt());\n"
        "    }\n}\n"
    ),
)  # fmt: skip
