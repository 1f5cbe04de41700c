"""C and C++: the linker puts a function of ours around `main`, in an object file that the code's text cannot reach.

The token is read before the code's own constructors run, and sent back when `main` has returned 0. Whatever ends the
process in another way (`exit` in a function, a constructor or a handler of signals) sends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

import msgspec

from scalebox.execute.drivers.signature import functions
from scalebox.execute.programs.assembled import Assembled, blanked, ends_open, first_outside, joined, words
from scalebox.languages.language import Language

#: Called so that no language takes it for a source of the program.
_END_FILE = "scalebox_end.inc"
END = b"""
#include <sys/syscall.h>
#include <unistd.h>
static char token[16];
static long size;
__attribute__((constructor(101))) static void begin(void) { size = syscall(SYS_read, 3, token, sizeof token); }
int __real_main(int, char **, char **);
int __wrap_main(int count, char **words, char **names) {
  int status = __real_main(count, words, names);
  if (status == 0 && syscall(SYS_write, 3, token, size > 0 ? size : 0) != sizeof token) status = 1;
  return status;
}
"""
#: What makes an object file of that text.
BUILD_END = ("-O1", "-x", "c", "-c", _END_FILE, "-o", "scalebox_end.o")
FILES = {_END_FILE: END}
WRAP = "-Wl,--wrap=main"

#: Functions by which assertions are made, values compared and results sent: not for the code to define.
_OURS = (
    "__assert_fail __assert abort _exit _Exit exit syscall memcmp bcmp strcmp strncmp strlen wcscmp wmemcmp "
    "__errno_location __libc_start_main _start __cxa_throw __cxa_begin_catch _ZSt9terminatev"
).split()
#: Functions by which tests may compare, unless it is these that the task is about: then the prefix has their head.
_COMPARING = frozenset(
    "abs labs llabs fabs fabsf fabsl isnan isinf isfinite fmax fmin pow round floor ceil sqrt".split()
)
_COMPARING_TEXT = frozenset("memcmp bcmp strcmp strncmp strcasecmp strlen wcscmp wmemcmp".split())
#: Words of a build that are for the linker alone: a language may have a placeholder for some.
_LIBRARIES = ("-l", "{libraries}")
#: Symbols of the file alone count, too: a statement of an assembler may define them.
_CHECK = (
    "symbols() {{ nm $1 --defined-only solution.o | awk '{{print $NF}}' | grep -x -E \"$2\"; }}; "
    'found=$({{ symbols -g "$1"; symbols -a "$2"; }} | head -n 1); '
    'test -z "$found" || {{ echo "error: the code defines $found, which the tests rest on"; exit 1; }}'
)

_OPAQUE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
#: A macro's definition cannot be made by another macro, so its name always stands behind this word.
_DEFINED = re.compile(r"\bdefine(?:\s|/\*.*?\*/)*([A-Za-z_]\w*)", re.DOTALL)
_ASSERTS = re.compile(r"\bassert\s*\(")
_ASSERT_AGAIN = "#undef NDEBUG\n#undef assert\n#include <assert.h>\n"
FAILED = r"Assertion .*failed|terminate called after throwing"

#: Another symbol for what is declared, which no statement of an assembler is: that begins behind another one's end.
_RENAMED = re.compile(
    r"(?:[)\w]\s*\b(?<!else )(?:asm|__asm|__asm__)\s*\()|\bredefine_extname\b|\b_*weakref_*\b"
    r"|^[ \t]*(?:#|%:)[ \t]*define\b[^\n]*\b(?:asm|__asm|__asm__)\b",
    re.MULTILINE,
)
_CONDITION = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)
#: Templates that the code declares; then classes and functions that are specialised, with what they are it for.
_PRIMARY = re.compile(r"\btemplate\s*<\s*[^<>\s][^{};]*?\b(\w+)\s*\(")
_CLASS = re.compile(r"\btemplate\s*<[^{};()]*>\s*(?:struct|class|union)\s+(?:\w+\s*::\s*)*(\w+)\s*<([^{};]*)>[^{};]*\{")
_FUNCTION = re.compile(r"\btemplate\s*<\s*>([^{};()=]*?\b(\w+)\s*(?:<[^{};()]*>\s*)?\([^{};]*)\{")
_ARGUMENTS = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\s*(?:==|!=)\s*(?:<[^()]*>\s*)?\(((?:[^()]|\([^()]*\))*)\)")
#: The operators' word, or what comes behind it, made by a macro: then there is no telling which are defined.
_MACRO = re.compile(r"^[ \t]*(?:#|%:)[ \t]*define\b[^\n]*\boperator\b", re.MULTILINE)
_NAMED = re.compile(r"\boperator\s*([A-Za-z_]\w*)")
#: A definition, and no parameter of a template; then the two ways to give a type another name.
_OWN = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)\b(?!\s*[,>=&*<])")
_ALIAS = re.compile(r"\busing\s+([A-Za-z_]\w*)\s*=([^;]*);|\btypedef\b([^;{}]*?)([A-Za-z_]\w*)\s*;")
#: A class of such a name, in a namespace say, does not make the library's one the code's own.
_STANDARD = frozenset(
    "std vector string string_view map set multimap multiset unordered_map unordered_set pair tuple array deque list "
    "optional variant complex bitset basic_string any stack queue".split()
)


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program; macros of the code are none any more where the suffix begins."""
    used = words(suffix)
    defined = dict.fromkeys(_DEFINED.findall(_SPLICE.sub("", code)))
    undone = "".join(f"#undef {name}\n" for name in defined if name in used)
    if _ASSERTS.search(prefix) or _ASSERTS.search(suffix):
        undone += _ASSERT_AGAIN
    at = first_outside(suffix, _OPAQUE)
    tests = suffix[:at] + ("\n" if at else "") + undone + suffix[at:]
    judging = (_COMPARING | _COMPARING_TEXT) & used - words(prefix)
    ours = (*_OURS, *sorted(judging - _COMPARING_TEXT))
    # A function of C that is the file's alone is nobody else's, unless the tests name it.
    own = _free(code) - used
    changed = _wrapped(language, ours, [name for name in ours if name not in own])
    problem = _problem(code, judging | (_free(suffix) - words(prefix)))
    return joined(changed, prefix, code, tests, files=FILES, failed=FAILED, problem=problem)


