"""Perl."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="perl",
    title="Perl",
    aliases=("pl",),
    extensions=(".pl",),
    tools=("perl",),
    version=("-e", 'print "perl $^V\\n"'),
    source="solution.pl",
    build=(("{perl}", "-c", "{source}"),),
    run=("{perl}", "{program}/solution.pl"),
    programs="script",
    error=r"^(?P<message>.*) at \S*solution\.pl line (?P<line>\d+)",
    memory_text="Out of memory",
    memory_exit=1,
    install="apt-get install perl",
    self_test=SelfTest("my ($a, $b) = split ' ', <STDIN>;\nprint $a + $b, \"\\n\";\n"),
)
