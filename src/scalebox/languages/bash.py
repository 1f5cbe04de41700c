"""Bash. Every command that is no builtin is a process of its own, which the limit `processes` must allow."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="bash",
    title="Bash",
    aliases=("sh", "shell"),
    extensions=(".sh", ".bash"),
    tools=("bash",),
    source="solution.sh",
    build=(("{bash}", "-n", "{source}"),),
    run=("{bash}", "{program}/solution.sh"),
    programs="script",
    error=r"^[^\n]*?solution\.sh: line (?P<line>\d+): (?P<message>.*)$",
    install="apt-get install bash",
    self_test=SelfTest("read -r a b\necho $((a + b))\n"),
)