def _wrapped(language: Language, ours: Sequence[str], hidden: Sequence[str]) -> Language:
    """Return the language with a build in two steps, and a look at what the code defines in between."""
    compiler, *rest = language.build[0]
    at = rest.index("-o")
    flags = [word for word in (*rest[:at], *rest[at + 2 :]) if word not in ("-static", "-s")]
    libraries = [word for word in flags if word.startswith(_LIBRARIES)]
    compiled = (compiler, *(word for word in flags if not word.startswith(_LIBRARIES)), "-c", "-o", "solution.o")
    linked = (compiler, "-static", "-s", "-pthread", WRAP, "scalebox_end.o", "solution.o", *libraries, "-o", "main")
    checked = ("/bin/sh", "-c", _CHECK, "sh", "|".join(ours), "|".join(hidden))
    return msgspec.structs.replace(language, build=(compiled, checked, (compiler, *BUILD_END), linked))


def _problem(code: str, judging: Set[str]) -> str:
    """Return a fault of code that puts something of its own in the place of what the tests judge by."""
    if open_end := ends_open(code, _OPAQUE):
        return open_end
    if code.rstrip().endswith("\\"):
        return "the code ends in the middle of a line"
    plain = blanked(_SPLICE.sub("", code), _OPAQUE)
    if _leaves_open(plain):
        return "the code ends within a condition (#if)"
    if _RENAMED.search(plain):
        return "the code gives a function the symbol of another"
    if _MACRO.search(plain) or not set(_DEFINED.findall(plain)).isdisjoint(_NAMED.findall(plain)):
        return "the code defines operators by macros"
    if taken := sorted(_free(code) & judging):
        return f"the code defines {taken[0]}, which the tests rest on"
    own = _own_types(plain)
    for parameters in _OPERATOR.findall(plain):
        if _bare(parameters).count(",") == 1 and own.isdisjoint(words(parameters)):
            return f"the code defines the equality of types that are not its own: ({parameters.strip()})"
    return _specialised(plain, own)


def _leaves_open(plain: str) -> bool:
    """Return whether what the code begins by `#if` goes on behind it."""
    depth = 0
    for word in _CONDITION.findall(plain):
        depth = max(0, depth - 1) if word == "endif" else depth + 1
    return depth > 0


def _free(text: str) -> set[str]:
    """Return the names of functions that are no methods: an overload would go first where it fits better."""
    return {one.name for one in functions(text) if one.owner in ("", "std")} - {"main"}


def _specialised(plain: str, own: set[str]) -> str:
    """Return a fault of code that makes something else of a template of the library for types that are not its own."""
    templates = own | set(_PRIMARY.findall(plain)) | {"hash"}
    for kind, arguments in _CLASS.findall(plain):
        if kind not in templates and own.isdisjoint(words(arguments)):
            return f"the code specialises {kind}<{arguments.strip()}>, which is the library's"
    for head, name in _FUNCTION.findall(plain):
        if name not in templates and own.isdisjoint(words(head)):
            return f"the code specialises {name}, which is the library's"
    return ""


def _own_types(plain: str) -> set[str]:
    """Return the names of the types that the code defines, and of aliases that have such a type in them."""
    own = set(_OWN.findall(plain)) - _STANDARD
    for name, meant, meant_before, name_behind in _ALIAS.findall(plain):
        if not own.isdisjoint(words(meant or meant_before)):
            own.add(name or name_behind)
    return own


def _bare(parameters: str) -> str:
    """Return a list of parameters without the arguments of templates."""
    while (fewer := _ARGUMENTS.sub("", parameters)) != parameters:
        parameters = fewer
    return parameters
