"""Lua 5.4."""

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="lua",
    title="Lua",
    extensions=(".lua",),
    tools=("lua", "luac"),
    version=("-v",),
    source="solution.lua",
    build=(("{luac}", "-p", "{source}"),),
    run=("{lua}", "{program}/solution.lua"),
    error=r"^[^\n]*solution\.lua:(?P<line>\d+): (?P<message>.*)$",
    memory_text="not enough memory",
    memory_exit=1,
    install="apt-get install lua5.4",
    self_test=SelfTest('print(io.read("n") + io.read("n"))\n'),
)
