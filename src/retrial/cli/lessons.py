"""``retrial lessons``: what is remembered, where it came from, and what became of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.lessons_change import delete, edit, quarantine, release
from retrial.cli.lessons_exchange import export, import_
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen
    from retrial.core.tasks import Lesson
    from retrial.store.lesson_rows import Change
    from retrial.store.uses import Use

__all__ = ["lessons"]

STATES = ("active", "quarantined", "deleted")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def lessons() -> None:
    """See, search, change and delete what was learnt.

    A lesson is meant by its id or the beginning of one.
    """


@lessons.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those; of deleted ones no text is left.")
@click.option("--task", "task_id", metavar="ID", help="Only those of this task.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@store_option
@as_json
def list_(state: str | None, task_id: str | None, limit: int, store: str | None, as_json: bool) -> None:
    """List lessons, newest first."""
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously

    async def look() -> list[Lesson]:
        async with _book(store) as book:
            return await book.lessons(state=state, task_id=task_id, limit=limit)

    screen = Screen(as_json=as_json, store=store)
    _list(screen, asynchronously(look()), "there are no such lessons; a run that fails a trial writes some")


@lessons.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@store_option
@as_json
def search(words: tuple[str, ...], limit: int, store: str | None, as_json: bool) -> None:
    """Find lessons by their words, the best match first."""
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously

    async def look() -> list[Lesson]:
        async with _book(store) as book:
            return await book.search(" ".join(words), limit)

    _list(Screen(as_json=as_json, store=store), asynchronously(look()), "no lesson holds these words")


@lessons.command()
@click.argument("name", metavar="LESSON")
@store_option
@as_json
def show(name: str, store: str | None, as_json: bool) -> None:
    """Show a lesson: its words, where it came from, when it was used and what happened then."""
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously

    async def look() -> tuple[Lesson, tuple[Change, ...], tuple[Use, ...]]:
        async with _book(store) as book:
            return await book.get(await book.find(name))

    screen = Screen(as_json=as_json, store=store)
    lesson, changes, uses = asynchronously(look())
    if as_json:
        from retrial.core.codec import encode

        screen.json({**_record(lesson), "changes": encode(changes), "used_in": encode(uses)})
        return
    _show(screen, lesson, changes, uses)


@lessons.command()
@store_option
@as_json
def stats(store: str | None, as_json: bool) -> None:
    """Count lessons and uses, and quarantine those that do harm."""
    from retrial.cli.render import new_table
    from retrial.cli.screen import Screen
    from retrial.cli.suspects import record, say
    from retrial.cli.work import asynchronously

    async def look() -> tuple[dict[str, int], list[Any], list[str]]:
        async with _book(store) as book:
            findings, new = await book.check()
            return await book.counts(), findings, new

    screen = Screen(as_json=as_json, store=store)
    numbers, findings, new = asynchronously(look())
    if as_json:
        screen.json({**numbers, "findings": [record(one) for one in findings], "quarantined_now": new})
        return
    table = new_table(("", "number"), ("number",))
    for label, count in numbers.items():
        table.add_row(screen.text(label.replace("_", " ")), f"{count:,}")
    screen.show(table)
    say(screen, findings, new)


@asynccontextmanager
async def _book(store: str | None) -> AsyncGenerator[Any]:
    """The book of the store that is meant, which must exist."""
    from retrial.cli.finding import opened
    from retrial.store.lessons import LessonBook

    async with opened(store) as journal:
        yield LessonBook(journal.writer)


def _record(lesson: Lesson) -> dict[str, Any]:
    """A lesson as JSON values, every field present."""
    import dataclasses

    return dataclasses.asdict(lesson)


def _list(screen: Screen, found: Sequence[Lesson], nothing: str) -> None:
    """Print lessons as a table or as JSON."""
    from retrial.cli.render import new_table, short

    if screen.as_json:
        screen.json({"lessons": [_record(one) for one in found]})
        return
    if not found:
        screen.remark(nothing)
        return
    table = new_table(("id", "task", "state", "uses", "wins", "learnt", "lesson"), ("uses", "wins"), ("lesson",))
    for one in found:
        learnt = _state(screen, one), str(one.uses), str(one.wins), screen.text(one.created_at[:10])
        table.add_row(screen.text((one.id, "cyan")), screen.text(short(one.task_id)), *learnt, screen.text(one.text))
    screen.show(table)


def _state(screen: Screen, lesson: Lesson) -> Any:
    return screen.text((lesson.state, "" if lesson.state == "active" else "yellow"))


def _show(screen: Screen, lesson: Lesson, changes: Sequence[Change], uses: Sequence[Use]) -> None:
    """Print everything about a lesson."""
    from datetime import UTC, datetime

    from retrial.cli.render import new_table

    screen.line((lesson.id, "cyan"), f"  {lesson.state}, version {lesson.version}")
    screen.verbatim(f"\n{lesson.text or '(the text was deleted)'}\n")
    told = "its own task and others where relevant" if lesson.scope == "any" else "its own task"
    origin = f"trial {lesson.trial} of run {lesson.run_id}" if lesson.run_id else lesson.origin
    for label, words in (
        ("task", lesson.task_id),
        ("from", f"{origin} ({lesson.origin}), {lesson.created_at}"),
        ("failed", ", ".join(lesson.evidence)),
        ("faults", ", ".join(lesson.faults)),
        ("told to", told),
        ("expires", lesson.expires_at),
        ("under", ", ".join(f"{role} {name}" for role, name in lesson.environment.get("models", {}).items())),
        ("used in", f"{lesson.uses} trials, {lesson.wins} of them passed" if lesson.uses else "no trial yet"),
    ):
        if words:
            screen.line((f"{label:<9}", "dim"), words)
    for one in changes:
        more = one.data.get("evidence", {}).get("words", "") or one.data.get("before", {}).get("text", "")
        screen.line((f"{one.change:<12}", "yellow"), f"{one.at} {one.because}{' · ' if more else ''}{more}")
    if uses:
        table = new_table(("run", "trial", "passed", "when"), ("trial",))
        for use in uses:
            when = datetime.fromtimestamp(use.at, UTC).isoformat(timespec="seconds")
            table.add_row(screen.text((use.run_id, "cyan")), str(use.trial), screen.sign(use.passed), when)
        screen.show(table)


for _command in (edit, quarantine, release, delete, export, import_):
    lessons.add_command(_command)
