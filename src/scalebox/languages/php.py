"""PHP, by its command line."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="php",
    title="PHP",
    extensions=(".php",),
    tools=("php",),
    # Its extensions are listed in files there.
    readable=("/etc/php*",),
    source="solution.php",
    build=(("{php}", "-l", "{source}"),),
    run=("{php}", "-d", "memory_limit={memory_mb}M", "-d", "display_errors=stderr", "{program}/solution.php"),
    programs="script",
    error=r"^(?:PHP )?(?:Parse|Fatal) error: +(?P<message>.*?) in \S*solution\.php on line (?P<line>\d+)",
    overhead_mb=32,
    memory_text="Allowed memory size of",
    memory_exit=255,
    install="apt-get install php-cli",
    self_test=SelfTest('<?php\n[$a, $b] = explode(" ", trim(fgets(STDIN)));\necho $a + $b, "\\n";\n'),
)
