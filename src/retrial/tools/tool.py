"""A typed function as a tool: its name, its description, the schema of its arguments, and how they are read.

Knows functions and their hints, and nothing of models, runs or other tools.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from retrial.core.codec import encode
from retrial.core.messages import ToolSpec
from retrial.errors import ConfigError
from retrial.tools.shape import Shape, shape_of
from retrial.tools.words import expected, faults

__all__ = ["MAX_CHARACTERS", "TIMEOUT", "Tool", "tool"]

P = ParamSpec("P")
R = TypeVar("R")

TIMEOUT = 60.0
"""Seconds that a call may take unless its tool says otherwise."""
MAX_CHARACTERS = 20_000
"""How much of a result a model reads unless its tool says otherwise."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[P, R]):
    """What a model can have called. Calling it in Python calls the function, as if it were no tool."""

    spec: ToolSpec
    """How it is offered to a model."""
    function: Callable[P, R]
    """What is called, by keyword; it may be async."""
    read: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    """Makes the function's keyword arguments of JSON values that fit the schema."""
    timeout: float | None = TIMEOUT
    """Seconds that a call may take, above 0; None for no limit."""
    repeatable: bool = False
    """Whether calling it twice costs and changes nothing, as with a look-up."""
    approval: bool = False
    """Whether each call has to be approved first."""
    environmental: tuple[type[Exception], ...] = ()
    """What it raises if its world is away, and not the call wrong: this ends the run, which can be resumed."""
    max_characters: int = MAX_CHARACTERS
    """How much of a result a model reads, at least 1."""
    checks: Mapping[str, Any] | None = None
    """What arguments are checked by, as a JSON Schema; None for the schema that the model is shown."""

    def __post_init__(self) -> None:
        """Check the name and the bounds.

        Raises:
            ConfigError: naming the tool and the value.
        """
        name = self.spec.name
        if not _NAME.fullmatch(name):
            raise ConfigError(f"a tool is called {name!r}; providers take 1 to 64 letters, digits, '_' and '-'")
        if self.timeout is not None and not self.timeout > 0:
            raise ConfigError(f"tool {name!r}: timeout={self.timeout!r} must be above 0, or None for no limit")
        if self.max_characters < 1:
            raise ConfigError(f"tool {name!r}: max_characters={self.max_characters!r} must be at least 1")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a call's arguments: what is unknown, what is missing, what does not fit.

        >>> def power(base: int, exponent: int) -> int: ...
        >>> tool(power).problems({"base": "7", "x": 1})[:2]
        ["argument 'base' is '7', expected an integer", "argument 'exponent' is missing (an integer)"]
        """
        schema = self.spec.parameters if self.checks is None else self.checks
        properties = cast("Mapping[str, Mapping[str, Any] | bool]", schema.get("properties", {}))
        needed, further = schema.get("required", ()), schema.get("additionalProperties", True)
        found: list[str] = []
        for name in dict.fromkeys([*properties, *needed]):
            part = properties.get(name, {})
            if name in arguments:
                whole = {"$defs": schema["$defs"], **part} if "$defs" in schema and isinstance(part, Mapping) else part
                found += faults(arguments[name], whole, f"argument {name!r}")
            elif name in needed:
                found.append(f"argument {name!r} is missing ({expected(part)})")
        for name in [name for name in arguments if name not in properties]:
            if further is False:
                found.append(f"no argument is called {name!r:.80}")
            elif further is not True:
                found += faults(arguments[name], further, f"argument {name!r:.80}")
        together = {name: schema[name] for name in _TOGETHER if name in schema}
        return found + faults(arguments, together, "the call") if together else found


_TOGETHER = ("allOf", "anyOf", "minProperties", "maxProperties")
"""The keywords that say something of all arguments together."""


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = TIMEOUT,
    repeatable: bool = False,
    approval: bool = False,
    environmental: tuple[type[Exception], ...] = (),
    max_characters: int = MAX_CHARACTERS,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Any,
) -> Any:
    """Make a tool of a function, as ``@tool`` or ``@tool(timeout=5)``; of a method, as ``tool(shop.refund)``.

    The name and the docstring are what the model reads; hints become the schema, ``Annotated[str, "..."]`` describes
    an argument. Options are the fields of ``Tool``.

    Raises:
        ConfigError: if a parameter has no hint, or one that has no shape in JSON.
    """
    make = functools.partial(_made, name=name, description=description, options=options)
    return make if function is None else make(function)


def _made(
    function: Callable[..., Any], *, name: str | None, description: str | None, options: Mapping[str, Any]
) -> Any:
    """The tool of a function."""
    called = name or getattr(function, "__name__", type(function).__name__)
    shapes = _shapes(function, called)
    parameters = inspect.signature(function).parameters
    needed = [one for one in shapes if parameters[one].default is inspect.Parameter.empty]
    properties = {one: _with_default(shape.schema, parameters[one].default) for one, shape in shapes.items()}
    schema = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    told = description if description is not None else inspect.getdoc(function) or ""

    def read(arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {one: shapes[one].read(value) for one, value in arguments.items()}

    return Tool(
        spec=ToolSpec(name=called, description=told, parameters=schema), function=function, read=read, **options
    )


def _shapes(function: Callable[..., Any], called: str) -> dict[str, Shape]:
    """The shape of each parameter, in order.

    Raises:
        ConfigError: naming the tool and the parameter that a model could not give.
    """
    hinted = function if inspect.isroutine(function) else cast("Any", type(function)).__call__
    try:
        hints = typing.get_type_hints(getattr(function, "func", hinted), include_extras=True)
    except NameError as error:
        raise ConfigError(f"tool {called!r}: {error.name!r} in its hints is not known in its module") from error
    shapes: dict[str, Shape] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(f"tool {called!r}: a model cannot give {name!r} ({parameter.kind.description}); name it")
        if name not in hints:
            advice = "; make a tool of the method of an object, tool(shop.refund)" if name == "self" else ""
            raise ConfigError(f"tool {called!r}: parameter {name!r} has no type hint{advice}")
        try:
            shapes[name] = shape_of(hints[name])
        except ConfigError as error:
            raise ConfigError(f"tool {called!r}, parameter {name!r}: {error}") from error
    return shapes


def _with_default(schema: Mapping[str, Any], default: Any) -> dict[str, Any]:
    """The schema of a parameter with its default, where it has one that is JSON."""
    try:
        return {**schema, "default": encode(default)}
    except ConfigError:
        return dict(schema)
