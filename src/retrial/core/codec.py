"""Frozen dataclasses to canonical JSON and back.

A field that has its default is left out. So a new field with a default changes neither the digest of an old request nor
the reading of an old journal: that is what lets both be kept for ever. A key that no field knows is ignored for the
same reason.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from retrial.errors import ConfigError

__all__ = ["canonical_json", "decode", "encode"]

T = TypeVar("T")
_ABSENT = object()


def canonical_json(value: object) -> str:
    """Write JSON that is the same text for the same value: keys sorted, no spaces, ASCII.

    Dataclasses become objects and tuples arrays, at any depth.

    >>> canonical_json({"b": 1, "a": [1.5, None]})
    '{"a":[1.5,null],"b":1}'

    Raises:
        ConfigError: if ``value`` is not JSON; NaN and infinity are not.
    """
    return _written(_write, value)


def encode(value: object) -> Any:
    """Turn a value into plain JSON values, the fields of dataclasses in their order.

    >>> from retrial.core.budget import Usage
    >>> encode((Usage(calls=2),))
    [{'calls': 2}]
    """
    return json.loads(_written(_write_in_order, value))


def decode(kind: type[T], data: Any) -> T:
    """Build a ``kind`` from what ``encode`` made of one.

    >>> from retrial.core.budget import Usage
    >>> decode(Usage, {"calls": 2, "unknown": 1}).calls
    2
    """
    return cast("T", _reader(kind)(data))


def _written(write: Callable[[object], str], value: object) -> str:
    """The text of a value, or the error that says what is no JSON."""
    try:
        return write(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"not a JSON value: {error}") from error


def _object(value: Any) -> dict[str, Any]:
    """One dataclass, or mapping of another kind, as an object whose values are still to be written."""
    kind = cast("type[Any]", type(value))
    if not dataclasses.is_dataclass(kind):
        if isinstance(value, Mapping):
            return dict(cast("Mapping[str, Any]", value))
        raise TypeError(f"{kind.__name__} {value!r:.80}")
    data: dict[str, Any] = {}
    for name, default in _fields(kind):
        item = getattr(value, name)
        if item is not default and (default is _ABSENT or item != default):
            data[name] = item
    return data


@functools.cache
def _fields(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """The name and the default of each field, or ``_ABSENT`` where it has none."""
    return tuple((field.name, _default(field)) for field in dataclasses.fields(kind))


def _default(field: dataclasses.Field[Any]) -> Any:
    """A field's default, or ``_ABSENT``."""
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else _ABSENT


def _writer(*, sort_keys: bool) -> Callable[[object], str]:
    """The function that writes a value: the encoder's own machinery where it can be kept, which is half the cost."""
    # ASCII, so that a lone surrogate, which is a legal Python string and no UTF-8, is written as an escape.
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.JSONEncoder(sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_object).encode
    quote = json.encoder.encode_basestring_ascii
    chunks: Callable[[object, int], Iterable[str]] = make(None, _object, quote, None, ":", ",", sort_keys, False, False)
    return lambda value: "".join(chunks(value, 0))


_write = _writer(sort_keys=True)
_write_in_order = _writer(sort_keys=False)


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
