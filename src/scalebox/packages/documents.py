"""YAML of a problem package, checked: every value knows the file and the line that it comes from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from scalebox.core.errors import InputError
from scalebox.core.limits import MIB

MAX_YAML_BYTES = MIB // 2
MAX_NESTING = 30


class Entry:
    """A value of a document: text, number, truth value, None, a list of entries, or a dict of them by name."""

    def __init__(self, data: Any, source: str, line: int, field: str = "") -> None:
        self.data = data
        self.source = source
        self.line = line
        self.field = field

    def error(self, problem: str, mend: str = "") -> InputError:
        """Return the error that says what is wrong with this value, and where it stands."""
        return InputError(problem, field=self.field, mend=mend, source=self.source, line=self.line)

    def get(self, name: str) -> Entry | None:
        """Return the value of a key; None where it is left out or null. Raises InputError if this is no mapping."""
        found = self.mapping().get(name)
        return None if found is None or found.data is None else found

    def mapping(self) -> dict[str, Entry]:
        """Return the entries by name."""
        if not isinstance(self.data, dict):
            raise self.error(f"must be a mapping, not {_kind(self.data)}")
        return self.data

    def items(self) -> list[Entry]:
        """Return the entries of a list."""
        if not isinstance(self.data, list):
            raise self.error(f"must be a list, not {_kind(self.data)}")
        return self.data

    def text(self) -> str:
        """Return a text; a number stands for what it looks like."""
        if isinstance(self.data, bool) or not isinstance(self.data, (str, int, float)):
            raise self.error(f"must be a text, not {_kind(self.data)}")
        return str(self.data)

    def words(self) -> list[str]:
        """Return a list of texts, or the words of one text."""
        return [item.text() for item in self.data] if isinstance(self.data, list) else self.text().split()

    def flag(self) -> bool:
        """Return a truth value."""
        if not isinstance(self.data, bool):
            raise self.error(f"must be true or false, not {_kind(self.data)}")
        return self.data

    def number(self, least: float = 0.0, most: float = 1e9) -> float:
        """Return a number within bounds; the lower one is excluded where it is 0."""
        value = self.data
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise self.error(f"must be a number, not {value[:40]!r}") from None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(f"must be a number, not {_kind(value)}")
        if not (value > 0 if least == 0 else value >= least) or not value <= most:
            raise self.error(f"{value!r:.40} makes no sense", f"above {least:g}, at most {most:g}")
        return float(value)

    def check_names(self, known: tuple[str, ...]) -> None:
        """Refuse a key that is not known: passed over, it could change a verdict. Raises InputError."""
        for name, entry in self.mapping().items():
            if name not in known:
                close = difflib.get_close_matches(name[:64], known, n=1)
                raise entry.error("is not known", f"did you mean {close[0]}?" if close else "leave it out")


def read_yaml(text: str, source: str) -> Entry:
    """Return the one document of a text; an empty one is an empty mapping.

    Raises InputError for what is no YAML, too much, nested too deep, or a key given twice. Aliases are refused: a few
    lines of them stand for more than fits into memory. So are tags that make other than plain values.
    """
    try:
        import yaml  # noqa: PLC0415 (an extra)
    except ImportError:
        mend = "pip install scalebox[packages]"
        raise InputError("problem packages need PyYAML, which is not installed", mend=mend) from None
    if len(text) > MAX_YAML_BYTES:
        raise InputError(f"more than {MAX_YAML_BYTES // 1024} KiB", source=source)
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        return Entry({}, source, 1) if root is None else _Builder(yaml, loader, source).entry(root, "", 0)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise InputError(f"no YAML: {error.problem or error.context}", source=source, line=line) from None
    except yaml.YAMLError as error:
        raise InputError(f"no YAML: {str(error).splitlines()[0]}", source=source) from None
    except RecursionError:
        raise InputError("nested too deep", source=source) from None
    except ValueError as error:  # a number of too many digits, a day that is none
        raise InputError(f"holds a value that is none: {error}", source=source) from None
    finally:
        if loader is not None:
            loader.dispose()


class _Builder:
    """Makes entries of YAML's nodes."""

    def __init__(self, yaml: Any, loader: Any, source: str) -> None:
        self._yaml = yaml
        self._loader = loader
        self._source = source
        self._seen: set[int] = set()

    def entry(self, node: Any, field: str, depth: int) -> Entry:
        line = node.start_mark.line + 1
        made = Entry(None, self._source, line, field)
        if id(node) in self._seen:
            raise made.error("is an alias, which is not read here", "write the value out")
        self._seen.add(id(node))
        if depth > MAX_NESTING:
            raise made.error("nested too deep")
        if isinstance(node, self._yaml.MappingNode):
            made.data = dict(self._pairs(node, field, depth))
        elif isinstance(node, self._yaml.SequenceNode):
            made.data = [self.entry(item, f"{field}[{at}]", depth + 1) for at, item in enumerate(node.value)]
        else:
            made.data = self._scalar(node)
        return made

    def _pairs(self, node: Any, field: str, depth: int) -> Iterator[tuple[str, Entry]]:
        taken = set()
        for key, value in node.value:
            name = key.value if isinstance(key, self._yaml.ScalarNode) else ""
            entry = self.entry(value, f"{field}.{name}" if field else name, depth + 1)
            if not name or name in taken:
                raise entry.error("is given twice" if name else "has a key that is no text")
            taken.add(name)
            yield name, entry

    def _scalar(self, node: Any) -> Any:
        value = self._loader.construct_object(node)
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(node.value)


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "a truth value", type(None): "nothing"}
    return names.get(type(value), "a number")
