"""TypeScript, checked by its compiler and run by node. Type errors are errors of the build."""

from pathlib import Path

from scalebox.languages import javascript
from scalebox.languages.language import Language, Resident, SelfTest, verbatim

_COMMAND = ("{node}", "{home}/typescript/lib/tsc.js")
_TSC = (
    "--target", "es2022", "--module", "commonjs", "--esModuleInterop", "--lib", "es2023", "--noEmitOnError",
    "--skipLibCheck", "--pretty", "false", "--typeRoots", "{home}/@types", "--types", "node", "{source}",
)  # fmt: skip
#: What starts the compiler that stays; with more words it builds with these, and ends.
RESIDENT = ("{node}", "-e", verbatim(Path(__file__).with_name("resident_tsc.js").read_text("utf-8")), "{home}")

LANGUAGE = Language(
    name="typescript",
    title="TypeScript",
    aliases=("ts", "tsc"),
    extensions=(".ts",),
    tools=("node", "npm"),
    home=("npm", "root", "-g"),
    version=("{home}/typescript/lib/tsc.js", "--version"),
    source="solution.ts",
    build=((*_COMMAND, *_TSC),),
    keep=("solution.js",),
    resident=Resident(RESIDENT, _COMMAND),
    run=javascript.LANGUAGE.run,
    beside=javascript.LANGUAGE.beside,
    programs="typescript",
    suites=True,
    env=javascript.LANGUAGE.env,
    error=r"^(?:solution\.ts\((?P<line>\d+),\d+\): )?error TS\d+: (?P<message>.*)$",
    overhead_mb=javascript.LANGUAGE.overhead_mb,
    mapped_mb=javascript.LANGUAGE.mapped_mb,
    memory_text=javascript.LANGUAGE.memory_text,
    memory_signal=javascript.LANGUAGE.memory_signal,
    install="npm install --global typescript @types/node",
    self_test=SelfTest(
        'import * as fs from "fs";\n'
        'const numbers: number[] = fs.readFileSync(0, "utf8").trim().split(/\\s+/).map(Number);\n'
        "console.log(numbers.reduce((a: number, b: number): number => a + b, 0));\n"
    ),
)  # fmt: skip
