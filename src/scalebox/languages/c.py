"""C, by gcc."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="c",
    title="C",
    aliases=("c11", "c17", "gcc"),
    extensions=(".c",),
    tools=("gcc",),
    source="solution.c",
    links=(".c",),
    build=(
        (
            "{gcc}",
            "-std=gnu17",
            "-O2",
            "-pipe",
            "-static",
            "-s",
            "-fmax-errors=20",
            "-w",
            "{source}",
            "-o",
            "main",
            "-lm",
        ),
    ),
    keep=("main",),
    run=("{program}/main",),
    programs="c",
    error=r"^(?:[^\n:]*:(?P<line>\d+):(?:\d+:)? )?(?:fatal )?error: (?P<message>.*)$",
    install="apt-get install gcc libc6-dev",
    self_test=SelfTest(
        '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); return 0; }\n'
    ),
)
