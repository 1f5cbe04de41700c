"""What a program that is to be proved stateless may use of the language and its library, and how.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8 syntax.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


#: Library names that may be used, by module. None of them keeps state that a program can see.
LIBRARY = {
    "math": "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp "
    "exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan "
    "isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder "
    "sin sinh sqrt tan tanh tau trunc ulp",
    "cmath": "acos asin atan cos e exp inf isclose isfinite isinf isnan log log10 phase pi polar rect sin sqrt tan tau",
    "itertools": "accumulate chain chain.from_iterable combinations combinations_with_replacement compress count "
    "cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap "
    "takewhile tee zip_longest",
    "functools": "cache cmp_to_key lru_cache partial reduce",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "re": "A ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile escape findall finditer fullmatch match "
    "search split sub subn",
    "string": "ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits printable "
    "punctuation whitespace",
    "operator": "abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf inv invert "
    "itemgetter le lshift lt mul ne neg not_ or_ pos pow rshift sub truediv truth xor",
    "copy": "copy deepcopy",
    "fractions": "Fraction",
    "decimal": "Decimal ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP",
    "statistics": "fmean geometric_mean harmonic_mean mean median median_high median_low mode multimode pstdev "
    "pvariance stdev variance",
    "json": "dumps loads",
    "datetime": "date date.fromisoformat datetime datetime.fromisoformat datetime.strptime time timedelta",
    "hashlib": "md5 sha1 sha224 sha256 sha384 sha512",
    "typing": "Any Callable Collection Counter DefaultDict Deque Dict FrozenSet Generator Hashable Iterable "
    "Iterator List Mapping MutableMapping MutableSequence Optional Sequence Set Tuple TypeVar Union",
    "sys": "maxsize",
    "__future__": "annotations division print_function absolute_import",
}
NAMES = {module: words(text) for module, text in LIBRARY.items()}
NO_STAR = words("operator sys functools __future__")

BUILTINS = words(
    "abs all any bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format "
    "frozenset hex int isinstance iter len list map max min next oct ord pow range repr reversed round set slice "
    "sorted str sum super tuple type zip NotImplemented ArithmeticError AssertionError AttributeError EOFError "
    "Exception IndexError KeyError LookupError NameError NotImplementedError OverflowError RuntimeError "
    "StopIteration TypeError UnicodeDecodeError UnicodeError ValueError ZeroDivisionError"
)
ERRORS = frozenset(name for name in BUILTINS if name[0].isupper() and name != "NotImplemented")
TYPES = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range)
TYPE_NAMES = frozenset(kind.__name__ for kind in TYPES)

#: Attributes that give plain data; `args` of an exception can hold a text that shows an address.
DATA = words(
    "args days denominator imag lastindex maxlen microsecond microseconds minute month numerator hour day pattern "
    "real second seconds start step stop string value year _fields"
)
METHODS = (
    frozenset(name for kind in TYPES for name in dir(kind) if name[0] != "_")
    | words(
        "appendleft cache_clear close copy date digest elements extendleft findall finditer fullmatch group "
        "groupdict groups hexdigest isoformat isoweekday limit_denominator match most_common move_to_end popleft "
        "quantize rotate search send span start end strftime sub subn subtract timestamp toordinal total "
        "total_seconds update weekday _asdict _replace"
    )
) - words("format_map real imag numerator denominator _fields")
#: Methods and functions whose every positional argument is only iterated.
ITERATES = words(
    "join extend extendleft update union intersection difference symmetric_difference issubset issuperset "
    "isdisjoint intersection_update difference_update symmetric_difference_update fromkeys subtract"
)
READS = words(
    "get keys values items index count copy translate issubset issuperset isdisjoint union intersection difference"
)
#: Methods that put objects into a set, or of which operators make one.
MAKES_SET = words("keys items add update union symmetric_difference symmetric_difference_update")
SPECIAL_METHODS = words(
    "__init__ __lt__ __le__ __gt__ __ge__ __eq__ __ne__ __hash__ __bool__ __len__ __iter__ __next__ __getitem__ "
    "__setitem__ __contains__ __call__ __str__ __repr__ __add__ __radd__ __sub__ __mul__ __rmul__ __truediv__ "
    "__floordiv__ __mod__ __pow__ __neg__ __abs__ __iadd__ __and__ __or__ __xor__"
)
HARMFUL = words(
    "astimezone default_factory format_map fromtimestamp mro now register throw today utcfromtimestamp utcnow "
    "with_traceback add_note scanner fget fset fdel getter setter deleter"
)
FRAMES = ("__", "gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "im_")

METHOD_SHAPES = {"sort": "pk", "sub": "fp", "subn": "fp"}
#: How arguments are used, one letter a position, the last for all further: i iterated, f called, p plain;
#: a k at the end says that the argument `key` is only called.
SHAPES = {
    "all": "i", "any": "i", "bytes": "ip", "bytearray": "ip", "dict": "i", "enumerate": "ip", "filter": "fi",
    "frozenset": "i", "iter": "ip", "len": "i", "list": "i", "map": "fi", "next": "ip", "reversed": "i", "set": "i",
    "sorted": "ipk", "sum": "ip", "tuple": "i", "zip": "i",
    "collections.Counter": "i", "collections.deque": "ip", "collections.OrderedDict": "i",
    "functools.cmp_to_key": "fp", "functools.partial": "fp", "functools.reduce": "fip",
    "heapq.merge": "ik", "heapq.nlargest": "pipk", "heapq.nsmallest": "pipk",
    "itertools.accumulate": "if", "itertools.chain": "i", "itertools.compress": "i", "itertools.cycle": "i",
    "itertools.dropwhile": "fi", "itertools.filterfalse": "fi", "itertools.groupby": "ifk", "itertools.islice": "ip",
    "itertools.pairwise": "i", "itertools.permutations": "ip", "itertools.combinations": "ip",
    "itertools.product": "i", "itertools.starmap": "fi", "itertools.takewhile": "fi", "itertools.zip_longest": "i",
    "math.fsum": "i", "math.prod": "i", "statistics.mean": "i", "statistics.median": "i", "re.sub": "pfp",
    "re.subn": "pfp",
}  # fmt: skip
#: Calls that make an object whose text or hash shows an address; those of HASHED only its hash.
ITERATORS = words(
    "enumerate zip map filter reversed iter functools.partial functools.cmp_to_key operator.itemgetter "
    "heapq.merge re.finditer"
) | frozenset(module + "." + name for module in ("itertools", "hashlib") for name in NAMES[module])
#: Iterables whose items are such objects.
YIELDS_CARRIERS = words("itertools.groupby itertools.tee re.finditer")
HASHED = words("re.match re.search re.fullmatch math.nan")
HASHED_METHODS = words("match search fullmatch values finditer elements")
MEMO = words("functools.lru_cache functools.cache")
NOT_VALUES = MEMO | words("super type collections.namedtuple copy.copy copy.deepcopy")
#: Classes through which a value could reach the clock or a registry: called, or compared with, and nothing else.
CLASSES = frozenset(
    module + "." + name
    for module in ("typing", "datetime", "fractions", "decimal")
    for name in NAMES[module]
    if name[:6] != "ROUND_"
)
MAKES_CONST = words(
    "float int str bool bytes complex frozenset tuple range len abs pow min max sum round chr ord divmod "
    "decimal.Decimal fractions.Fraction re.compile math.sqrt math.log math.log2 math.log10 math.pow math.floor "
    "math.ceil math.factorial datetime.date datetime.datetime datetime.timedelta"
)
CONSTANTS = words("math.pi math.e math.inf math.tau sys.maxsize") | {"string." + name for name in NAMES["string"]}

#: Methods that could see what type() gives, when it is compared.
COMPARES = words("__eq__ __ne__ __contains__ __hash__ __iter__ __getitem__")


def is_special(attr: str) -> bool:
    """Return whether an attribute may lead to frames, code, classes or the clock; `__x` is mangled and does not."""
    return attr in HARMFUL or (attr.startswith(FRAMES) and not attr[:2] == "__" != attr[-2:])
