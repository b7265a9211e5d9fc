"""Whether a JSON value fits a JSON Schema, and where it does not, in words that a model can act on."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, cast

from retrial.errors import ConfigError

__all__ = ["expected", "faults", "fits"]

MOST_FAULTS = 20
"""More faults of one value are not looked for."""
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


def faults(value: Any, schema: Mapping[str, Any] | bool, place: str = "") -> list[str]:
    """Return what is wrong with a JSON value, one text a place and 20 at most: where, what is there, what was expected.

    >>> faults({"size": "big"}, {"type": "object", "properties": {"size": {"type": "integer"}}}, "'cup'")
    ["'cup'.size is 'big', expected an integer"]

    Raises:
        ConfigError: if the schema is none.
    """
    errors = islice(_validator(json.dumps(schema)).iter_errors(value), MOST_FAULTS)
    found = sorted(errors, key=lambda error: list(map(str, error.path)))
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
    if "const" in given or "enum" in given:
        values = given.get("enum", [given.get("const")])
        return "one of " * (len(values) > 1) + ", ".join(map(_quoted, values))
    kinds: Any = given.get("type", "any value")
    words = " or ".join(_TYPES.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
    if kinds == "array" and given.get("items"):
        return f"{words} (each {expected(given['items'])})"
    if kinds == "object" and given.get("properties"):
        return f"{words} with {', '.join(map(repr, given['properties']))}"
    if schema is False:
        words = "nothing"
    elif given.get("required") and "type" not in given:
        words = f"an object with {', '.join(map(repr, given['required']))}"
    bounds = [f"{name} {given[name]}" for name in _BOUNDS if name in given]
    return f"{words} ({', '.join(bounds)})" if bounds else words


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format")


@functools.lru_cache(maxsize=1024)
def _validator(schema: str) -> Any:
    """The validator of a schema, given as JSON. It looks up no other document."""
    library: Any = importlib.import_module("jsonschema")
    registry: Any = importlib.import_module("referencing").Registry()
    value = json.loads(schema)
    kind = library.validators.validator_for(value, default=library.Draft202012Validator)
    try:
        kind.check_schema(value)
    except library.SchemaError as error:
        raise ConfigError(f"not a JSON Schema: {error.message}") from error
    return kind(value, registry=registry)


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
    if error.validator in ("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"):
        return f"{where}: {error.message:.{LONGEST * 2}}"
    return f"{where} is {_quoted(error.instance)}, expected {expected(error.schema)}"


def _quoted(value: Any) -> str:
    """A value as a message quotes it, cut."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
