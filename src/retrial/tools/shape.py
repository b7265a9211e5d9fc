"""What a type hint means: the JSON Schema that a model is shown, and how a JSON value becomes the Python value.

Knows hints and schemas, and nothing of functions, calls or models.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, cast

from retrial.core.codec import encode
from retrial.errors import ConfigError
from retrial.tools.words import fits

__all__ = ["Shape", "shape_of"]


@dataclass(frozen=True, slots=True)
class Shape:
    """One type, as JSON knows it."""

    schema: Mapping[str, Any]
    """Its JSON Schema, whole: it refers to nothing."""
    read: Callable[[Any], Any]
    """Makes the Python value of a JSON value that fits the schema. It never shares anything with it."""


def shape_of(hint: Any, within: tuple[Any, ...] = ()) -> Shape:
    """Return the shape of a type hint, taken from ``typing.get_type_hints(..., include_extras=True)``.

    >>> shape_of(list[int]).schema
    {'type': 'array', 'items': {'type': 'integer'}}
    >>> shape_of(tuple[int, float]).read([1, 2])
    (1, 2.0)

    Raises:
        ConfigError: if the hint has no shape in JSON; ``within`` are the classes that it stands in.
    """
    hint = getattr(hint, "__supertype__", hint)
    if typing.get_origin(hint) is Annotated:  # First, since what it holds need not be hashable.
        return _annotated(shape_of(hint.__origin__, within), hint.__metadata__)
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    make = _MAKERS.get(origin)
    if make is not None:
        return make(arguments, within)
    if isinstance(hint, type):
        return _class(hint, within)
    raise _no_shape(hint)


def _annotated(shape: Shape, extras: Sequence[Any]) -> Shape:
    """A text describes what is annotated; a mapping is more of its schema, such as ``{"minimum": 1}``."""
    schema = dict(shape.schema)
    for extra in extras:
        if isinstance(extra, str):
            schema["description"] = extra
        elif isinstance(extra, Mapping):
            schema.update(cast("Mapping[str, Any]", extra))
    return Shape(schema, shape.read)


def _union(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Shape:
    shapes = [shape_of(one, within) for one in arguments]

    def read(value: Any) -> Any:
        return next(shape for shape in shapes if fits(value, shape.schema)).read(value)

    return Shape({"anyOf": [shape.schema for shape in shapes]}, read)


def _literal(arguments: tuple[Any, ...], _: tuple[Any, ...]) -> Shape:
    return Shape({"enum": list(arguments)}, lambda value: value)


def _tuple(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Shape:
    if not arguments or (len(arguments) == 2 and arguments[1] is ...):
        return _list(tuple, arguments[:1], within)
    parts = [shape_of(one, within) for one in arguments]
    schema = {"type": "array", "prefixItems": [part.schema for part in parts]}
    counts = {"minItems": len(parts), "maxItems": len(parts)}
    return Shape(schema | counts, lambda value: tuple(part.read(item) for part, item in zip(parts, value, strict=True)))


def _list(make: Callable[[Any], Any], arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Shape:
    item = shape_of(arguments[0] if arguments else Any, within)
    schema: dict[str, Any] = {"type": "array", "items": item.schema} if item.schema else {"type": "array"}
    if make is set or make is frozenset:
        schema["uniqueItems"] = True
    return Shape(schema, lambda value: make(item.read(one) for one in value))


def _mapping(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Shape:
    if arguments and arguments[0] is not str:
        raise ConfigError(f"a dict with the keys {_named(arguments[0])} is no JSON; use dict[str, ...]")
    item = shape_of(arguments[1] if arguments else Any, within)
    schema = {"type": "object", "additionalProperties": item.schema} if item.schema else {"type": "object"}
    return Shape(schema, lambda value: {name: item.read(one) for name, one in value.items()})


def _class(kind: type[Any], within: tuple[Any, ...]) -> Shape:
    """An Enum by its values; a dataclass or TypedDict by its fields."""
    if kind in within:
        raise ConfigError(f"{_named(kind)} holds itself; a tool's argument has a shape that ends")
    if issubclass(kind, Enum):
        try:
            return Shape({"enum": [encode(member.value) for member in kind]}, kind)
        except ConfigError as error:
            raise ConfigError(f"{_named(kind)} has a value that is no JSON: {error}") from error
    if dataclasses.is_dataclass(kind):
        given = [one for one in dataclasses.fields(kind) if one.init]
        missing = dataclasses.MISSING
        needed = [one.name for one in given if one.default is missing and one.default_factory is missing]
        return _fields(kind, [one.name for one in given], needed, kind, within)
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        marks = {name: typing.get_origin(hint) for name, hint in hints.items()}
        total = cast("frozenset[str]", getattr(kind, "__required_keys__"))  # noqa: B009 - no attribute of every type
        # Where annotations are texts, the class has not read the marks.
        needed = [name for name in hints if (marks[name] or name in total) not in (typing.NotRequired, False)]
        return _fields(kind, list(hints), needed, dict, within)
    raise _no_shape(kind)


def _fields(
    kind: type[Any], names: Sequence[str], needed: Sequence[str], make: Callable[..., Any], within: tuple[Any, ...]
) -> Shape:
    hints = typing.get_type_hints(kind, include_extras=True)
    shapes = {name: shape_of(_unwrapped(hints[name]), (*within, kind)) for name in names}
    properties = {name: shape.schema for name, shape in shapes.items()}
    schema = {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}
    return Shape(schema, lambda value: make(**{name: shapes[name].read(one) for name, one in value.items()}))


def _unwrapped(hint: Any) -> Any:
    """The hint of a TypedDict's key without ``Required`` and ``NotRequired``."""
    return typing.get_args(hint)[0] if typing.get_origin(hint) in (typing.Required, typing.NotRequired) else hint


_PLAIN: Mapping[Any, Shape] = {
    str: Shape({"type": "string"}, str),
    int: Shape({"type": "integer"}, int),
    float: Shape({"type": "number"}, float),
    bool: Shape({"type": "boolean"}, bool),
    type(None): Shape({"type": "null"}, lambda value: value),
    None: Shape({"type": "null"}, lambda value: value),
    Any: Shape({}, copy.deepcopy),
    object: Shape({}, copy.deepcopy),
}
_MAKERS: Mapping[Any, Callable[[tuple[Any, ...], tuple[Any, ...]], Shape]] = {
    typing.Union: _union,
    types.UnionType: _union,
    Literal: _literal,
    tuple: _tuple,
    list: functools.partial(_list, list),
    Sequence: functools.partial(_list, list),
    set: functools.partial(_list, set),
    frozenset: functools.partial(_list, frozenset),
    AbstractSet: functools.partial(_list, frozenset),
    dict: _mapping,
    Mapping: _mapping,
}


def _no_shape(hint: Any) -> ConfigError:
    return ConfigError(
        f"{_named(hint)} has no shape in JSON; use str, int, float, bool, None, Literal, Enum, list, set, tuple, "
        f"dict[str, ...], a union of these, a dataclass or a TypedDict"
    )


def _named(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) else str(hint)
