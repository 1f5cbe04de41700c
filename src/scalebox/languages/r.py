"""R, with the packages that come with it."""

from scalebox.languages.language import Language, SelfTest, verbatim

#: R as it comes is started by scripts, and has another program remove its temporary folder at the end: processes that a
#: case may not start. This is R that takes the case's temporary folder for its own, which the jail clears.
_R = """
#include <stdlib.h>
extern char *R_TempDir;
int Rf_initialize_R(int, char **);
void Rf_mainloop(void);
int main(int n, char **words) {
    R_TempDir = getenv("TMPDIR");
    Rf_initialize_R(n, words);
    Rf_mainloop();
}
"""
_OPTIONS = ("--no-echo", "--no-restore", "--vanilla")
#: Loads what R loads by itself, but for the search for a program `uname`, which would need a process. It comes before
#: the first line, on that line.
_START = (
    'local({base <- baseenv(); which <- base$Sys.which; unlockBinding("Sys.which", base);'
    ' base$Sys.which <- function(names) c(uname = ""); loadNamespace("utils"); base$Sys.which <- which;'
    ' lockBinding("Sys.which", base);'
    ' for (name in c("methods", "datasets", "utils", "grDevices", "graphics", "stats"))'
    " library(name, character.only = TRUE)}); "
)


LANGUAGE = Language(
    name="r",
    title="R",
    aliases=("rscript",),
    extensions=(".r",),
    tools=("R", "gcc"),
    home=("R", "RHOME"),
    readable=("/etc/R",),
    source="solution.R",
    build=(
        ("/bin/sh", "-c", 'printf %s "$1" > start.c', "sh", verbatim(_R)),
        ("{gcc}", "-O1", "-s", "start.c", "-o", "start", "-L{home}/lib", "-lR"),
        ("./start", *_OPTIONS, "-e", "invisible(parse('{source}'))"),
        ("/bin/sh", "-c", '{{ printf %s "$1"; cat "$2"; }} > main.R', "sh", verbatim(_START), "{source}"),
    ),
    keep=("start", "main.R"),
    run=("{program}/start", *_OPTIONS, "--file={program}/main.R"),
    env={
        "R_HOME": "{home}", "LD_LIBRARY_PATH": "{home}/lib", "R_MAX_VSIZE": "{memory_mb}M",
        "R_DEFAULT_PACKAGES": "NULL", "OPENBLAS_NUM_THREADS": "1",
    },
    error=r"solution\.R:(?P<line>\d+):\d+: (?P<message>.*)$",
    overhead_mb=64,
    mapped_mb=512,
    memory_text="memory exhausted",
    memory_exit=1,
    install="apt-get install r-base-core gcc libc6-dev",
    self_test=SelfTest('cat(sum(scan(file("stdin"), quiet = TRUE)), "\\n", sep = "")\n'),
)  # fmt: skip
