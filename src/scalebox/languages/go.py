"""Go, by the go command, without modules: the standard library, and what Debian has installed as source (testify)."""

from scalebox.languages.language import Language, SelfTest, verbatim

#: Settings of every build: what is in a build cache is found again only under the same.
_ENV = {
    "CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "-p=1", "GOPATH": "/usr/share/gocode", "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
}  # fmt: skip
#: Packages that are in the prepared cache. What a program imports beyond them is compiled at its build.
_PACKAGES = (
    "bufio bytes cmp container/heap container/list container/ring context crypto/md5 crypto/sha1 crypto/sha256"
    " encoding/binary encoding/hex encoding/json errors fmt hash/fnv io iter maps math math/big math/bits math/cmplx"
    " math/rand os reflect regexp runtime/debug slices sort strconv strings sync sync/atomic testing text/tabwriter"
    " text/template time unicode unicode/utf8"
)
_PREPARE = """
cd "$1" && export HOME="$1" GOCACHE="$1/cache" || exit 1
packages=$("$2" list -e -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' $3) && "$2" build $packages
"""
#: The cache of a build: links to what is prepared, which is never too old to use, and room for its own.
_OVERLAY = """
[ -z "$1" ] || cp -rs "$1/cache" "$GOCACHE" || exit 0
[ -z "$1" ] || { rm -f "$GOCACHE/trim.txt"; date +%s > "$GOCACHE/trim.txt"; }
"""
#: Of any other package than main, `go build` makes an archive.
_BUILD = """
"$0" build -ldflags="-s -w" -o main "$@" || exit
[ -x main ] && exit
echo "$1:$(grep -n '^package' "$1" | cut -d: -f1 | head -n 1): a program is package main" >&2
exit 1
"""

LANGUAGE = Language(
    name="go",
    title="Go",
    aliases=("golang",),
    extensions=(".go",),
    tools=("go",),
    version=("version",),
    source="solution.go",
    links=(".go",),
    prepare=(
        ("/usr/bin/env", *(f"{name}={text}" for name, text in _ENV.items()), "/bin/sh", "-c", verbatim(_PREPARE), "sh",
         "{prepared}", "{go}", _PACKAGES),
    ),
    prepared=("cache/README",),
    build=(
        ("/bin/sh", "-c", verbatim(_OVERLAY), "sh", "{prepared}"),
        ("/bin/sh", "-c", verbatim(_BUILD), "{go}", "{source}"),
    ),
    keep=("main",),
    run=("{program}/main",),
    programs="go",
    env={**_ENV, "GOCACHE": "{tmp}/go", "GOMEMLIMIT": "{memory_mb}MiB"},
    error=r"^[^\n:]*\.go:(?P<line>\d+):(?:\d+:)? (?P<message>.*)$",
    overhead_mb=32,
    mapped_mb=1024,
    memory_text="out of memory",
    memory_exit=2,
    install="apt-get install golang-go",
    self_test=SelfTest(
        'package main\n\nimport "fmt"\n\nfunc main() {\n\tvar a, b int\n\tfmt.Scan(&a, &b)\n\tfmt.Println(a + b)\n}\n'
    ),
)  # fmt: skip
