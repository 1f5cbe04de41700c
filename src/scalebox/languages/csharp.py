"""C#, by Mono: its compiler knows the language up to C# 7."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="csharp",
    title="C#",
    aliases=("c#", "cs", "mono"),
    extensions=(".cs",),
    tools=("mono", "mcs"),
    readable=("/etc/mono",),
    source="solution.cs",
    build=(("{mcs}", "-optimize+", "-nologo", "-warn:0", "-r:System.Numerics", "-out:main.exe", "{source}"),),
    keep=("main.exe",),
    run=("{mono}", "{program}/main.exe"),
    # Files in shared memory would be seen by others, and cost a start.
    env={"MONO_DISABLE_SHARED_AREA": "1", "MONO_GC_PARAMS": "max-heap-size={memory_mb}m"},
    error=r"^(?:[^\n(]*\((?P<line>\d+),\d+\): )?error CS\d+: (?P<message>.*)$",
    # Mono looks there for the bounds of its stack.
    needs_proc=True,
    overhead_mb=96,
    mapped_mb=1024,
    memory_text="OutOfMemoryException",
    memory_exit=1,
    install="apt-get install mono-mcs mono-runtime libmono-system-core4.0-cil libmono-system-numerics4.0-cil",
    self_test=SelfTest(
        "using System;\nusing System.Linq;\nclass Program {\n    static void Main() {\n"
        "        Console.WriteLine(Console.ReadLine().Split(' ').Select(int.Parse).Sum());\n    }\n}\n"
    ),
)
