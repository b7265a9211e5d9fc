"""Frozen dataclasses to JSON values and back.

A field that has its default is left out. So a new field with a default changes neither the digest of an old request nor
the reading of an old journal: that is what lets both be kept for ever. A key that no field knows is ignored for the
same reason.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

__all__ = ["decode", "encode"]

T = TypeVar("T")
_ABSENT = object()
_PLAIN = frozenset({str, int, float, bool, type(None)})


def encode(value: Any) -> Any:
    """Turn dataclasses into objects and tuples into arrays, at any depth; other values stay.

    >>> from retrial.core.budget import Usage
    >>> encode((Usage(calls=2),))
    [{'calls': 2}]
    """
    return (_WRITERS.get(type(value)) or _writer_of(value))(value)


def decode(kind: type[T], data: Any) -> T:
    """Build a ``kind`` from what ``encode`` made of one.

    >>> from retrial.core.budget import Usage
    >>> decode(Usage, {"calls": 2, "unknown": 1}).calls
    2
    """
    return cast("T", _reader(kind)(data))


def _same(value: Any) -> Any:
    return value


def _array(values: Any) -> list[Any]:
    return [value if type(value) in _PLAIN else encode(value) for value in values]


def _object(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value if type(value) in _PLAIN else encode(value) for name, value in values.items()}


_WRITERS: dict[Any, Callable[[Any], Any]] = {**dict.fromkeys(_PLAIN, _same), tuple: _array, list: _array, dict: _object}
"""How each type is written. Dataclasses are added when the first of them is met: this is the engine's hottest place."""


def _writer_of(value: Any) -> Callable[[Any], Any]:
    """Find how the type of ``value`` is written, and keep it."""
    kind = cast("type[Any]", type(value))
    if dataclasses.is_dataclass(kind):
        writer = _dataclass_writer(kind)
    else:
        writer = _object if isinstance(value, Mapping) else _same
    _WRITERS[kind] = writer
    return writer


def _dataclass_writer(kind: type[Any]) -> Callable[[Any], dict[str, Any]]:
    """The function that writes one dataclass as an object."""
    fields = [(field.name, _default(field)) for field in dataclasses.fields(kind)]

    def write(value: Any) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name, default in fields:
            item = getattr(value, name)
            if item is not default and (default is _ABSENT or item != default):
                data[name] = item if type(item) in _PLAIN else encode(item)
        return data

    return write


def _default(field: dataclasses.Field[Any]) -> Any:
    """A field's default, or ``_ABSENT``."""
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else _ABSENT


@functools.cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that reads one type from JSON."""
    if dataclasses.is_dataclass(kind):
        return _dataclass_reader(cast("type[Any]", kind))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        item = _reader(arguments[0])
        return lambda data: tuple(item(part) for part in data)
    if origin in (typing.Union, types.UnionType):
        (inner,) = (argument for argument in arguments if argument is not type(None))
        some = _reader(inner)
        return lambda data: None if data is None else some(data)
    return lambda data: data


def _dataclass_reader(kind: type[Any]) -> Callable[[Any], Any]:
    """The function that reads one dataclass from an object."""
    hints = typing.get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in dataclasses.fields(kind)}

    def read(data: Mapping[str, Any]) -> Any:
        return kind(**{name: readers[name](item) for name, item in data.items() if name in readers})

    return read
