"""What a program of a compiled language is, apart from comments and the amount of white space between its tokens.

That there is white space at all stays, and so do line ends where they may count: no rule of a grammar beyond these is
needed to see that nothing changes.
A program for which even that may not be so (it asks for its line numbers, continues lines, might hold raw
strings) has no fingerprint but its text.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_MOST_CHARACTERS = 256 * 1024

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_CHARACTER = r"'(?:[^'\\\n]|\\.)+'"
#: A number with all that sticks to it, so that the apostrophes in it begin nothing.
_NUMBER = r"\.?[0-9](?:'?[\w.]|(?<=[eEpP])[+-])*"
_WORD = r"[^\W\d]\w*"
_GAP = r"(?P<gap>(?:[ \t\r\n]|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)+)"


class Family(NamedTuple):
    """The tokens of some languages, what has them give up, and what varies from run to run.

    `line_ends` says where the end of a line is more than a space: "directives", "" for nowhere, or "everywhere".
    """

    token: re.Pattern[str]
    gives_up: re.Pattern[str]
    varies: re.Pattern[str]
    line_ends: str


def _family(token: str, gives_up: str, varies: str, line_ends: str) -> Family:
    return Family(re.compile(f"{_GAP}|{token}", re.DOTALL), re.compile(gives_up), re.compile(varies), line_ends)


_ANY = r"[^\s/'\"`]|/(?![/*])"
_C = _family(
    rf"(?:u8|[uUL])?{_STRING}|(?:u8|[uUL])?{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}",
    # Line numbers, raw strings, lines that go on, trigraphs, and what the compiler is told in comments or pragmas.
    r'__LINE__|__FILE__|__COUNTER__|__builtin_(?:LINE|FILE)|source_location|stacktrace|R"|\\\s*\n|\?\?|#\s*line|%:'
    r"|#\s*(?:embed|include\s*\")|_Pragma",
    r"__DATE__|__TIME|\b(?:time|clock|clock_gettime|gettimeofday|ftime|rand|srand|random|srandom|drand48|rand_r|getpid"
    r"|getenv|environ|random_device|chrono|thread|pthread\w*|async|atomic|fork|fopen|freopen|ifstream|ofstream|fstream"
    r"|filesystem|open|mmap|rdtsc\w*|__rdtsc|asm|__asm__|malloc_usable_size|typeid|signal|setjmp|alarm|uintptr_t"
    r"|intptr_t|execinfo|backtrace|mt19937\w*|shuffle|random_shuffle|omp\w*)\b|%p|(?:set|map)\s*<\s*[\w:]+\s*\*",
    "directives",
)
_JAVA = _family(
    rf'"""(?:[^"\\]|\\.|"(?!""))*"""|{_STRING}|{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}',
    r"\\u|getStackTrace|getLineNumber|StackWalker|StackTraceElement|printStackTrace",
    r"\b(?:currentTimeMillis|nanoTime|Date|Calendar|Instant|LocalDate|LocalTime|LocalDateTime|Clock|Random|random"
    r"|ThreadLocalRandom|SecureRandom|UUID|shuffle|Thread|Runnable|Executor\w*|CompletableFuture|parallel\w*|ForkJoin\w*"
    r"|hashCode|identityHashCode|getenv|getProperty|File\w*|Files|Path|Paths|Runtime|reflect|getClass|IdentityHashMap"
    r"|Hashtable|WeakHashMap|WeakReference|toMap|toSet|groupingBy|synchronized|nio)\b"
    # Hash tables whose order may be that of addresses, and those that are shuffled on purpose.
    r"|(?:Map|Set)\s*<\s*(?!(?:Integer|String|Character|Long|Short|Byte)\b|>)|Hash(?:Map|Set)\s*\("
    r"|\b(?:Set|Map)\s*\.\s*(?:of|copyOf|ofEntries)\b|\bObject\b",
    "",
)
_GO = _family(
    rf"`[^`]*`|{_STRING}|{_CHARACTER}|{_NUMBER}|{_WORD}|{_ANY}",
    r'//go:|//export|//line|\+build|"C"|"embed"|"runtime|"reflect"|"log"|debug\.',
    r'"(?:time|math/rand|math/rand/v2|crypto/rand|sync|sync/atomic|os/.*|net.*|unsafe|context|io/.*)"'
    r"|\b(?:go|select|chan|map|Getpid|Getenv|Args|Open|OpenFile|ReadFile)\b|%p",
    "everywhere",
)
#: What may vary in JavaScript. It has no tokens: adding a function to a string shows how it is written.
_SCRIPT_VARIES = re.compile(
    r"\b(?:Date|random|performance|process|crypto|setTimeout|setInterval|setImmediate|Worker|worker_threads|hrtime|os"
    r"|WeakRef|FinalizationRegistry|async|await|Promise|fetch|child_process|import|globalThis|Intl|toLocale\w+|eval"
    r"|Function|__dirname|__filename|module|Atomics|createReadStream|readdir\w*|l?stat\w*|readFile|open\w*|access\w*"
    r"|realpath\w*|stack)\b|readFileSync\s*\((?!\s*(?:0\b|['\"]/dev/stdin['\"]))"
)
_FAMILIES = {"c": _C, "cpp": _C, "cpp20": _C, "java": _JAVA, "go": _GO}
#: By language, what makes a program do something else another time; of other languages nothing is known.
_VARIES = {
    **{language: family.varies for language, family in _FAMILIES.items()},
    "javascript": _SCRIPT_VARIES, "typescript": _SCRIPT_VARIES,
}  # fmt: skip


def reason_of(language: str, source: str) -> str:
    """Return why a program may do something else another time, "" where it will not."""
    varies = _VARIES.get(language)
    if varies is None:
        return f"nothing is known of what makes programs in {language} vary"
    found = varies.search(source)
    return f"uses {found[0]}" if found else ""


def tokens(language: str, source: str) -> bytes | None:
    """Return a program's fingerprint, or None where it has none but its text."""
    family = _FAMILIES.get(language)
    if family is None or len(source) > _MOST_CHARACTERS or family.gives_up.search(source):
        return None
    at, made, directive = 0, list[str](), False
    match = family.token.match
    while at < len(source):
        found = match(source, at)
        if found is None:
            return None
        at = found.end()
        if found["gap"] is None:
            directive = directive or found[0] == "#"  # which is found nowhere else
            made.append(found[0])
            continue
        ends_line = "\n" in _line_ends(found["gap"], family.line_ends)
        counts = family.line_ends == "everywhere" or directive or source.startswith("#", at)
        made.append("\n" if ends_line and counts and family.line_ends else " ")
        directive = directive and not ends_line
    # Two tokens cannot be taken for one: what is between them is kept, and tokens are read from left to right.
    return hashlib.blake2b("".join(made).strip().encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _line_ends(gap: str, where: str) -> str:
    """Return a run of white space and comments without the line ends that do not count.

    In a directive, a block comment is a space even where it goes on to the next line.
    """
    return gap if where == "everywhere" else re.sub(r"//[^\n]*|/\*.*?\*/", " ", gap, flags=re.DOTALL)
