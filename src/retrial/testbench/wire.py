"""Values on the way between processes: length-prefixed JSON frames, no pickle.

Knows plain values and nothing of tests. A frame is one JSON array ``[head, node, node, ...]``: atoms stand where they
are used, every container is a node of its own and is referred to as ``[number]``, so that cycles, shared references and
any depth travel without recursion. What is not plain data is described by the side that owns it.

The text of this module is also part of the programs that run in the sandbox, where each import costs start-up time.
"""

from __future__ import annotations

import sys

__all__ = ["MAX_FRAME", "Decoder", "Encoder", "Malformed", "contents", "decode_frame", "encode_frame", "refill"]

# Annotations are never evaluated here, and typing takes longer to import than the rest of a candidate's start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_FRAME = 64 << 20
"""Bytes of one frame; a longer one is refused by whoever reads it."""

_INLINE = 1 << 53


class Malformed(Exception):  # noqa: N818 - what arrived is named, and it never leaves the testbench
    """What arrived is no value of this wire."""


def _codec() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """The JSON writer and reader, from the C accelerator alone where there is one: importing json costs milliseconds."""
    try:
        import _json as fast  # type: ignore[import-not-found]  # noqa: PLC0415 - no stubs: a CPython detail

        class Options:
            strict = True
            object_hook = None
            object_pairs_hook = None
            parse_float = float
            parse_int = int
            parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}.__getitem__
            memo: dict[str, str] = {}  # noqa: RUF012 - the reader asks for it and never shares it

        quote: Any = fast.encode_basestring_ascii  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        writer: Any = fast.make_encoder(None, None, quote, None, ":", ",", False, False, True)  # pyright: ignore  # noqa: FBT003, PGH003
        reader: Any = fast.make_scanner(Options)  # pyright: ignore  # noqa: PGH003

        def write(value: Any) -> str:
            return "".join(writer(value, 0))

        def read(text: str) -> Any:
            value, end = reader(text, 0)
            if end != len(text):
                raise Malformed("more than one value in a frame")
            return value

        write([1.5, "a", None])
    except (ImportError, AttributeError, TypeError):
        import json  # noqa: PLC0415 - only where the accelerator is missing

        return json.dumps, json.loads
    return write, read


_write, _read = _codec()


def encode_frame(head: Any, nodes: Sequence[Any] = ()) -> bytes:
    """The bytes of a frame, without its length."""
    return _write([head, *nodes]).encode("ascii")


def decode_frame(frame: bytes) -> tuple[Any, list[Any]]:
    """The head and the nodes of a frame.

    Raises:
        Malformed: if it is anything else than what ``encode_frame`` makes.
    """
    try:
        value = _read(frame.decode("ascii"))
    except (ValueError, StopIteration, RecursionError, KeyError, MemoryError) as error:
        raise Malformed("not JSON") from error
    if type(value) is not list or not value:
        raise Malformed("not a frame")
    parts: list[Any] = value
    return parts[0], parts[1:]


def _pairs(value: Any) -> list[Any]:
    return [part for pair in dict.items(value) for part in pair]


_BUILTIN: dict[type, tuple[str, Callable[[Any], Any]]] = {
    list: ("l", list.__iter__),
    tuple: ("t", tuple.__iter__),
    dict: ("d", _pairs),
    set: ("S", set.__iter__),
    frozenset: ("F", frozenset.__iter__),
    range: ("r", lambda value: (value.start, value.stop, value.step)),
    slice: ("x", lambda value: (value.start, value.stop, value.step)),
    complex: ("c", lambda value: (value.real, value.imag)),
    int: ("i", lambda value: (format(value, "x"),)),
    str: ("s", lambda value: (value.encode("utf-16-le", "surrogatepass").hex(),)),
    bytes: ("b", lambda value: (value.hex(),)),
    bytearray: ("y", lambda value: (value.hex(),)),
    type(...): ("e", lambda _value: ()),
    type(NotImplemented): ("n", lambda _value: ()),
    type({}.keys()): ("k", iter),
}

