"""D, by gdc; its own library is linked statically."""

from scalebox.languages.language import Language, SelfTest

BUILD = ("{gdc}", "-O2", "-pipe", "-w", "-s", "-static-libphobos", "-fmax-errors=20", "{source}", "-o", "main")

LANGUAGE = Language(
    name="d",
    title="D",
    aliases=("dlang", "gdc"),
    extensions=(".d",),
    tools=("gdc",),
    source="solution.d",
    build=(BUILD,),
    keep=("main",),
    run=("{program}/main",),
    error=r"^(?:[^\n:]*:(?P<line>\d+):(?:\d+:)? )?(?:fatal )?error: (?P<message>.*)$",
    memory_text="OutOfMemoryError",
    memory_exit=1,
    install="apt-get install gdc",
    self_test=SelfTest("import std;\nvoid main() {\n    readln().split().map!(to!int).sum.writeln;\n}\n"),
)
