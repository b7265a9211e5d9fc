"""What of somebody else's JSON Schema can be checked here, with nothing that looks elsewhere or takes for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast
from urllib.parse import unquote

__all__ = ["checkable"]

MOST_SCHEMAS = 2_000
"""So many schemas within a schema are looked at, references counted as often as they are followed."""
DEEPEST = 40
"""So deep, references followed."""
Schema = dict[str, Any] | bool


def checkable(schema: Any) -> Schema:
    """Return a schema of draft 2020-12 that accepts whatever ``schema`` accepts, with its references put in place.

    It is weaker where checking is not for us: regular expressions, which can be written so that they take for ever,
    other documents, recursion, negation, arithmetic, and keywords of older drafts that mean something else now.

    >>> name = {"type": "string", "pattern": "^(a+)+$"}
    >>> checkable({"properties": {"city": {"$ref": "#/$defs/name"}}, "$defs": {"name": name}})
    {'properties': {'city': {'type': 'string'}}}
    """
    return _Copying(schema).of(schema, (), 0)


class _Copying:
    """One schema on the way to a safe one."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MOST_SCHEMAS

    def of(self, schema: Any, within: tuple[str, ...], depth: int) -> Schema:
        """Copy a schema; ``within`` holds the references that led to it, ``depth`` counts the schemas around it."""
        self._left -= 1
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping) or self._left < 0 or depth > DEEPEST:
            return True
        given = cast("Mapping[str, Any]", schema)
        if "$id" in given and given is not self._root:
            return True  # Its references would begin elsewhere.
        if "$ref" in given:
            target = self._target(given["$ref"])
            unusable = target is None or given["$ref"] in within
            return True if unusable else self.of(target, (*within, given["$ref"]), depth + 1)
        kept = {name: value for name, value in given.items() if name in _PLAIN and _PLAIN[name](value)}
        return kept | self._with_schemas(given, lambda part: self.of(part, within, depth + 1))

    def _with_schemas(self, given: Mapping[str, Any], copy: Callable[[Any], Schema]) -> dict[str, Any]:
        """The keywords whose values are schemas."""
        found: dict[str, Any] = {}
        properties = given.get("properties", {})
        if isinstance(properties, Mapping) and properties:
            named = cast("Mapping[str, Any]", properties)
            found["properties"] = {name: copy(one) for name, one in named.items()}
        for name in ("allOf", "anyOf", "oneOf"):
            if isinstance(given.get(name), list) and given[name]:
                # Where parts are weaker, several may fit at once.
                found["allOf" if name == "allOf" else "anyOf"] = [copy(one) for one in given[name]]
        if "anyOf" in given and "oneOf" in given:
            found.pop("anyOf", None)
        if "items" in given and "prefixItems" not in given and not isinstance(given["items"], list):
            found["items"] = copy(given["items"])
        if "additionalProperties" in given and "patternProperties" not in given and isinstance(properties, Mapping):
            found["additionalProperties"] = copy(given["additionalProperties"])
        return found

    def _target(self, reference: Any) -> Any:
        """What a reference within the schema leads to; None for any other."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            return None
        found = self._root
        for step in reference.split("/")[1:]:
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = cast("Mapping[str, Any]", found).get(name)
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
                found = cast("list[Any]", found)[int(name)]
            else:
                return None
        return found


_TYPES = {"string", "integer", "number", "boolean", "null", "array", "object"}


def _is_type(value: Any) -> bool:
    return (isinstance(value, str) and value in _TYPES) or (_is_texts(value) and bool(value) and {*value} <= _TYPES)


def _is_texts(value: Any) -> bool:
    """Whether it is a list of different texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in cast("Iterable[Any]", value)):
        return False
    texts = cast("list[str]", value)
    return len({*texts}) == len(texts)


def _is_anything(_: Any) -> bool:
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


_PLAIN: Mapping[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "const": _is_anything,
    "enum": lambda value: isinstance(value, list),
    "required": _is_texts,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
}
"""The keywords that are kept as they are, where their value is of the right kind."""
