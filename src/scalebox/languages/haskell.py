"""Haskell, by ghc, with the libraries that come with it; linked statically, which halves what a start costs."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="haskell",
    title="Haskell",
    aliases=("hs", "ghc"),
    extensions=(".hs", ".lhs"),
    tools=("ghc",),
    source="solution.hs",
    build=(
        (
            "{ghc}", "-O1", "-v0", "-w", "-rtsopts", "-optl-static", "-optl-pthread", "-optl-s", "-outputdir", "made",
            "-o", "main", "{source}",
        ),
    ),
    keep=("main",),
    run=("{program}/main", "+RTS", "-M{memory_mb}m", "-K256m", "-RTS"),
    error=r"^[^\n:]*solution\.l?hs:\(?(?P<line>\d+)[^\n ]*: error:\s+(?:• )?(?P<message>.*)$",
    # The heap is bounded by -M: the stack of the C library and the collector's own tables come on top.
    overhead_mb=32,
    mapped_mb=1024,
    memory_text="eap exhausted",
    memory_exit=251,
    readable=("/var/lib/ghc",),
    install="apt-get install ghc",
    self_test=SelfTest("main :: IO ()\nmain = getLine >>= print . sum . map (read :: String -> Int) . words\n"),
)  # fmt: skip
