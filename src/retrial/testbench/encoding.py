"""Values turned into the nodes of a frame.

Knows every plain type of the standard library that may travel. What is not plain data is described by the side that
owns it. The text of this module is also part of the programs that run in the sandbox.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import sys

from retrial.testbench.wire import PLAIN_TYPES, class_of, dict_items, encode_frame, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["Encoder"]

_INLINE = 1 << 53

# The methods of the builtins themselves: a subclass may say something else about what it holds.
_list_parts: Any = list.__iter__
_tuple_parts: Any = tuple.__iter__
_set_parts: Any = set.__iter__
_frozenset_parts: Any = frozenset.__iter__
_keys_type: Any = type({}.keys())


def _plain_dict(value: Any) -> dict[Any, Any]:
    return dict(dict_items(value))


_BUILTIN: dict[type, tuple[str, Callable[[Any], Any]]] = {
    list: ("l", _list_parts),
    tuple: ("t", _tuple_parts),
    dict: ("d", pairs),
    set: ("S", _set_parts),
    frozenset: ("F", _frozenset_parts),
    range: ("r", lambda value: (value.start, value.stop, value.step)),
    slice: ("x", lambda value: (value.start, value.stop, value.step)),
    complex: ("c", lambda value: (value.real, value.imag)),
    int: ("i", lambda value: (format(value, "x"),)),
    str: ("s", lambda value: (value.encode("utf-8", "surrogatepass").hex(),)),
    bytes: ("b", lambda value: (value.hex(),)),
    bytearray: ("y", lambda value: (value.hex(),)),
    type(...): ("e", lambda _value: ()),
    type(NotImplemented): ("n", lambda _value: ()),
    _keys_type: ("k", iter),
}

_LIBRARY: dict[tuple[str, str], tuple[str, Callable[[Any], Any]]] = {
    ("collections", "Counter"): ("C", pairs),
    ("collections", "OrderedDict"): ("O", pairs),
    ("collections", "deque"): ("q", lambda value: (value.maxlen, *value)),
    ("collections", "defaultdict"): ("f", lambda value: (_name(value.default_factory), *pairs(value))),
    ("decimal", "Decimal"): ("D", lambda value: (str(value),)),
    ("fractions", "Fraction"): ("Q", lambda value: (value.numerator, value.denominator)),
    ("datetime", "date"): ("date", lambda value: (value.isoformat(),)),
    ("datetime", "time"): ("time", lambda value: (value.replace(tzinfo=None).isoformat(), value.tzinfo, value.fold)),
    ("datetime", "datetime"): (
        "datetime",
        lambda value: (value.replace(tzinfo=None).isoformat(), value.tzinfo, value.fold),
    ),
    ("datetime", "timedelta"): ("delta", lambda value: (value.days, value.seconds, value.microseconds)),
    ("datetime", "timezone"): ("zone", lambda value: (value.utcoffset(None),)),
}

_BASES: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: lambda value: bytes.__add__(value, b""),
    complex: lambda value: complex(complex.__add__(value, 0)),
    bytearray: lambda value: bytearray(bytearray.__getitem__(value, slice(None))),
    list: lambda value: [*_list_parts(value)],
    tuple: lambda value: (*_tuple_parts(value),),
    dict: _plain_dict,
    set: lambda value: {*_set_parts(value)},
    frozenset: lambda value: frozenset([*_frozenset_parts(value)]),
}

_ATOMS = {type(None), bool, float, int}


def _is_flat(value: Any) -> bool:
    """Whether a list or tuple holds nothing but atoms that stand for themselves, found without a loop in Python."""
    kinds = set(map(type, value))
    if kinds == {str}:
        return all(map(str.isascii, value))
    return kinds <= _ATOMS and (
        int not in kinds or (len(kinds) == 1 and max(value) < _INLINE and min(value) > -_INLINE)
    )


def _name(factory: Any) -> str | None:
    return factory.__name__ if isinstance(factory, type) and PLAIN_TYPES.get(factory.__name__) is factory else None


class Encoder:
    """Turns values into the items and nodes of one frame.

    ``opaque(encoder, value)`` describes what is no plain data as a node; for an instance of a subclass of a builtin the
    base value travels with that. ``known`` gives, by identity, the items of objects that the other side has already.
    """

    def __init__(
        self,
        opaque: Callable[[Encoder, Any], list[Any]],
        known: Mapping[int, list[Any]] | None = None,
    ) -> None:
        self.nodes: list[Any] = []
        self.values: list[Any] = []
        self.has_opaque = False
        self._opaque = opaque
        self._seen = dict(known or {})
        self._waiting: list[int] = []

    def item(self, value: Any) -> Any:
        """What stands for ``value`` inside a head or a node."""
        kind = class_of(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is int and -_INLINE < value < _INLINE:
            return value
        if kind is str and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)):
            return value
        seen = self._seen.get(id(value))
        if seen is None:
            seen = self._seen[id(value)] = [len(self.nodes)]
            self._waiting.append(len(self.nodes))
            self.nodes.append(None)
            # Keeping the value keeps its id from being used again while the frame is made.
            self.values.append(value)
        return seen

    def frame(self, *head: Any) -> bytes:
        """The bytes of a frame with this head, whose values have been turned into items."""
        while self._waiting:
            number = self._waiting.pop()
            self.nodes[number] = self._node(self.values[number])
        return encode_frame(head, self.nodes)

    def finish(self) -> None:
        """Describe everything that items refer to so far."""
        while self._waiting:
            number = self._waiting.pop()
            self.nodes[number] = self._node(self.values[number])

    def _node(self, value: Any) -> list[Any]:
        kind = class_of(value)
        if (kind is list or kind is tuple) and _is_flat(value):
            return ["l" if kind is list else "t", *value]
        known = _BUILTIN.get(kind) or self._library(kind)
        if known is not None:
            return [known[0], *[self.item(part) for part in known[1](value)]]
        self.has_opaque = True
        if kind is type and _name(value):
            return ["T", value.__name__]
        for base in kind.__mro__:  # pyright: ignore[reportGeneralTypeIssues] - it is a class
            plain = _BASES.get(base)
            if plain is not None:
                return ["B", self.item(plain(value)), *self._opaque(self, value)]
        return self._opaque(self, value)

    @staticmethod
    def _library(kind: Any) -> tuple[str, Callable[[Any], Any]] | None:
        module, name = kind.__module__, kind.__name__
        if type(module) is not str or type(name) is not str:
            return None
        known = _LIBRARY.get((module, name))
        return known if known and getattr(sys.modules.get(module), name, None) is kind else None
