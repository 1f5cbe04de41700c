"""Rust, by rustc: the standard library, and a few crates, which cargo builds once where Debian has their source."""

from signal import SIGABRT

from scalebox.languages.language import Language, SelfTest, verbatim

#: Where Debian's packages put the source of crates.
_SOURCES = "/usr/share/cargo/registry"
_CRATES = ("md5", "rand", "regex")
#: Looked for where a program names them, and nowhere else.
_EXTERN = tuple(f"--extern={crate}" for crate in _CRATES)
_MANIFEST = f"""
[package]
name = "crates"
version = "0.0.0"
[lib]
path = "lib.rs"
[profile.release]
debug = false
[dependencies]
{chr(10).join(f'{crate} = "*"' for crate in _CRATES)}
[workspace]
"""
_CONFIG = f"""
[source.crates-io]
replace-with = "installed"
[source.installed]
directory = "{_SOURCES}"
[build]
target-dir = "target"
"""
#: cargo takes what it needs from the environment: a home of its own, and rustc, by the path that it has here.
_PREPARE = (
    'set -e; mkdir .cargo; printf %s "$3" > Cargo.toml; printf %s "$4" > .cargo/config.toml; touch lib.rs;'
    ' CARGO_HOME="$PWD/home" RUSTC="$2" "$1" build --release --offline --quiet;'
    " mkdir crates; mv target/release/deps/*.rlib crates/; rm -rf target home .cargo; touch done"
)

LANGUAGE = Language(
    name="rust",
    title="Rust",
    aliases=("rs", "rustc"),
    extensions=(".rs",),
    tools=("rustc", "cc"),
    home=("rustc", "--print", "sysroot"),
    source="solution.rs",
    build=(
        (
            "{rustc}", "--edition=2021", "-Copt-level=2", "-Ccodegen-units=1", "-Cstrip=symbols", "-Awarnings",
            "--error-format=short", "-Clinker={cc}", "-L{prepared}/crates", *_EXTERN, "{source}", "-o", "main",
        ),
    ),
    keep=("main",),
    prepare=(("/bin/sh", "-c", _PREPARE, "sh", "{home}/bin/cargo", "{rustc}", verbatim(_MANIFEST), verbatim(_CONFIG)),),
    prepared=("done",),
    run=("{program}/main",),
    programs="rust",
    error=r"^(?:[^\n:]*:(?P<line>\d+):\d+: )?error(?:\[\w+\])?: (?P<message>.*)$",
    memory_text="memory allocation of",
    memory_signal=SIGABRT,
    install="apt-get install rustc, or https://rustup.rs",
    self_test=SelfTest(
        "use std::io::Read;\nfn main() {\n    let mut text = String::new();\n"
        "    std::io::stdin().read_to_string(&mut text).unwrap();\n"
        '    println!("{}", text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum::<i64>());\n}\n'
    ),
)  # fmt: skip
