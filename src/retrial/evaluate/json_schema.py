"""A reply is JSON of the shape that a JSON Schema asks for: a message says where, what is there, what belongs there."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.json_answer import ABSENT, place_of, read_json, value_in_words

__all__ = ["JsonSchema", "shape_verdict"]

MAX_MESSAGES = 10
"""More than this many faults of shape do not help a reflector."""


class JsonSchema:
    """Judges a reply by a JSON Schema, formats included. References to other documents are never fetched.

    Args:
        schema: the schema, an object. Without ``$schema`` it is read as draft 2020-12. Nothing limits the time that a
            ``pattern`` takes, so none may repeat what repeats already, as in ``(a+)+``.
        repair: whether a reply that is nearly JSON is mended before it is judged.

    The score is the share of the schema's places without a fault: 1 / (1 + faults), and 0 for a reply that is no JSON.
    """

    max_calls = 0

    def __init__(self, schema: Mapping[str, Any], *, repair: bool = True) -> None:
        if not isinstance(schema, Mapping) or not schema:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"json_schema: schema={schema!r} lets everything pass; give an object with its fields")
        library: Any = importlib.import_module("jsonschema")
        registry: Any = importlib.import_module("referencing").Registry()
        validator = library.validators.validator_for(schema, default=library.Draft202012Validator)
        try:
            validator.check_schema(schema)
        except library.SchemaError as error:
            where = place_of(error.absolute_path)
            raise ConfigError(f"json_schema: the schema is wrong at {where}: {error.message}") from error
        self._schema, self._repair = schema, repair
        self._validator = validator(schema, format_checker=validator.FORMAT_CHECKER, registry=registry)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "json_schema", "schema": self._schema, "repair": self._repair}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``.

        Raises:
            EvaluatorError: if the schema refers to something that is not in it.
        """
        value, message = read_json(output, repair=self._repair)
        if value is ABSENT:
            return shape_verdict("", [Check(name="JSON", passed=False, message=message, kind="schema")])
        try:
            errors = sorted(self._validator.iter_errors(value), key=lambda error: [str(step) for step in error.path])
        except RecursionError:
            message = "the reply is nested too deeply to be checked"
            return shape_verdict("", [Check(name="JSON", passed=False, message=message, kind="schema")])
        except Exception as error:
            raise EvaluatorError(f"json_schema: the schema cannot be used: {error}") from error
        return shape_verdict(json.dumps(value, ensure_ascii=False), [_check(leaf) for leaf in map(_deepest, errors)])


def shape_verdict(answer: str, faults: list[Check]) -> Verdict:
    """Return the verdict about an answer (JSON text, empty if there was none) with these faults."""
    checks = faults or [Check(name="shape", passed=True, kind="schema")]
    messages = [fault.message for fault in faults[:MAX_MESSAGES]]
    if len(faults) > MAX_MESSAGES:
        messages.append(f"and {len(faults) - MAX_MESSAGES} more")
    return Verdict(
        passed=not faults,
        score=1 / (1 + len(faults)) if answer else 0.0,
        reason="\n".join(messages) if len(messages) < 2 else "\n".join(f"- {message}" for message in messages),
        answer=answer,
        checks=tuple(checks),
        trust="schema",
    )


def _deepest(error: Any) -> Any:
    """Of the alternatives of anyOf and oneOf, the fault of the one that came furthest."""
    while error.validator in ("anyOf", "oneOf") and error.context:
        error = max(error.context, key=lambda inner: (len(inner.absolute_path), -len(inner.absolute_schema_path)))
    return error


def _check(error: Any) -> Check:
    """One fault as a check."""
    where = place_of(error.absolute_path)
    actual, expected = value_in_words(error.instance), _wanted(error)
    message = f"{where}: {expected}" if error.validator == "required" else f"{where}: {actual} {expected}"
    return Check(
        name=where,
        passed=False,
        message=message,
        actual=actual,
        expected=expected.removeprefix("is not "),
        kind="schema",
    )


_FORMATS = {
    "date": "a date YYYY-MM-DD",
    "time": "a time hh:mm:ss with its zone",
    "date-time": "a date and time YYYY-MM-DDThh:mm:ss with its zone",
    "email": "an e-mail address",
    "uri": "a URI",
    "uuid": "a UUID",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array", "null": "null"}


def _types(value: Any) -> str:
    names = cast("list[str]", value if isinstance(value, list) else [value])
    return " or ".join(_ARTICLES.get(name, f"a {name}") for name in names)


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "type": lambda value: f"is not {_types(value)}",
    "format": lambda value: f"is not {_FORMATS.get(value, f'in the format {value!r}')}",
    "enum": lambda value: "is not one of " + ", ".join(value_in_words(one) for one in value),
    "const": lambda value: f"is not {value_in_words(value)}",
    "pattern": lambda value: f"does not match the pattern {value}",
    "minimum": lambda value: f"is less than {value}",
    "maximum": lambda value: f"is more than {value}",
    "exclusiveMinimum": lambda value: f"is not more than {value}",
    "exclusiveMaximum": lambda value: f"is not less than {value}",
    "multipleOf": lambda value: f"is not a multiple of {value}",
    "minLength": lambda value: f"has fewer than {value} characters",
    "maxLength": lambda value: f"has more than {value} characters",
    "minItems": lambda value: f"has fewer than {value} items",
    "maxItems": lambda value: f"has more than {value} items",
    "uniqueItems": lambda _: "holds an item twice",
}


def _wanted(error: Any) -> str:
    """What belongs there, as the end of a sentence about what was there."""
    if error.validator in _WORDS:
        return _WORDS[error.validator](error.validator_value)
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        named = next((name for name in missing if error.message.startswith(repr(name))), missing[0] if missing else "?")
        return f"{named!r} is missing"
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = error.schema.get("properties", {})
        extra = [name for name in error.instance if name not in known]
        return f"holds {', '.join(map(repr, extra))}, and only {', '.join(map(repr, known))} may be there"
    return f"does not fit: {error.message[:200]}"
