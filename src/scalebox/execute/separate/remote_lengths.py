"""Whether the solution's objects have as many items as they say they have.

`len(r) == len(e) and all(a == b for a, b in zip(r, e))` is how tests compare item by item, and holds for an object that
says it has three items and gives none. So no object may say a length, and then another one, with nothing asked of the
solution in between and no waiting for anything; and one that tests have not made themselves, but been given, may not
say a length and give a loop fewer items. `list`, `tuple` and `sorted` take what there is: a test that uses them
compares the whole.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

from typing import Any, Callable

_TOLD = " told"  # in a proxy's dictionary: no attribute has these names
_GAVE = " gave"
_OWED = " owed"


class Lengths:
    """The forwarding methods of `__len__`, `__iter__` and `__getitem__`, and what goes with `__next__`."""

    def __init__(self, bridge: Any, state: Callable[[Any], dict[str, Any]]) -> None:
        self._bridge = bridge
        self._state = state

    def length(self) -> Callable[[Any], Any]:
        operate, just_now, state = self._bridge.operate, self._just_now, self._state

        def length(value: Any) -> Any:
            said, gave = just_now(value, _TOLD), just_now(value, _GAVE)
            now = operate("__len__", value)
            if said is not None and said != now:
                raise TypeError("its length was %d, and is %d" % (said, now))
            if gave is not None and gave < now:
                raise _short(gave, now)
            state(value)[_TOLD] = (now, *self._now())
            return now

        return length

    def iterate(self) -> Callable[[Any], Any]:
        bridge, just_now, state = self._bridge, self._just_now, self._state

        def iterate(value: Any) -> Any:
            said = just_now(value, _TOLD)
            found = bridge.operate("__iter__", value)
            kind = type(value)
            if hasattr(kind, "__len__") and isinstance(type(found), type(kind)) and self._given(value):
                state(found)[_OWED] = [value, said or 0, 0, bridge.peer.requests]
            return found

        return iterate

    def item(self) -> Callable[[Any, Any], Any]:
        """Where there is no `__iter__`, a loop asks for item 0, 1 and so on until there is an IndexError."""
        operate, just_now, state = self._bridge.operate, self._just_now, self._state

        def item(value: Any, key: Any) -> Any:
            said = just_now(value, _TOLD)
            try:
                found = operate("__getitem__", value, key)
            except IndexError:
                if type(key) is int and said is not None and 0 <= key < said and self._given(value):
                    raise _short(key, said) from None
                raise
            if said is not None:
                state(value)[_TOLD] = (said, *self._now())
            return found

        return item

    def took(self, iterator: Any) -> None:
        """Count an item that a loop has taken."""
        owed = self._owed(iterator)
        if owed is not None:
            owed[2], owed[3] = owed[2] + 1, self._bridge.peer.requests

    def ended(self, iterator: Any) -> None:
        """Raise TypeError if a loop has come to the end of an iterator too soon."""
        owed = self._owed(iterator)
        if owed is None:
            return
        value, length, count, _ = owed
        self.forget(iterator)
        if count < length:
            raise _short(count, length)
        self._state(value)[_GAVE] = (count, *self._now())

    def forget(self, iterator: Any) -> None:
        self._state(iterator).pop(_OWED, None)

    def _owed(self, iterator: Any) -> Any:
        owed = self._state(iterator).get(_OWED)
        if owed is not None and owed[3] + 1 != self._bridge.peer.requests:
            self.forget(iterator)  # something else than this item was asked for
            return None
        return owed

    def _given(self, value: Any) -> bool:
        return not self._bridge.judges(value, None)

    def _just_now(self, value: Any, what: str) -> int | None:
        noted = self._state(value).get(what)
        return noted[0] if noted is not None and noted[1:] == self._now() else None

    def _now(self) -> tuple[int, int]:
        """Return how often the solution was asked, and how often this process has waited for anything."""
        import resource

        return self._bridge.peer.requests, resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def _short(count: int, length: int) -> TypeError:
    return TypeError("its length is %d, but it has %d items" % (length, count))
