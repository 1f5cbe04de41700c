"""Ruby."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="ruby",
    title="Ruby",
    aliases=("rb",),
    extensions=(".rb",),
    tools=("ruby",),
    source="solution.rb",
    build=(("{ruby}", "-c", "{source}"),),
    run=("{ruby}", "{program}/solution.rb"),
    programs="script",
    error=r"^[^\n]*solution\.rb:(?P<line>\d+): (?P<message>.*)$",
    overhead_mb=32,
    memory_text="failed to allocate memory (NoMemoryError)",
    memory_exit=1,
    install="apt-get install ruby",
    self_test=SelfTest("puts gets.split.map(&:to_i).sum\n"),
)
