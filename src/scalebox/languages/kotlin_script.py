"""Kotlin scripts: statements outside of any function are what runs. Built once, as a program is."""

import msgspec

from scalebox.languages import kotlin
from scalebox.languages.language import SelfTest, verbatim

#: A script becomes a class whose constructor runs it, and which the compiler gives no `main` that works without it.
_LAUNCHER = """
public class Launcher {
    public static void main(String[] words) throws Throwable {
        try {
            Class.forName("Solution").getConstructor(String[].class).newInstance((Object) words);
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }
}
"""

LANGUAGE = msgspec.structs.replace(
    kotlin.LANGUAGE,
    name="kotlin-script",
    title="Kotlin script",
    aliases=("kotlin_script", "kts"),
    extensions=(".kts",),
    tag="kotlin",
    tools=("java", "javac", "npm"),
    source="solution.kts",
    layout=lambda _: {"main": "Launcher"},
    build=(
        *kotlin.LANGUAGE.build,
        ("/bin/sh", "-c", 'printf %s "$1" > Launcher.java', "sh", verbatim(_LAUNCHER)),
        ("{javac}", "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", "classes", "Launcher.java"),
    ),
    self_test=SelfTest('val (a, b) = readLine()!!.split(" ").map { it.toInt() }\nprintln(a + b)\n'),
)
