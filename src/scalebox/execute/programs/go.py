"""Go: the tests run under `go test`, called by a TestMain of ours that counts which of them came to their end."""

from __future__ import annotations

import re

import msgspec

from scalebox.execute.programs.assembled import Assembled, blanked, ends_open, joined, label_of, words
from scalebox.languages.language import Language

_OPAQUE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_PACKAGE = re.compile(r"^\s*package\s+(\w+)", re.MULTILINE)
_TEST = re.compile(r"^func\s+(Test(?:[^a-z\W]\w*)?)\s*\(\s*\w+\s+\*\s*testing\s*\.\s*T\s*\)", re.MULTILINE)
_MAIN = re.compile(r"^func\s+main\s*\(\s*\)", re.MULTILINE)

_LINKED = re.compile(r"^[ \t]*//go:linkname\b", re.MULTILINE)
#: What any package may call something of its own. One file of ours imports a package by each of these names that the
#: tests use: then the code's own is an error of the build.
_PREDECLARED = frozenset(
    "bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 any true "
    "false nil append cap copy len make new panic print println delete recover".split()
)
_OURS = frozenset(["byte", "int32", "make", "len", "true", "bool", "error", "string", "nil", "panic"])
_RUNNER = """package {package}

import (
	scaleboxFlag "flag"
	scaleboxOS "os"
	scaleboxAtomic "sync/atomic"
	scaleboxTesting "testing"
)

var scaleboxLine = scaleboxOS.NewFile(3, "line")
var scaleboxToken = func() []byte {{
	token := make([]byte, 16)
	size, _ := scaleboxLine.Read(token)
	return token[:size]
}}()
var scaleboxEnded int32

func TestMain(m *scaleboxTesting.M) {{
	// By its arguments, or by these flags, a program could have tests and their parts left out.
	scaleboxOS.Args = []string{{scaleboxOS.Args[0], "-test.v"}}
	scaleboxFlag.Parse()
	for name, value := range map[string]string{{"run": "", "skip": "", "list": "", "short": "false", "count": "1"}} {{
		if scaleboxFlag.Set("test."+name, value) != nil && name != "skip" {{
			scaleboxOS.Exit(1)
		}}
	}}
	status := m.Run()
	if status == 0 && scaleboxEnded == {count} {{
		scaleboxLine.Write(scaleboxToken)
		scaleboxOS.Exit(0)
	}}
	scaleboxOS.Exit(status | 1)
}}
{tests}"""
_ONE = """
func {name}(t *scaleboxTesting.T) {{
	{label}{name}(t)
	if !t.Skipped() && !t.Failed() {{
		scaleboxAtomic.AddInt32(&scaleboxEnded, 1)
	}}
}}
"""
#: For a program whose tests are its `main`: that becomes one test.
_AS_MAIN = """
func TestScaleboxMain(t *scaleboxTesting.T) {
	main()
	scaleboxAtomic.AddInt32(&scaleboxEnded, 1)
}
"""
_ERROR = r"^[^\n:]*solution_test\.go:(?P<line>\d+):(?:\d+:)? (?P<message>.*)$"


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program; its tests are those of the suffix, or else its `main`."""
    plain = blanked(suffix, _OPAQUE)
    names = list(dict.fromkeys(_TEST.findall(plain)))
    calls_main = not names and bool(_MAIN.search(plain))
    package = _PACKAGE.search(blanked(prefix + code, _OPAQUE))
    fields = {"package": package.group(1) if package else "main"}
    label = label_of(prefix, code, suffix)
    tests = _AS_MAIN if calls_main else "".join(_ONE.format(name=name, label=label) for name in names)
    runner = _RUNNER.format(**fields, tests=tests, count=1 if calls_main else len(names))
    files = {"a_scalebox_test.go": runner.encode(), "b_scalebox_test.go": _guard(fields["package"], suffix).encode()}
    command = ("{go}", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", "main", *sorted(files), "solution_test.go")
    changed = msgspec.structs.replace(
        language, source="solution_test.go", build=(*language.build[:-1], command), error=_ERROR, layout=None,
        run=(*language.run, "-test.v"), env={**language.env, **_PACKAGES},
    )  # fmt: skip
    tested = names or calls_main
    problem = _problem(code) if tested else "the suffix has no func TestName(t *testing.T) and no func main()"
    called = _TEST.sub(lambda found: found.group().replace(found.group(1), label + found.group(1), 1), suffix)
    return joined(changed, prefix, code, called, files=files, failed=r"--- FAIL|Error Trace", problem=problem)


#: Debian has the packages of golang-*-dev there, testify among them. With cgo, Go 1.19 has what they need compiled.
_PACKAGES = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "CGO_ENABLED": "1"}


def _problem(code: str) -> str:
    """Return a fault of code that could put functions in the place of the library's, or hides where the tests begin."""
    if _LINKED.search(code):
        return "the code uses go:linkname, by which it could take the place of the tests' libraries"
    return ends_open(code, _OPAQUE)


def _guard(package: str, suffix: str) -> str:
    names = sorted(_PREDECLARED & (words(suffix) | _OURS))
    imports = "".join(f'\t{name} "errors"\n' for name in names)
    return f"package {package}\n\nimport (\n{imports})\n\n" + "".join(f"var _ = {name}.New\n" for name in names)
