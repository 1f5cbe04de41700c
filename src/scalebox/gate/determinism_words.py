"""Which programs in other languages than Python always do the same: what in their texts says that they may not.

No grammar is known here. A text is searched for words as it is, and without what may stand between or within them:
comments, lines that go on, escapes. In time that is linear in it, however it is made: what may be long is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

#: Headers of C and C++ that have nothing of the machine but what the words below name.
_HEADERS = frozenset(
    "algorithm any array bit bits/stdc++.h bitset cassert ccomplex cctype cerrno cfenv cfloat charconv cinttypes"
    " ciso646 climits clocale cmath compare complex concepts cstdarg cstdbool cstddef cstdint cstdio cstdlib"
    " cstring ctgmath ctime ctype cuchar cwchar cwctype deque exception expected ext/pb_ds/assoc_container.hpp"
    " ext/pb_ds/tree_policy.hpp ext/pb_ds/priority_queue.hpp ext/rope ext/numeric format forward_list functional"
    " initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory memory_resource"
    " new numbers numeric optional ostream print queue ranges ratio regex scoped_allocator set span sstream stack"
    " stdexcept streambuf string string_view system_error tuple type_traits unordered_map unordered_set utility"
    " valarray variant vector version assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h"
    " limits.h locale.h malloc.h math.h memory.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h"
    " stdnoreturn.h string.h strings.h tgmath.h uchar.h wchar.h wctype.h openssl/md5.h".split()
)
_INCLUDE = re.compile(
    r"(?:#|%:)\s*(?:include(?:_next)?|import)\b\s*(?:<([^>\n]{0,200})>|\"([^\"\n]{0,200})\"|([^\s<\"][^\n]*))"
)
_C = re.compile(
    r"__DATE__|__TIME|\btimes\s*\(\s*&|\b(?:time|clock|clock_gettime|gettimeofday|timespec_get\w*|getrusage|ftime|rand"
    r"|srand|random|srandom|drand48|rand_r|arc4random\w*|getrandom|getentropy|getpid|getppid|gettid|getuid|gethostname|uname|sysconf"
    r"|getauxval|syscall|getenv|secure_getenv|environ|random_device|chrono|j?thread|pthread\w*|thrd_\w+|async|atomic\w*"
    r"|execution|fork|vfork|clone|popen|system|exec[lv]\w*|posix_spawn\w*|fopen\w*|fdopen|freopen\w*|tmpfile\w*|tmpnam"
    r"|mkstemp|ifstream|ofstream|fstream|filebuf|filesystem|open|openat|creat|opendir|readlink|dlopen|dlsym|mmap|sbrk"
    r"|_*rdtsc\w*|_rd(?:rand|seed|pmc|pid)\w*|__builtin_(?:ia32|frame|return_address|readcyclecounter|extract_return)\w*"
    r"|asm|__asm\w*|malloc_usable_size|mallinfo\w*|typeid|signal|sigaction|setitimer|timer_create|setjmp|alarm|uintptr_t"
    r"|intptr_t|execinfo|backtrace|mt19937\w*|shuffle|random_shuffle|omp\w*)\b|%p"
    # Tokens that are pasted may be any word. Pointers, as keys, are in the order of their addresses.
    r"|(?<!,)(?<!, )(?:##|%:%:)|##(?!\s*__VA_ARGS__)|<<\s*&\s*\w"
    r"|(?:set|map|less|greater|hash)\s*<\s*(?:const\s+)?[\w:]+(?:\s+const)?\s*\*|priority_queue\s*<[^,;>]{0,200}\*\s*>"
    r"|(?:set|map)\s*<\s*(?:std\s*::\s*)?(?:shared|unique|weak)_ptr"
    r"|\(\s*(?:unsigned|signed|long|size_t|u?int64_t|u?intmax_t|ull|ll)[\w\s]*\)\s*(?:&|new\b|malloc\b)"
    r"|reinterpret_cast\s*<\s*(?:std\s*::\s*)?(?:unsigned|long|size_t|u?int)"
)
#: Pairs with a pointer in them, and what may put them in order.
_POINTER_IN_PAIR = re.compile(r"\b(?:pair|tuple)\s*<[^;{}()]{0,200}\*")
_ORDERS = re.compile(r"\b(?:multi)?(?:set|map)\s*<|\bpriority_queue\b|\bsort\b|<=>|\b(?:max|min)_element\b")
_JAVA = re.compile(
    r"\b(?:currentTimeMillis|nanoTime|(?:Local|Zoned|Offset)?Date(?:Time)?|\w*Calendar|Instant|(?:Local|Offset)Time"
    r"|Year|YearMonth|MonthDay|Clock|TimeZone|ZoneId|Timestamp|Timer\w*|\w*Random\w*|random"
    r"|UUID|shuffle|Thread|Runnable|Executor\w*|CompletableFuture|parallel\w*|ForkJoin\w*|\w*Concurrent|toConcurrentMap|StructuredTaskScope|hashCode"
    r"|identityHashCode|getenv|getProperty|getProperties|\w*File\w*|Path|Paths|Runtime|Process\w*|reflect|getClass"
    r"|getDeclared\w*|getMethods|getFields|MethodHandles?|VarHandle|Unsafe|ClassLoader|ServiceLoader|ResourceBundle"
    r"|IdentityHashMap|Hashtable|\w*Reference|ReferenceQueue|Cleaner|WeakHashMap|toMap|toSet|toUnmodifiable\w*|groupingBy"
    r"|synchronized|nio|management|instrument|lang\s*\.\s*ref|logging|Logger|net|sql|Socket\w*|URL|InetAddress"
    r"|StackOverflowError|OutOfMemoryError|VirtualMachineError)\b"
    # Hash tables whose order may be that of addresses, and those that are shuffled on purpose.
    r"|(?:Map|Set)\s*<\s*(?!(?:Integer|String|Character|Long|Short|Byte)\b(?!\s*\[)|>)|Hash(?:Map|Set)\s*\("
    r"|\b(?:Set|Map)\s*\.\s*(?:of|copyOf|ofEntries|\*|<)|\b(?:Set|Map)\s*::\s*(?:of|copyOf)\b|\bObject\b"
)
#: Packages of Go that depend on nothing but what they are given.
_PACKAGES = frozenset(
    "bufio bytes cmp container/heap container/list container/ring encoding/base64 encoding/binary encoding/csv"
    " encoding/hex encoding/json errors fmt hash hash/adler32 hash/crc32 hash/crc64 hash/fnv io iter maps math"
    " math/big math/bits math/cmplx os regexp slices sort strconv strings testing text/tabwriter unicode"
    " unicode/utf16 unicode/utf8 crypto/md5 crypto/sha1 crypto/sha256 crypto/sha512"
    " github.com/stretchr/testify/assert github.com/stretchr/testify/require".split()
)
_IMPORT = re.compile(r"\bimport\b\s*(?:\(([^)]*)\)?|([^\n;]*))")
_PACKAGE = re.compile(r"""\s*(?:;|([A-Za-z_]\w*|\.)?\s*["`]([\w./-]+)["`])""")
_GO = re.compile(
    # Packages that programs without imports get by their names.
    r"\b(?:time|rand|sync)\s*\.|\b(?:go|select|chan|map)\b|%p|\bos\s*\.(?!\s*(?:Stdin|Stdout|Stderr|Exit)\b)|\bmaps\s*\."
    r"|\b(?:Benchmark\w*|AllocsPerRun|Coverage\w*)\b"
)
_READS = r"""readFileSync\b(?!\s*\(\s*(?:0\b|['"]/dev/stdin['"])|\s*(?:,[\w\s,]{0,200})?\}\s*=\s*require\b)"""
_HARMLESS_MODULES = r"(?:node:)?(?:fs|readline|assert|util|events)"
#: What may vary in JavaScript. It has no tokens: adding a function to a string shows how it is written.
_SCRIPT = re.compile(
    r"\b(?:Date|Temporal|random|performance|process|crypto|setTimeout|setInterval|setImmediate|Worker|worker_threads|hrtime"
    r"|os|WeakRef|FinalizationRegistry|async|await|Promise|fetch|child_process|import|global|globalThis|Intl"
    r"|toLocale\w+|eval|Function|__dirname|__filename|module|Atomics|SharedArrayBuffer|Message(?:Channel|Port)"
    r"|BroadcastChannel|AbortSignal|navigator|\w*[sS]tackTrace|createReadStream|readdir\w*|f?l?stat\w*|readFile|open\w*"
    r"|access\w*|existsSync|realpath\w*|readlink\w*|mkdtemp\w*|watch\w*|readv?Sync|stack)\b"
    rf"|{_READS}|\brequire\b(?!\s*:|\s*\(\s*(['\"`]){_HARMLESS_MODULES}\1\s*\)(?!\s*\[))"
    r"|\bconsole\b(?!\s*\.\s*(?:log|error|info|warn|debug|assert|dir|table|group\w*|count\w*)\b)"
    r"|\b(?:Math|this|fs)\s*\[|\bwith\s*\(|\.\s*constructor\b|\bconstructor\b(?!\s*\()"
)
_WORDS = {"c": _C, "cpp": _C, "cpp20": _C, "java": _JAVA, "go": _GO, "javascript": _SCRIPT, "typescript": _SCRIPT}
_BLOCK_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_LINE_COMMENT = re.compile(r"//[^\n]*")
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_ESCAPE = re.compile(r"\\(?:u+([0-9a-fA-F]{4})|u\{0*([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2}))")


