"""Validators of JSON Schemas, which may come from somebody else: what could not be used is refused before it is."""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from retrial.errors import ConfigError

__all__ = ["validator_of"]


def validator_of(schema: Mapping[str, Any], *, patterns: bool = True) -> Any:
    """Return the validator of a schema, read as draft 2020-12 unless it says otherwise. It looks up no other document.

    Without ``patterns`` no regular expression of the schema is tried: one can be written so that it takes for ever.

    Raises:
        ConfigError: if it is no JSON Schema, refers to something that is not in it, or is nested too deeply.
    """
    try:
        return _validator(json.dumps(schema), patterns)
    except RecursionError:
        raise ConfigError("not a JSON Schema that can be used: it is nested too deeply") from None


@functools.lru_cache(maxsize=1024)
def _validator(schema: str, patterns: bool) -> Any:
    """The validator of a schema that is given as JSON."""
    library: Any = importlib.import_module("jsonschema")
    referencing: Any = importlib.import_module("referencing")
    value = json.loads(schema)
    kind = library.validators.validator_for(value, default=library.Draft202012Validator)
    try:
        kind.check_schema(value, format_checker=library.FormatChecker(formats=()))
    except library.SchemaError as error:
        raise ConfigError(f"not a JSON Schema: {error.message}") from error
    draft: Any = importlib.import_module("referencing.jsonschema")
    resource = referencing.Resource.from_contents(value, default_specification=draft.DRAFT202012)
    resolver = referencing.Registry().resolver_with_root(resource)
    for keyword, said in _said(value):
        try:
            if keyword == "$ref":
                resolver.lookup(said)
            elif patterns:
                re.compile(said)
        except referencing.exceptions.Unresolvable:
            raise ConfigError(f"not a JSON Schema that can be used: {said!r:.100} leads to nothing in it") from None
        except re.error as error:
            raise ConfigError(f"not a JSON Schema that can be used: {said!r:.100} is no pattern: {error}") from error
    if not patterns:
        kind = library.validators.extend(kind, _without_patterns(kind))
    return kind(value, registry=referencing.Registry())


def _without_patterns(kind: Any) -> dict[str, Callable[..., Any]]:
    """The keywords that try regular expressions, as they are where none is tried: nothing is wrong by them."""

    def holds(*_: object) -> tuple[()]:
        return ()

    def additional(validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]) -> Any:
        plain = kind.VALIDATORS["additionalProperties"]
        return () if "patternProperties" in schema else plain(validator, value, instance, schema)

    silent = dict.fromkeys(("pattern", "patternProperties", "unevaluatedProperties"), holds)
    return {**silent, "additionalProperties": additional}


def _said(schema: Any) -> Iterator[tuple[str, str]]:
    """Every reference and every pattern, wherever it stands; a property may be called like a keyword."""
    if isinstance(schema, Mapping):
        for name, value in cast("Mapping[str, Any]", schema).items():
            if name in ("$ref", "pattern") and isinstance(value, str):
                yield name, value
            elif name == "patternProperties" and isinstance(value, Mapping):
                yield from (("pattern", one) for one in cast("Mapping[str, Any]", value))
            yield from _said(value)
    elif isinstance(schema, list):
        for one in cast("list[Any]", schema):
            yield from _said(one)
