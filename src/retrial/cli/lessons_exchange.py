"""``retrial lessons export`` and ``import``: lessons as lines of JSON, also somebody else's."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.core.tasks import Lesson
    from retrial.store.writer import Writer

__all__ = ["export", "import_"]

MAX_CHARACTERS = 10_000
"""A longer text is no lesson."""

_KINDS: Mapping[str, type[Any]] = {
    **dict.fromkeys(("id", "task_id", "run_id", "created_at", "origin", "expires_at"), str),
    **dict.fromkeys(("trial", "version"), int),
    **dict.fromkeys(("faults", "evidence", "refused"), list),
    "environment": dict,
}
_CHOICES = {"state": ("active", "quarantined"), "scope": ("task", "any")}


@click.command()
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="A file; else standard output.")
@store_option
def export(output: Path | None, store: str | None) -> None:
    """Write all lessons that are not deleted, one a line, oldest first."""
    from retrial.cli.finding import opened
    from retrial.cli.work import asynchronously
    from retrial.core.codec import encode
    from retrial.store.lessons import LessonBook

    async def look() -> list[Lesson]:
        async with opened(store) as journal:
            return await LessonBook(journal.writer).lessons()

    lines = [
        json.dumps({**encode(one), "origin": one.origin, "uses": one.uses, "wins": one.wins})
        for one in reversed(asynchronously(look()))
    ]
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"wrote {len(lines)} lesson{'' if len(lines) == 1 else 's'} to {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@as_json
def import_(file: Path, store: str | None, as_json: bool) -> int:
    """Read lessons, one JSON object a line with at least a `text`. A line that cannot be kept is named with the reason.

    Uses and wins are not taken over: they are counted from the runs in the store.
    """
    from retrial.cli.taking import take_lines
    from retrial.store.lessons import LessonBook

    def keeper(writer: Writer) -> Callable[[bytes], Awaitable[dict[str, Any]]]:
        return partial(_take, LessonBook(writer))

    return take_lines(file, "lessons", keeper, store=store, as_json=as_json)


async def _take(book: Any, line: bytes) -> dict[str, Any]:
    """Keep the lesson of one line; return what came of it and why."""
    try:
        item = _lesson(line)
    except ValueError as error:
        return {"outcome": "broken", "detail": str(error)}
    kept = await book.keep(item)
    why = {
        "added": "",
        "duplicate": f"lesson {kept.other} of the same task says the same",
        "deleted": f"the same words were deleted here as lesson {kept.other}",
        "conflict": f"another lesson has the id {kept.other}",
    }
    return {"outcome": kept.outcome, "id": item["id"], "detail": why[kept.outcome]}


def _lesson(line: bytes) -> dict[str, Any]:
    """The lesson of a line, as JSON values that the book can keep.

    Raises:
        ValueError: saying what is wrong with it.
    """
    from retrial.cli.taking import object_in
    from retrial.core.codec import decode, encode
    from retrial.core.keys import digest
    from retrial.core.tasks import Lesson

    item = object_in(line, _fault)
    known = {**item, "id": item.get("id") or digest([item.get("task_id", ""), item["text"]])[:12]}
    return encode(decode(Lesson, {**known, "origin": item.get("origin") or "person"}))


def _fault(item: Mapping[str, Any]) -> str:
    """What is wrong with the values of a lesson; empty if nothing is."""
    text = item.get("text")
    if not isinstance(text, str) or not text.strip():
        return f"its text is {text!r:.80}"
    if len(text) > MAX_CHARACTERS:
        return f"its text has {len(text):,} characters; a lesson has {MAX_CHARACTERS:,} at most"
    for name, kind in _KINDS.items():
        value = item.get(name, kind())
        if not isinstance(value, kind) or (isinstance(value, str) and not _whole(value)):
            return f"its {name} is {value!r:.80}"
    for name, allowed in _CHOICES.items():
        if item.get(name, allowed[0]) not in allowed:
            return f"its {name} is {item[name]!r:.80} and not {' or '.join(allowed)}"
    return ""


def _whole(text: str) -> bool:
    """Whether a text holds whole characters alone, which a database can keep."""
    return not any("\ud800" <= char <= "\udfff" for char in text)
