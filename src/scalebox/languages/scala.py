"""Scala 2, by scalac and the HotSpot virtual machine."""

from __future__ import annotations

from scalebox.languages import java, jvm
from scalebox.languages.language import Language, SelfTest

_JARS = ("scala-compiler", "scala-library", "scala-reflect", "scala-xml", "scala-parser-combinators")
_COMPILE = (
    *jvm.COMPILER, jvm.archived("scalac.jsa"), "-Xss16m", "-cp", ":".join(f"{{home}}/lib/{jar}.jar" for jar in _JARS),
    "scala.tools.nsc.Main",
)  # fmt: skip
_FLAGS = ("-usejavacp", "-nowarn", "-encoding", "UTF-8", "-d", "classes")
_PROGRAM = """
import scala.collection.mutable
case class Point(x: Int, y: Int)
object Main {
  def main(args: Array[String]): Unit = {
    val numbers = scala.io.StdIn.readLine().split(" ").map(_.toInt)
    val counts = mutable.HashMap[Int, Int]()
    for (number <- numbers.sortBy(-_)) counts(number) = counts.getOrElse(number, 0) + 1
    println(counts.map { case (k, v) => s"$k $v" }.mkString(",") + Point(1, 2))
  }
}
"""


def _ready(command: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return (("/bin/mkdir", "-p", "classes"), command)


_ARCHIVE = tuple(word for word in _COMPILE if "{prepared}" not in word)

LANGUAGE = Language(
    name="scala",
    title="Scala",
    extensions=(".scala",),
    tools=("scalac", "java", "sh"),
    # The folder that scalac is in, by way of all links.
    home=("sh", "-c", 'dirname "$(dirname "$(readlink -f "$(command -v scalac)")")"'),
    version=("-version",),
    readable=java.LANGUAGE.readable,
    source="solution.scala",
    layout=lambda text: {"main": jvm.main_class(text, "Main")},
    build=_ready((*_COMPILE, *_FLAGS, "{source}")),
    keep=("classes/**/*.class",),
    run=(*jvm.PROGRAM, "{program}/classes:{home}/lib/scala-library.jar", "{main}"),
    prepare=_ready(("/bin/true",))[:1]
    + jvm.archiving("scalac.jsa", "solution.scala", _PROGRAM, (*_ARCHIVE, *_FLAGS, "solution.scala")),
    prepared=("scalac.jsa",),
    error=r"^(?:[^\n:]*\.scala:(?P<line>\d+): )?error: (?P<message>.*)$",
    overhead_mb=java.LANGUAGE.overhead_mb,
    mapped_mb=java.LANGUAGE.mapped_mb,
    memory_text=java.LANGUAGE.memory_text,
    memory_exit=java.LANGUAGE.memory_exit,
    tries=java.TRIES,
    install="apt-get install scala openjdk-17-jdk-headless",
    self_test=SelfTest(
        "object Main {\n  def main(args: Array[String]): Unit =\n"
        '    println(scala.io.StdIn.readLine().split(" ").map(_.toInt).sum)\n}\n'
    ),
)