def reason_of(language: str, source: str, own: Collection[str]) -> str:
    """Return why a program may do something else another time, "" where it will not.

    `own` are the names of files that come with it.
    """
    words = _WORDS.get(language)
    if words is None:
        return f"nothing is known of what makes programs in {language} vary"
    for text in dict.fromkeys(_readings(language, source)):
        found = words.search(text)
        reason = f"uses {found[0]}" if found else _of_imports(language, text, own)
        if reason:
            return reason
    return ""


def _readings(language: str, source: str) -> Iterator[str]:
    """Yield a source as it may be read: a text of one of them may be no code, but all code is in one as it stands."""
    if language in ("c", "cpp", "cpp20"):
        source = _SPLICE.sub("", source)
    elif language != "go":
        source = _ESCAPE.sub(_character, source)
    yield source
    without = _BLOCK_COMMENT.sub(" ", source)
    yield without
    yield _LINE_COMMENT.sub(" ", without)


def _character(escape: re.Match[str]) -> str:
    code = int(escape[1] or escape[2] or escape[3], 16)
    return chr(code) if code < 0x110000 else escape[0]


def _of_imports(language: str, source: str, own: Collection[str]) -> str:
    """Return what a program takes in of which nobody has looked at what it does, or how a pointer may be a key."""
    if language == "go":
        return _of_packages(source)
    if not language.startswith("c"):
        return ""
    for system, local, made in _INCLUDE.findall(source):
        if made or (system or local) not in (_HEADERS if system else {*_HEADERS, *own}):
            return f"includes {system or local or made}"
    return "may put pointers in order" if _POINTER_IN_PAIR.search(source) and _ORDERS.search(source) else ""


def _of_packages(source: str) -> str:
    for found in _IMPORT.finditer(_LINE_COMMENT.sub("", source)):
        named, at = (found[1] if found[1] is not None else found[2]).rstrip(), 0
        while at < len(named):
            one = _PACKAGE.match(named, at)
            if one is None:
                return "imports what cannot be read"
            if one[2] and (one[2] not in _PACKAGES or (one[1] and one[2] == "os")):
                return f"imports {one[2]}"
            at = one.end()
    return ""
