"""One line of JSON Lines to a plain dict, with errors that say where."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import msgspec

from scalebox.core.errors import InputError

_BOM = b"\xef\xbb\xbf"


def decode_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line; lone surrogates and integers of up to 4,300 digits are kept as they are.

    Raises InputError, with the column, for broken JSON, NaN, Infinity, a number no float can hold,
    and for any value but an object.
    """
    line = line.removeprefix(_BOM)
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        # The standard library's reader takes more (lone surrogates, long integers) and says which column.
        value = _decode_carefully(line)
    if not isinstance(value, dict):
        raise InputError(f"must be a JSON object, not {_kind(value)}", mend="one object on each line")
    return value


def _decode_carefully(line: bytes) -> Any:
    try:
        # Without its newline, after which columns would be counted from 1 again.
        text = line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start + 1}", mend="write the file as UTF-8") from None
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_float)
    except json.JSONDecodeError as error:
        raise InputError(
            f"broken JSON at column {error.colno}: {error.msg}", mend="one whole JSON object on each line"
        ) from None
    except RecursionError:
        raise InputError("JSON nested too deeply") from None
    except ValueError:
        raise InputError("an integer of more than 4300 digits", mend="say it in hexadecimal in args_repr") from None


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"{name} is not JSON", mend="use args_repr or expect_repr with inf or nan")


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise InputError(f"{text[:40]} is too large for a number", mend="use args_repr or expect_repr with inf")
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names[type(value)]
