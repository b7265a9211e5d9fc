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
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [encode(item) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {name: encode(item) for name, item in cast("Mapping[str, Any]", value).items()}
    if dataclasses.is_dataclass(kind):
        data: dict[str, Any] = {}
        for name, default in _defaults(kind):
            item = getattr(value, name)
            if item is not default and (default is _ABSENT or item != default):
                data[name] = item if type(item) in _PLAIN else encode(item)
        return data
    return value


def decode(kind: type[T], data: Any) -> T:
    """Build a ``kind`` from what ``encode`` made of one.

    >>> from retrial.core.budget import Usage
    >>> decode(Usage, {"calls": 2, "unknown": 1}).calls
    2
    """
    return cast("T", _reader(kind)(data))


@functools.cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """The name and the default of each field, or ``_ABSENT`` where it has none."""
    found: list[tuple[str, Any]] = []
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            found.append((field.name, field.default))
        elif field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory()))
        else:
            found.append((field.name, _ABSENT))
    return tuple(found)


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
