"""Java: a class of ours calls the `main` of the tests. Assertions are enabled."""

from __future__ import annotations

import re

import msgspec

from scalebox.execute.programs.assembled import Assembled, blanked, ends_open, joined, words
from scalebox.languages import java
from scalebox.languages.language import Language

#: Stands behind the tests. It names everything in full, for the text may have imports and classes of any name.
_RUNNER = """
class ScaleboxEnd {{
    private static final byte[] token = new byte[16];
    private static java.io.FileDescriptor line() throws java.lang.Exception {{
        java.io.FileDescriptor line = new java.io.FileDescriptor();
        java.lang.reflect.Field number = java.io.FileDescriptor.class.getDeclaredField("fd");
        number.setAccessible(true);
        number.setInt(line, 3);
        return line;
    }}
    public static void main(java.lang.String[] words) throws java.lang.Throwable {{
        java.io.FileDescriptor line = line();
        int size = new java.io.FileInputStream(line).readNBytes(token, 0, 16);
        {main}.main({words});
        if (!{main}.class.desiredAssertionStatus()) throw new java.lang.Exception("the program disabled assertions");
        new java.io.FileOutputStream(line).write(token, 0, size);
    }}
}}
"""
FAILED = r"AssertionError|AssertionFailedError|ComparisonFailure"

_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_PIECE = re.compile(r"\b(?:class|interface|enum|record)\s+(\w+)|[{}]|\bvoid\s+main\s*\(\s*(\))?")
#: Classes of java.lang and java.util that the tests' own text may name, and the roots of packages: a class or a
#: variable of this name would take their place.
_LIBRARY = frozenset(
    "Object Objects Math StrictMath String Boolean Integer Long Double Float Character Byte Short Number Arrays List "
    "ArrayList LinkedList Map HashMap LinkedHashMap TreeMap Set HashSet LinkedHashSet TreeSet Collection Collections "
    "Optional OptionalInt OptionalLong OptionalDouble Stream IntStream LongStream DoubleStream Collectors "
    "AssertionError Exception RuntimeException Error Throwable IllegalArgumentException IllegalStateException "
    "IndexOutOfBoundsException ArithmeticException NullPointerException ClassCastException NumberFormatException "
    "UnsupportedOperationException InterruptedException NoSuchElementException ConcurrentModificationException "
    "InputMismatchException StackOverflowError OutOfMemoryError System Thread Runnable Runtime Process ProcessBuilder "
    "StringBuilder StringBuffer StringJoiner StringTokenizer CharSequence Comparable Comparator Iterable Iterator "
    "ListIterator BigInteger BigDecimal Deque ArrayDeque Queue PriorityQueue Stack Vector BitSet Random Scanner UUID "
    "Locale Formatter EnumMap EnumSet SortedMap SortedSet NavigableMap NavigableSet Class Void Enum Record java javax "
    "org".split()
)
#: ClassLoader's methods, by which classes that are not loaded yet lose their assertions.
_STATUS = re.compile(r"\b(?:set(?:Default|Class|Package)|clear)AssertionStatus\b")
_UNSAFE = re.compile(r"\bUnsafe\b")
_DECLARED = re.compile(
    r"\b(?:class|interface|enum|record)\s+(\w+)"
    r"|\b(?!(?:throws|return|new|instanceof|extends|implements|case)\b)\w+(?:<[^;{}]*>)?(?:\[\])*\s+(\w+)\s*[=;,:)]"
)


def assemble(language: Language, prefix: str, code: str, suffix: str) -> Assembled:
    """Return the program, which is entered at the last `main`; the one of the suffix, where that has one."""
    text = prefix + code + "\n" + suffix
    main, takes_words = _main(text)
    package = java.PACKAGE.search(java.OPAQUE.sub(" ", text))
    place = java.layout(text)["source"]
    runner = _RUNNER.format(main=main or "Main", words="words" if takes_words else "")
    entry = f"{package.group(1)}.ScaleboxEnd" if package else "ScaleboxEnd"
    changed = msgspec.structs.replace(
        language,
        layout=lambda _: {"source": place, "main": entry},
        run=(language.run[0], "-ea", "--add-opens=java.base/java.io=ALL-UNNAMED", *language.run[1:]),
    )
    problem = _problem(prefix, code, suffix) if main else "neither code nor tests have a method main"
    return joined(changed, prefix, code, suffix + runner, failed=FAILED, problem=problem)


def _main(text: str) -> tuple[str, bool]:
    """Return the class at the margin that the last `main` is in, "" where there is none, and whether it takes words."""
    depth, outer, found = 0, "", ("", True)
    for piece in _PIECE.finditer(blanked(_plain(text), java.OPAQUE)):
        word = piece.group()
        if word in "{}":
            depth += 1 if word == "{" else -1
        elif piece.group(1) is None:
            found = (outer, piece.group(2) is None) if outer and depth > 0 else found
        elif depth == 0:
            outer = piece.group(1)
    return found


def _problem(prefix: str, code: str, suffix: str) -> str:
    if open_end := ends_open(_plain(code), java.OPAQUE):
        return open_end
    if _STATUS.search(blanked(_plain(code), java.OPAQUE)):
        return "the code could disable the assertions of the tests"
    if _UNSAFE.search(blanked(_plain(code), java.OPAQUE)) and not _UNSAFE.search(prefix):
        return "the code uses Unsafe, by which it could alter the values of the tests"
    guarded = (_LIBRARY & words(suffix)) - set(_names(prefix))
    taken = next((name for name in _names(code) if name in guarded), "")
    return f"the code defines {taken} anew, which the tests use" if taken else ""


def _names(text: str) -> list[str]:
    """Return the names of classes and variables that a text declares."""
    return [one or two for one, two in _DECLARED.findall(blanked(_plain(text), java.OPAQUE))]


def _plain(text: str) -> str:
    """Return the text without escapes of Unicode, which Java allows anywhere."""
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)
