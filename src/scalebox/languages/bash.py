"""Bash. Every command that is no builtin is a process of its own, which the limit `processes` must allow."""

from scalebox.languages.language import Language, SelfTest, verbatim

#: Patterns like `+([0-9])` are read only where an option is on, and a check runs nothing of the program that sets it.
_CHECK = """
grep -q extglob "$1" || exec "$0" -n "$1"
"$0" -n "$1" 2> /dev/null || exec "$0" -O extglob -n "$1"
"""

LANGUAGE = Language(
    name="bash",
    title="Bash",
    aliases=("sh", "shell"),
    extensions=(".sh", ".bash"),
    tools=("bash",),
    source="solution.sh",
    build=(("/bin/sh", "-c", verbatim(_CHECK), "{bash}", "{source}"),),
    run=("{bash}", "{program}/solution.sh"),
    programs="script",
    error=r"^[^\n]*?solution\.sh: line (?P<line>\d+): (?P<message>.*)$",
    install="apt-get install bash",
    self_test=SelfTest("read -r a b\necho $((a + b))\n"),
)
