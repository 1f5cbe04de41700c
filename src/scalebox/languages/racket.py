"""Racket: modules, which begin with a line like `#lang racket`."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="racket",
    title="Racket",
    aliases=("rkt",),
    extensions=(".rkt",),
    tools=("racket", "raco"),
    readable=("/etc/racket",),
    source="solution.rkt",
    build=(("{raco}", "make", "{source}"),),
    keep=("solution.rkt", "compiled/solution_rkt.*"),
    run=("{racket}", "{program}/solution.rkt"),
    # What was compiled counts, whatever the times of the files.
    env={"PLT_COMPILED_FILE_CHECK": "exists", "PLTUSERHOME": "{tmp}"},
    error=r"^[^\n]*solution\.rkt:(?P<line>\d+):\d+: (?P<message>.*)$",
    overhead_mb=96,
    mapped_mb=512,
    memory_text="out of memory",
    memory_exit=1,
    install="apt-get install racket",
    self_test=SelfTest("#lang racket\n(displayln (+ (read) (read)))\n"),
)
