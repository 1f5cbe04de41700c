"""Values of library types that tests compare by content: how `wire` carries them, each under a number of its own.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, Callable, NamedTuple

from scalebox.execute.separate import wire, wire_read
from scalebox.execute.separate.own_builtins import OWN
from scalebox.execute.separate.wire import Encoder
from scalebox.execute.separate.wire_read import Decoder, MalformedValue

__builtins__ = OWN

_MAX_NUMBER_BITS = 16_384  # of numbers that go into arithmetic which takes the square of their length
_MAX_DIGITS = 10_000


class _Type(NamedTuple):
    module: str
    name: str
    content: Callable[[Any], Any]  # plain data that stands for a value
    build: Callable[[Any, Any], Any]  # (the type, content) -> value; may raise anything for content of a wrong shape


def _expect(good: bool, what: str) -> None:
    if not good:
        raise MalformedValue("bad content of a %s" % what)


def _fields(*names: str) -> Callable[[Any], Any]:
    return lambda value: tuple([getattr(value, name) for name in names])


def _spread(kind: Any, content: Any) -> Any:
    _expect(type(content) is tuple and len(content) <= 9, kind.__name__)
    return kind(*content)


def _modest(value: Any) -> bool:
    return type(value) is int and value.bit_length() <= _MAX_NUMBER_BITS


def _build_numbers(kind: Any, content: Any) -> Any:
    _expect(type(content) is tuple and all(map(_modest, content)), kind.__name__)
    return kind(*content)


def _build_text(kind: Any, content: Any) -> Any:
    _expect(type(content) is str and len(content) <= _MAX_DIGITS, kind.__name__)
    return kind(content)


def _build_datetime(kind: Any, content: Any) -> Any:
    *numbers, fold, zone = content
    return kind(*numbers, tzinfo=zone, fold=fold)


def _zone_content(value: Any) -> Any:
    offset, name = value.utcoffset(None), value.tzname(None)
    return (offset,) if type(value)(offset).tzname(None) == name else (offset, name)


def _build_uuid(kind: Any, content: Any) -> Any:
    _expect(type(content) is int, "UUID")
    return kind(int=content)


def _build_array(kind: Any, content: Any) -> Any:
    code, data = content
    _expect(type(code) is str and code in "bBhHiIlLqQfd" and type(data) is bytes, "array")
    return kind(code, data)


def _element_content(value: Any) -> Any:
    return (value.tag, dict(value.attrib), value.text, value.tail, list(value))


def _build_element(kind: Any, content: Any) -> Any:
    tag, attributes, text, tail, children = content
    _expect(type(attributes) is dict and type(children) is list, "Element")
    element = kind(tag, attributes)
    element.text, element.tail = text, tail
    element.extend(children)
    return element


def _view(of: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """Return how a view of a dict is carried: as a view of a dict of our own."""

    def content(value: Any) -> Any:
        return dict(value) if of == "items" else list(value)

    def build(kind: Any, content: Any) -> Any:
        _expect(type(content) is (dict if of == "items" else list), "view")
        if of == "items":
            return content.items()
        return dict.fromkeys(content).keys() if of == "keys" else dict(enumerate(content)).values()

    return content, build


_TIME = ("hour", "minute", "second", "microsecond", "fold", "tzinfo")
#: Immutable types, and those whose identity nobody watches. The place in this list is the number: only append.
_TYPES = [
    _Type("builtins", "range", _fields("start", "stop", "step"), _build_numbers),
    _Type("builtins", "slice", _fields("start", "stop", "step"), _spread),
    _Type("decimal", "Decimal", str, _build_text),
    _Type("fractions", "Fraction", _fields("numerator", "denominator"), _build_numbers),
    _Type("datetime", "date", _fields("year", "month", "day"), _spread),
    _Type("datetime", "datetime", _fields("year", "month", "day", *_TIME), _build_datetime),
    _Type("datetime", "time", _fields(*_TIME), _build_datetime),
    _Type("datetime", "timedelta", _fields("days", "seconds", "microseconds"), _build_numbers),
    _Type("datetime", "timezone", _zone_content, _spread),
    _Type("zoneinfo", "ZoneInfo", _fields("key"), lambda kind, content: _build_text(kind, content[0])),
    _Type("uuid", "UUID", _fields("int"), lambda kind, content: _build_uuid(kind, content[0])),
    _Type("pathlib", "PosixPath", str, _build_text),
    _Type("pathlib", "PurePosixPath", str, _build_text),
    _Type("pathlib", "PureWindowsPath", str, _build_text),
    _Type("array", "array", lambda value: (value.typecode, value.tobytes()), _build_array),
    _Type("builtins", "dict_keys", *_view("keys")),
    _Type("builtins", "dict_values", *_view("values")),
    _Type("builtins", "dict_items", *_view("items")),
    _Type("xml.etree.ElementTree", "Element", _element_content, _build_element),
]
_HIDDEN: dict[str, type] = {
    "dict_keys": type({}.keys()),
    "dict_values": type({}.values()),
    "dict_items": type({}.items()),
}
_NUMBERS = {(kind.module, kind.name): number for number, kind in enumerate(_TYPES)}
_DEQUE, _COUNTER, _ORDERED, _DEFAULT = 100, 101, 102, 103
#: Further families of types (numpy, pandas): (type) -> writer or None, by module of the type.
FAMILIES: dict[str, Callable[[type], Callable[[Encoder, Any], None] | None]] = {}
_READERS: dict[int, Callable[[Decoder], Any]] = {}


def writer_for(kind: type) -> Callable[[Encoder, Any], None] | None:
    """Return how values of a type that `wire` does not know are written; None: they are no plain data."""
    module, name = type.__dict__["__module__"].__get__(kind), type.__dict__["__name__"].__get__(kind)
    if type(module) is not str:
        return None
    number = _NUMBERS.get((module, name))
    if number is not None and _found(module, name) is kind:
        writer = wire.WRITERS[kind] = _writer(number, _TYPES[number].content)
        return writer
    family = FAMILIES.get(module.partition(".")[0])
    return family(kind) if family is not None else None


def _found(module: str, name: str) -> Any:
    if name in _HIDDEN:
        return _HIDDEN[name]
    return getattr(sys.modules.get(module), name, None)


def _writer(number: int, content: Callable[[Any], Any]) -> Callable[[Encoder, Any], None]:
    head = b"w" + bytes([number])

    def write(encoder: Encoder, value: Any) -> None:
        encoder.out.append(head)
        encoder.put(content(value))

    return write


def _put_deque(encoder: Encoder, value: Any) -> None:
    if not encoder.met(value):
        encoder.number(value)
        encoder.out.append(b"w" + bytes([_DEQUE]))
        encoder.put(value.maxlen)
        encoder.items(b"l", value)


def _put_dict_kind(encoder: Encoder, value: Any) -> None:
    if encoder.met(value):
        return
    encoder.number(value)
    kind = type(value)
    encoder.out.append(b"w" + bytes([_COUNTER if kind is Counter else _ORDERED if kind is OrderedDict else _DEFAULT]))
    if kind is defaultdict:
        encoder.put(value.default_factory)
    wire.put_pairs(encoder, value)


def _read_deque(decoder: Decoder) -> Any:
    number = len(decoder.objects)
    decoder.objects.append(None)  # nothing in a maximal length refers to it
    most = decoder.read()
    _expect(most is None or type(most) is int, "deque")
    value = decoder.objects[number] = deque(maxlen=most)
    _expect(decoder.byte() == ord("l"), "deque")
    value.extend(decoder.items_into([]))
    return value


def _read_dict_kind(kind: Any) -> Callable[[Decoder], Any]:
    def read(decoder: Decoder) -> Any:
        value = kind()
        decoder.objects.append(value)
        if kind is defaultdict:
            factory = decoder.read()
            _expect(factory is None or callable(factory), "defaultdict")
            value.default_factory = factory
        _expect(decoder.byte() == ord("D"), "dict")
        decoder.fill_dict(value)
        return value

    return read


def _read_library(decoder: Decoder) -> Any:
    number = decoder.byte()
    reader = _READERS.get(number)
    if reader is not None:
        return reader(decoder)
    if number >= len(_TYPES):
        raise MalformedValue("unknown library type %d" % number)
    known = _TYPES[number]
    content = decoder.read()
    if known.name in _HIDDEN:
        return known.build(None, content)
    if known.module not in sys.modules:
        __import__(known.module)
    return known.build(getattr(sys.modules[known.module], known.name), content)


def add_reader(number: int, reader: Callable[[Decoder], Any]) -> None:
    _READERS[number] = reader


for _kind in (Counter, OrderedDict, defaultdict):
    wire.WRITERS[_kind] = _put_dict_kind
wire.WRITERS[deque] = _put_deque
_READERS.update(
    {
        _DEQUE: _read_deque,
        _COUNTER: _read_dict_kind(Counter),
        _ORDERED: _read_dict_kind(OrderedDict),
        _DEFAULT: _read_dict_kind(defaultdict),
    }
)
wire_read.READERS[ord("w")] = _read_library