_LIBRARY: dict[tuple[str, str], tuple[str, Callable[[Any], Any]]] = {
    ("collections", "Counter"): ("C", _pairs),
    ("collections", "OrderedDict"): ("O", _pairs),
    ("collections", "deque"): ("q", lambda value: (value.maxlen, *value)),
    ("collections", "defaultdict"): ("f", lambda value: (_name(value.default_factory), *_pairs(value))),
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
    list: lambda value: [*list.__iter__(value)],
    tuple: lambda value: (*tuple.__iter__(value),),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: {*set.__iter__(value)},
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}

PLAIN_TYPES: dict[str, type] = {
    name: value
    for name, value in vars(sys.modules["builtins"]).items()
    if isinstance(value, type) and value.__module__ == "builtins" and value.__name__ == name
}
"""Types that every process has and that travel by name: int, ValueError and their kin."""


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
        kind: Any = type(value)
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
        kind: Any = type(value)
        known = _BUILTIN.get(kind) or self._library(kind)
        if known is not None:
            return [known[0], *[self.item(part) for part in known[1](value)]]
        self.has_opaque = True
        if kind is type and _name(value):
            return ["T", value.__name__]
        for base in kind.__mro__:
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


def contents(value: Any) -> list[Any] | None:
    """What a container that can be changed holds now, flat; None for everything else."""
    kind: Any = type(value)
    if kind in (list, set) or (kind.__name__ == "deque" and kind.__module__ == "collections"):
        return list(value)
    if kind is bytearray:
        return [bytes(value)]
    if kind is dict or (kind.__module__ == "collections" and issubclass(kind, dict)):
        return _pairs(value)
    return None


def refill(value: Any, parts: list[Any]) -> None:
    """Make a container hold ``parts``, as ``contents`` gave them."""
    value.clear()
    if isinstance(value, (bytearray, list)):
        value.extend(parts[0] if isinstance(value, bytearray) else parts)  # pyright: ignore[reportUnknownMemberType]
    elif isinstance(value, dict):
        value.update(zip(parts[::2], parts[1::2], strict=True))  # pyright: ignore[reportUnknownMemberType]
    elif isinstance(value, set):
        value.update(parts)  # pyright: ignore[reportUnknownMemberType]
    else:
        value.extend(parts)


def _zone(offset: Any) -> Any:
    import datetime  # noqa: PLC0415 - imported when one arrives

    return datetime.timezone(offset)


def _moment(kind: str, text: str, zone: Any, fold: int) -> Any:
    import datetime  # noqa: PLC0415 - imported when one arrives

    return getattr(datetime, kind).fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _library_value(tag: str, parts: list[Any]) -> Any:
    """A value of a library type, by tag. The parts come from a stranger: constructors refuse what makes no sense."""
    if tag == "D":
        from decimal import Decimal  # noqa: PLC0415 - imported when one arrives

        return Decimal(parts[0])
    if tag == "Q":
        from fractions import Fraction  # noqa: PLC0415 - imported when one arrives

        return Fraction(parts[0], parts[1])
    import datetime  # noqa: PLC0415 - imported when one arrives

    if tag == "date":
        return datetime.date.fromisoformat(parts[0])
    if tag == "delta":
        return datetime.timedelta(*parts)
    return _zone(parts[0]) if tag == "zone" else _moment(tag, parts[0], parts[1], parts[2])


def _shell(tag: str, node: list[Any]) -> Any:
    """An empty container of a kind that can be filled later."""
    if tag in ("l", "d", "S"):
        return [] if tag == "l" else {} if tag == "d" else set[Any]()
    import collections  # noqa: PLC0415 - imported when one arrives

    if tag == "q":
        return collections.deque[Any](maxlen=node[1])
    if tag == "f":
        return collections.defaultdict[Any, Any](PLAIN_TYPES[node[1]] if node[1] else None)
    return collections.Counter[Any]() if tag == "C" else collections.OrderedDict[Any, Any]()


