"""Case files: outputs to judge, one JSON object a line, read one at a time however long the file is.

Every mistake is answered with the line and what is wrong with it, and the next line is read.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from retrial.core.tasks import Task
from retrial.errors import ConfigError
from retrial.taskfile import STYLES, case_tests

__all__ = ["LONGEST_LINE", "Case", "Line", "case_of", "lines_of", "name_of"]

LONGEST_LINE = 64 << 20
"""Bytes that one line may have; a longer one is left out whole, so that it cannot fill the memory."""

_TEXT, _LIST, _OBJECT, _NUMBER = "a text", "a list", "an object", "a number"
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": (_TEXT, _NUMBER),
    "output": (_TEXT,),
    "tests": (_LIST, _TEXT),
    "style": (_TEXT,),
    "entry_point": (_TEXT,),
    "prompt": (_TEXT,),
    "timeout": (_NUMBER,),
    "modules": (_LIST,),
    "evaluator": (_TEXT, _OBJECT),
    "answer": (_TEXT, _NUMBER),
    "answers": (_LIST,),
    "metadata": (_OBJECT,),
}
"""The names that a case may hold, with what they are."""

_KINDS: Mapping[type, str] = {str: _TEXT, list: _LIST, dict: _OBJECT, int: _NUMBER, float: _NUMBER}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file that is not empty."""

    number: int
    """Which line, counted from 1."""
    text: bytes
    """Its bytes; of one that is too long the beginning."""
    size: int
    """How many bytes were read for it and the empty lines before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One output, and what it is judged by."""

    id: str
    """What the case is called; the number of its line unless it says. Several cases may have one id."""
    task: Task
    """What judges it."""
    output: str
    """What is judged."""


def lines_of(file: BinaryIO) -> Generator[Line]:
    r"""Yield the lines of a file that hold anything, reading no further than one line ahead.

    >>> import io
    >>> [(line.number, line.text) for line in lines_of(io.BytesIO(b"a\n\nb"))]
    [(1, b'a'), (3, b'b')]
    """
    number = size = 0
    while text := file.readline(LONGEST_LINE + 1):
        number, size = number + 1, size + len(text)
        rest = text
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST_LINE + 1)
            size += len(rest)
        if number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text.strip():
            yield Line(number, text.rstrip(b"\r\n"), size)
            size = 0


def case_of(line: Line, *, timeout: float = 30.0) -> Case:
    """Read a case; ``timeout`` holds where it names none.

    Raises:
        ConfigError: naming the line and what is wrong.
    """
    try:
        return _case(_read(line.text), str(line.number), timeout)
    except ConfigError as error:
        raise ConfigError(f"line {line.number}: {error}") from error


def name_of(line: Line) -> str:
    """Return what a case is called, also where the rest of its line is wrong; else the number of the line."""
    try:
        name = _read(line.text).get("id")
    except ConfigError:
        name = None
    return str(name) if type(name) in (str, int, float) else str(line.number)


def _read(text: bytes) -> dict[str, Any]:
    """The object that a line holds."""
    if len(text) > LONGEST_LINE:
        raise ConfigError(f"it is longer than {LONGEST_LINE >> 20} MB; keep outputs short, or split them")
    try:
        row: Any = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 (byte {error.start}); write the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON ({error}); one object a line") from error
    if not isinstance(row, dict):
        raise ConfigError(f"a case is an object, not {row!r:.60}")
    return cast("dict[str, Any]", row)


def _case(row: dict[str, Any], number: str, timeout: float) -> Case:
    """The case that an object describes."""
    for name, value in row.items():
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, _FIELDS, 1)
            hint = f"did you mean {near[0]!r}?" if near else "put what nobody interprets into metadata"
            raise ConfigError(f"{name!r} is no field of a case; {hint}")
        if _KINDS.get(type(value)) not in _FIELDS[name]:  # pyright: ignore[reportUnknownArgumentType]
            raise ConfigError(f"{name} is {value!r:.60} and must be {' or '.join(_FIELDS[name])}")
    if "output" not in row:
        raise ConfigError("'output' is missing: the text that is to be judged")
    name = str(row.get("id", number))
    style = str(row.get("style", "asserts"))
    if style not in STYLES:
        near = difflib.get_close_matches(style, STYLES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(STYLES)}"
        raise ConfigError(f"style {style!r} is no style of tests; {hint}")
    judged = row.get("evaluator")
    task = Task(
        id=name,
        prompt=row.get("prompt", ""),
        tests=_tests(row.get("tests", []), style),
        style=style,
        entry_point=row.get("entry_point"),
        completes=_is_begun(row.get("prompt", ""), row.get("entry_point")),
        modules=_texts(row, "modules"),
        timeout=row.get("timeout", timeout),
        answer=str(row["answer"]) if "answer" in row else None,
        answers=_texts(row, "answers"),
        evaluator={"kind": judged} if isinstance(judged, str) else judged,
        metadata=row.get("metadata", {}),
    )
    return Case(id=name, task=task, output=row["output"])


def _is_begun(prompt: str, entry_point: str | None) -> bool:
    """Whether a prompt is code that begins what the output may only continue."""
    return bool(entry_point and re.search(rf"^[ \t]*(?:async )?def {re.escape(entry_point)}\b", prompt, re.MULTILINE))


def _tests(given: list[Any] | str, style: str) -> tuple[str, ...]:
    """Tests as texts: single ones and pairs of a call and its value in a list, whole files as one text."""
    if isinstance(given, str):
        if style in ("asserts", "table"):
            raise ConfigError(f"tests is a text, and style {style!r} wants a list, such as ['assert f(1) == 2']")
        return (given,) if given.strip() else ()
    found: list[str] = []
    for test in given:
        pair = cast("list[Any]", test) if isinstance(test, list) and style in ("asserts", "table") else []
        if len(pair) == 2 and isinstance(pair[0], str):
            found.append(json.dumps(pair) if style == "table" else case_tests([(pair[0], pair[1])])[0])
        elif isinstance(test, str):
            found.append(test)
        else:
            raise ConfigError(f"tests holds {test!r:.60}; a test is a text, or a pair such as ['f(1)', 2]")
    return tuple(found)


def _texts(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts."""
    for item in (items := cast("list[Any]", row.get(name, []))):
        if not isinstance(item, str) or not item.strip():
            raise ConfigError(f"{name} holds {item!r:.60}; every item must be a text")
    return tuple(items)
