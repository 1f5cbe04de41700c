"""Swift, by swiftc, with its own library and Foundation."""

from signal import SIGILL

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="swift",
    title="Swift",
    extensions=(".swift",),
    tools=("swiftc",),
    source="solution.swift",
    build=(
        (
            "{swiftc}", "-O", "-suppress-warnings", "-static-stdlib", "-module-cache-path", "modules", "{source}",
            "-o", "main",
        ),
    ),
    keep=("main",),
    run=("{program}/main",),
    error=r"^(?:[^\n:]*:(?P<line>\d+):\d+: )?error: (?P<message>.*)$",
    overhead_mb=16,
    mapped_mb=512,
    memory_text="memory",
    memory_signal=SIGILL,
    install="from swift.org (Debian 12 has none; Debian 13: apt-get install swiftlang)",
    self_test=SelfTest('let words = readLine()!.split(separator: " ")\nprint(words.map { Int($0)! }.reduce(0, +))\n'),
)  # fmt: skip
