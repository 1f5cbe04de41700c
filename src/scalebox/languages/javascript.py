"""JavaScript, by node."""

from pathlib import Path
from signal import SIGABRT

from scalebox.languages.language import Language, SelfTest, verbatim

#: Kilobytes of stack: deep recursion is common, and the process has four times as much.
_STACK_KB = 60_000

_CHECK = verbatim(Path(__file__).with_name("check_javascript.js").read_text("utf-8"))
BUILD = ("{node}", "--no-warnings", "--experimental-vm-modules", "-e", _CHECK, "{source}")
#: node writes to a pipe when whoever reads it has room, and `process.exit` does not wait for that: of an output of more
#: than 64 KiB, the reader's speed would decide how much there is. So each write waits, as it does for a file.
_STDOUT = "scalebox_stdout.js"
BESIDE = {_STDOUT: "process.stdout._handle?.setBlocking?.(true);\n"}
RUN = (
    "{node}", f"--stack-size={_STACK_KB}", "--max-old-space-size={memory_mb}", f"--require={{program}}/{_STDOUT}",
    "{program}/solution.js",
)  # fmt: skip
#: A syntax error as node tells it: the place, the line, marks below it, and what is wrong.
ERROR = r"^[^\n]*solution\.[cm]?[jt]s:(?P<line>\d+)\n(?s:.*?)^(?P<message>\w*Error: [^\n]*)$"

LANGUAGE = Language(
    name="javascript",
    title="JavaScript",
    aliases=("js", "node", "nodejs", "ecmascript"),
    extensions=(".js", ".cjs"),
    tools=("node",),
    # Where npm puts what is installed for all.
    home=("node", "-p", "path.resolve(fs.realpathSync(process.execPath), '../../lib/node_modules')"),
    source="solution.js",
    build=(BUILD,),
    run=RUN,
    beside=BESIDE,
    programs="javascript",
    suites=True,
    # The machine's own file may be out of reach, which ends node before it begins.
    env={"OPENSSL_CONF": "/dev/null", "NODE_PATH": "{home}:/usr/local/lib/node_modules"},
    error=ERROR,
    overhead_mb=96,
    mapped_mb=2048,
    memory_text="heap out of memory",
    memory_signal=SIGABRT,
    install="apt-get install nodejs",
    self_test=SelfTest(
        'const words = require("fs").readFileSync(0, "utf8").split(/\\s+/).filter(Boolean).map(Number);\n'
        "console.log(words.reduce((a, b) => a + b, 0));\n"
    ),
)
