"""Whether a JSON value fits a JSON Schema, and where it does not, in words that a model can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from retrial.tools.schema import validator_of

__all__ = ["expected", "faults", "fits"]

LONGEST = 80
"""How much of a value a message quotes, in characters."""
_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a JSON value has this shape.

    >>> fits(3, {"type": "integer"}), fits(True, {"type": "integer"})
    (True, False)
    """
    return not faults(value, schema)


def faults(
    value: Any,
    schema: Mapping[str, Any],
    place: str = "",
    *,
    within: Mapping[str, Any] | None = None,
    patterns: bool = True,
) -> list[str]:
    """Return what is wrong with a JSON value, one text a place: where, what is there, what was expected.

    >>> faults({"size": "big"}, {"type": "object", "properties": {"size": {"type": "integer"}}}, "'cup'")
    ["'cup'.size is 'big', expected an integer"]

    Args:
        value: the JSON value.
        schema: what it should fit.
        place: what the value is called in the texts.
        within: the schema that references point into; ``schema`` itself unless given.
        patterns: whether regular expressions are tried.

    Raises:
        ConfigError: if the schema is none that can be used.
    """
    whole = schema if within is None else within
    validator = validator_of(whole, patterns=patterns).evolve(schema=schema)
    found = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
    return [_in_words(error, place) for error in found]


def expected(schema: Any) -> str:
    """Say in words what fits a schema.

    >>> expected({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'a list (each a string) or null'
    """
    given = cast("Mapping[str, Any]", schema if isinstance(schema, Mapping) else {})
    choices = given.get("anyOf") or given.get("oneOf")
    if choices:
        return " or ".join(expected(one) for one in choices)
    if "enum" in given:
        return "one of " + ", ".join(map(_quoted, given["enum"]))
    if given.get("required") and "type" not in given:
        return f"an object with {', '.join(map(repr, given['required']))}"
    kinds: Any = given.get("type", "any value")
    words = " or ".join(_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    if kinds == "array" and given.get("items"):
        return f"{words} (each {expected(given['items'])})"
    if kinds == "object" and given.get("properties"):
        return f"{words} with {', '.join(map(repr, given['properties']))}"
    bounds = [f"{name} {given[name]}" for name in _BOUNDS if name in given]
    return f"{words} ({', '.join(bounds)})" if bounds else words


_OWN_WORDS = (
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "not",
    "oneOf",
)
"""Keywords whose faults the library says well enough."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format")


def _in_words(error: Any, place: str) -> str:
    where = place + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    where = where.removeprefix(".") or "the value"
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{where} lacks {', '.join(map(repr, missing))}"
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = cast("Mapping[str, Any]", error.schema.get("properties", {}))
        unknown = [name for name in cast("Sequence[str]", error.instance) if name not in known]
        return f"{where} holds {', '.join(map(_quoted, unknown))}, expected {', '.join(map(repr, known)) or 'nothing'}"
    if error.validator in _OWN_WORDS:
        return f"{where}: {error.message:.{LONGEST * 2}}"
    return f"{where} is {_quoted(error.instance)}, expected {expected(error.schema)}"


def _quoted(value: Any) -> str:
    """A value as a message quotes it, cut."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
