"""Kotlin, by the compiler for the Java virtual machine that the npm package `kotlin-compiler` brings."""

from __future__ import annotations

import re

from scalebox.languages import java, jvm
from scalebox.languages.language import Language, SelfTest

_LIB = "{home}/kotlin-compiler/lib"
_JARS = (
    "kotlin-compiler", "kotlin-stdlib", "kotlin-script-runtime", "kotlin-reflect", "kotlinx-coroutines-core-jvm",
    "annotations-13.0",
)  # fmt: skip
COMPILE = (
    *jvm.COMPILER, jvm.archived("kotlinc.jsa"), "-cp", ":".join(f"{_LIB}/{jar}.jar" for jar in _JARS),
    "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
)  # fmt: skip
FLAGS = ("-kotlin-home", "{home}/kotlin-compiler", "-no-reflect", "-nowarn", "-jvm-target", "17", "-d", "classes")
#: What programs may use beside themselves.
LIBRARIES = f"{_LIB}/kotlin-stdlib.jar:{_LIB}/kotlinx-coroutines-core-jvm.jar:{_LIB}/kotlin-script-runtime.jar"

_NAMED = re.compile(r'@file\s*:\s*JvmName\s*\(\s*"(\w+)"\s*\)')
_PROGRAM = """
import java.util.*
data class Point(val x: Int, val y: Int)
fun main() {
    val numbers = readLine()!!.split(" ").map { it.toInt() }
    val counts = HashMap<Int, Int>()
    for (number in numbers.sortedBy { -it }) counts[number] = counts.getOrDefault(number, 0) + 1
    println(counts.entries.joinToString { "${it.key} ${it.value}" } + Point(1, 2))
}
"""


def layout(text: str) -> dict[str, str]:
    """Return the class to run ("main"): that of the file, named after it or as the file says, or of an object."""
    named = _NAMED.search(text)
    return {"main": jvm.main_class(text, named.group(1) if named else "SolutionKt")}


def _without_archive(command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in command if "{prepared}" not in word)


LANGUAGE = Language(
    name="kotlin",
    title="Kotlin",
    aliases=("kt",),
    extensions=(".kt",),
    tools=("java", "npm"),
    home=("npm", "root", "-g"),
    version=("-cp", f"{_LIB}/kotlin-compiler.jar:{_LIB}/kotlin-stdlib.jar", COMPILE[-1], "-version"),
    readable=java.LANGUAGE.readable,
    source="solution.kt",
    layout=layout,
    build=((*COMPILE, *FLAGS, "-classpath", LIBRARIES, "{source}"),),
    keep=("classes/**/*.class",),
    run=(*jvm.PROGRAM, "{program}/classes:" + LIBRARIES, "{main}"),
    prepare=jvm.archiving("kotlinc.jsa", "solution.kt", _PROGRAM, (*_without_archive(COMPILE), *FLAGS, "solution.kt")),
    prepared=("kotlinc.jsa",),
    error=r"^(?:[^\n:]*\.kts?:(?P<line>\d+):\d+: )?error: (?P<message>.*)$",
    overhead_mb=java.LANGUAGE.overhead_mb,
    mapped_mb=java.LANGUAGE.mapped_mb,
    memory_text=java.LANGUAGE.memory_text,
    memory_exit=java.LANGUAGE.memory_exit,
    tries=java.TRIES,
    install="apt-get install openjdk-17-jdk-headless npm; npm install --global kotlin-compiler",
    self_test=SelfTest(
        'fun main() {\n    val (a, b) = readLine()!!.split(" ").map { it.toInt() }\n    println(a + b)\n}\n'
    ),
)
