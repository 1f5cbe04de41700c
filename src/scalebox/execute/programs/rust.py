"""Rust: as in C, the linker puts a function of ours around `main`; where there are tests, that of `rustc --test`.

That one returns only if no test has failed. Tests that are ignored count as not passed: they are not allowed.
"""

from __future__ import annotations

import re

import msgspec

from scalebox.execute.programs import c
from scalebox.execute.programs.assembled import Assembled, blanked, closed, ends_open, first_outside, joined, words
from scalebox.languages.language import Language

_OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|\bb?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'\n])\'', re.DOTALL
)
_TEST = re.compile(r"#\s*\[\s*test\s*\]")
#: Macros by which tests judge; those of the library, whatever the code calls by their names.
_MACROS = ("assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "panic", "vec",
           "matches", "unreachable", "format")  # fmt: skip
#: Takes whatever attribute the code ends with, which would be one of the tests otherwise.
_FIRST = "#[allow(dead_code)] const SCALEBOX_TESTS: () = ();\n"
#: Ways to put symbols in the place of the libraries'.
_LINKED = re.compile(
    r"\b(?:no_mangle|export_name|link_name|link_section|global_asm|linkage|extern\s+crate\s+(?:self|\w+\s+as))\b"
)
#: At the head of the text this is about all of it: no test would be left, and none would fail.
_CONDITION = re.compile(r"#\s*!\s*\[\s*(?:r#)?(?:cfg|cfg_attr|test_runner|reexport_test_harness_main)\b")


#: What the tests may mean by these is found first under the code's own names.
_ROOTS = re.compile(r"\b(?:mod|as|struct|enum|trait|type|union)\s+(?:r#)?(std|core|alloc)\b")
_TRAIT = re.compile(r"\btrait\s+\w[^{;]*\{")
_METHOD = re.compile(r"\bfn\s+(?:r#)?(\w+)\s*(?:<[^(]*>)?\s*\(\s*(?:mut\s+)?self\b\s*[,):]")
#: Methods of the library by which tests judge. One of a trait that takes the value, and no reference, would go first.
_JUDGING = frozenset(
    "is_empty is_none is_some is_ok is_err is_nan len contains contains_key starts_with ends_with eq ne cmp "
    "partial_cmp abs all any iter into_iter get first last unwrap unwrap_err expect as_str as_slice to_vec "
    "to_string".split()
)


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program, built for its tests where the text has any."""
    at = first_outside(suffix, _OPAQUE)
    used = words(suffix)
    again = "".join(
        f"#[allow(unused_macros)] macro_rules! {name} {{ ($($t:tt)*) => {{ ::std::{name}!($($t)*) }} }}\n"
        for name in _MACROS
        if name in used
    )
    suffix = f"{suffix[:at]}\n{_FIRST}{again}{suffix[at:]}" if at else _FIRST + again + suffix
    tested = bool(_TEST.search(blanked(prefix + suffix, _OPAQUE)))
    return joined(
        _wrapped(language, tested=tested), prefix, code, suffix, files=c.FILES,
        failed=r"panicked at [^\n]*\n?[^\n]*assertion|panicked at", problem=_problem(code, used),
    )  # fmt: skip


def _wrapped(language: Language, *, tested: bool) -> Language:
    # As `cargo test` and a plain `rustc` have it: `debug_assert` asserts, and an overflow is a panic.
    more = (
        "-Cdebug-assertions=on",
        "-Clink-arg=scalebox_end.o",
        f"-Clink-arg={c.WRAP}",
        *(("--test",) if tested else ()),
    )
    build = ((("{cc}", *c.BUILD_END)), *((*command, *more) for command in language.build))
    run = (*language.run, "--test-threads=1", "--include-ignored", "--color=never") if tested else language.run
    return msgspec.structs.replace(language, build=build, run=run)


def _problem(code: str, used: set[str]) -> str:
    if open_end := ends_open(code, _OPAQUE):
        return open_end
    plain = blanked(code, _OPAQUE)
    if (found := _ROOTS.search(plain)) is not None:
        return f"the code calls something {found.group(1)}, which is the library's name"
    if taken := sorted(_extended(plain) & used):
        return f"the code has a trait with {taken[0]}, which the tests use"
    if (found := _LINKED.search(plain)) is not None:
        return f"the code uses {found.group()}, by which it could take the place of the tests' libraries"
    if (found := _CONDITION.search(plain)) is not None:
        return f"the code uses {found.group()}…], by which it could leave out the tests"
    return ""


def _extended(plain: str) -> set[str]:
    """Return the methods of the library's names that traits of the code have, and that take the value itself."""
    found: set[str] = set()
    for head in _TRAIT.finditer(plain):
        found |= set(_METHOD.findall(plain, head.end(), closed(plain, head.end() - 1)))
    return found & _JUDGING