_VALUES: dict[str, Callable[[list[Any]], Any]] = {
    "t": tuple,
    "F": frozenset,
    "k": lambda parts: dict.fromkeys(parts).keys(),
    "r": lambda parts: range(*parts),
    "x": lambda parts: slice(*parts),
    "c": lambda parts: complex(*parts),
    "i": lambda parts: int(parts[0], 16),
    "s": lambda parts: bytes.fromhex(parts[0]).decode("utf-16-le", "surrogatepass"),
    "b": lambda parts: bytes.fromhex(parts[0]),
    "y": lambda parts: bytearray.fromhex(parts[0]),
    "e": lambda _parts: ...,
    "n": lambda _parts: NotImplemented,
    "T": lambda parts: PLAIN_TYPES[parts[0]],
}
_SHELLS = {"l": 1, "d": 1, "S": 1, "q": 2, "f": 2, "C": 1, "O": 1}
_LIBRARY_TAGS = ("D", "Q", "date", "time", "datetime", "delta", "zone")


class Decoder:
    """Turns the nodes of one frame into values. Whatever a stranger sent, it raises Malformed or gives plain values.

    ``special(tag, parts)`` makes the values of the tags that only one side of a connection knows, from decoded parts.
    ``known`` are the objects that ``["@", number]`` refers to.
    """

    def __init__(
        self,
        nodes: list[Any],
        special: Callable[[str, list[Any]], Any],
        known: Sequence[Any] = (),
    ) -> None:
        self._nodes = nodes
        self._special = special
        self._known = known
        self.values: list[Any] = [None] * len(nodes)
        self._state = bytearray(len(nodes))
        try:
            self._build()
        except Malformed:
            raise
        except Exception as error:
            raise Malformed(f"not a value: {type(error).__name__}") from error

    def value(self, item: Any) -> Any:
        """The value that ``item`` stands for."""
        if type(item) is not list:
            if type(item) is dict:
                raise Malformed("a JSON object where a value belongs")
            return item
        try:
            if len(item) == 1 and item[0] >= 0:  # pyright: ignore[reportUnknownArgumentType]
                return self.values[item[0]]
            if item[0] == "@" and item[1] >= 0:
                return self._known[item[1]]
        except (IndexError, TypeError, KeyError) as error:
            raise Malformed("a reference to nothing") from error
        raise Malformed("a list where a value belongs")

    def _build(self) -> None:
        shells: list[int] = []
        for number, node in enumerate(self._nodes):
            if node[0] in _SHELLS:
                self.values[number] = _shell(node[0], node)
                self._state[number] = 2
                shells.append(number)
        for number in range(len(self._nodes)):
            if self._state[number] != 2:
                self._resolve(number)
        for number in shells:
            node = self._nodes[number]
            refill(self.values[number], [self.value(part) for part in node[_SHELLS[node[0]] :]])

    def _resolve(self, first: int) -> None:
        """Build a value that cannot be filled later, after those it holds; without recursion, since depth is theirs."""
        stack = [first]
        while stack:
            number = stack[-1]
            if self._state[number] == 2:
                stack.pop()
                continue
            node = self._nodes[number]
            missing = [part[0] for part in node if type(part) is list and len(part) == 1 and self._state[part[0]] != 2]  # pyright: ignore[reportUnknownArgumentType]
            if not missing:
                self.values[number] = self._make(node)
                self._state[number] = 2
                stack.pop()
            elif self._state[number]:
                raise Malformed("a value that holds itself and cannot")
            else:
                self._state[number] = 1
                stack.extend(missing)

    def _make(self, node: list[Any]) -> Any:
        tag, parts = node[0], [self.value(part) for part in node[1:]]
        if tag in _VALUES:
            return _VALUES[tag](parts)
        if tag in _LIBRARY_TAGS:
            return _library_value(tag, parts)
        return self._special(tag, parts)
