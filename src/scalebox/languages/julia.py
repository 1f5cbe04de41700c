"""Julia, with the libraries that come with it."""

from scalebox.languages.language import Language, SelfTest, verbatim

_JULIA = ("{julia}", "--startup-file=no", "--history-file=no", "--color=no", "--threads=1")
#: Parses the file, and says the first error in one line.
_CHECK = (
    "tree = Meta.parseall(read(ARGS[1], String); filename = ARGS[1]);"
    " for part in tree.args;"
    " part isa LineNumberNode && (global line = part.line);"
    " part isa Expr && part.head in (:error, :incomplete)"
    " && (println(ARGS[1], ':', line, ': ', part.args[1]); exit(1));"
    " end"
)

LANGUAGE = Language(
    name="julia",
    title="Julia",
    aliases=("jl",),
    extensions=(".jl",),
    tools=("julia",),
    source="solution.jl",
    build=((*_JULIA, "-e", verbatim(_CHECK), "{source}"),),
    run=(*_JULIA, "{program}/solution.jl"),
    env={"JULIA_DEPOT_PATH": "{tmp}", "OPENBLAS_NUM_THREADS": "1"},
    error=r"^[^\n:]*solution\.jl:(?P<line>\d+): (?P<message>.*)$",
    overhead_mb=256,
    mapped_mb=4096,
    memory_text="OutOfMemoryError()",
    memory_exit=1,
    install="from julialang.org (Debian 12 has none)",
    self_test=SelfTest("println(sum(parse.(Int, split(readline()))))\n"),
)
