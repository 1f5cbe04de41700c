"""Verilog and SystemVerilog, as far as Icarus Verilog has it: a test bench that prints."""

from signal import SIGABRT

from scalebox.languages.language import Language, SelfTest

LANGUAGE = Language(
    name="verilog",
    title="Verilog (Icarus)",
    aliases=("systemverilog", "iverilog"),
    extensions=(".v", ".sv"),
    tools=("iverilog", "vvp"),
    version=("-V",),
    source="solution.v",
    build=(("{iverilog}", "-g2012", "-o", "main", "{source}"),),
    keep=("main",),
    run=("{vvp}", "-n", "{program}/main"),
    error=r"^[^\n:]*solution\.v:(?P<line>\d+): (?:error: )?(?P<message>.*)$",
    memory_text="std::bad_alloc",
    memory_signal=SIGABRT,
    install="apt-get install iverilog",
    self_test=SelfTest(
        "module main;\n  integer a, b, got;\n  initial begin\n"
        '    got = $fscanf(32\'h8000_0000, "%d %d", a, b);\n    $display("%0d", a + b);\n    $finish;\n'
        "  end\nendmodule\n"
    ),
)
