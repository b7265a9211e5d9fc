"""``retrial lessons edit``, ``quarantine``, ``release`` and ``delete``: a person decides."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from retrial.cli.screen import Screen
    from retrial.store.erasing import Deletion
    from retrial.store.lessons import LessonBook

__all__ = ["delete", "edit", "quarantine", "release"]

_because = click.option("--because", default="", metavar="TEXT", help="Why, for whoever looks later.")


def _expiry(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read a date or a time; ``never`` takes the expiry away."""
    if value is None or value == "never":
        return None if value is None else ""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no date such as 2027-01-31, nor 'never'.", context, parameter) from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")


@click.command()
@click.argument("name", metavar="LESSON")
@click.option("--text", help="The new words; without any option, $EDITOR opens.")
@click.option("--scope", type=click.Choice(["task", "any"]), help="Tell it to its own task, or to any it fits.")
@click.option("--expires", callback=_expiry, metavar="DATE|never", help="Tell it until then.")
@_because
@store_option
@as_json
def edit(name: str, because: str, store: str | None, as_json: bool, **given: str | None) -> int:
    """Change a lesson. What it said before is kept, and its uses are counted afresh."""
    from retrial.cli.screen import Screen

    values = {
        field: value
        for field, value in (("text", given["text"]), ("scope", given["scope"]), ("expires_at", given["expires"]))
        if value is not None
    }
    screen = Screen(as_json=as_json, store=store)
    if not values:
        before, _, _ = _with_book(store, lambda book: _got(book, name))
        written: str | None = click.edit(str(before.text))
        if written is None or written.strip() == before.text.strip():
            screen.remark("nothing was changed")
            return exits.SOLVED
        values["text"] = written.strip()
    if not values.get("text", "x").strip():
        raise click.UsageError(f"a lesson without words teaches nothing; `retrial lessons delete {name}` deletes it.")
    after = _with_book(store, lambda book: _edited(book, name, because, values))
    _say(screen, f"lesson {after.id} is version {after.version}", {"id": after.id, "version": after.version})
    return exits.SOLVED


@click.command()
@click.argument("name", metavar="LESSON")
@_because
@store_option
@as_json
def quarantine(name: str, because: str, store: str | None, as_json: bool) -> int:
    """Keep a lesson, and tell it to nobody."""
    return _turn(name, "quarantine", because, store, as_json=as_json)


@click.command()
@click.argument("name", metavar="LESSON")
@_because
@store_option
@as_json
def release(name: str, because: str, store: str | None, as_json: bool) -> int:
    """Tell a quarantined lesson again; its uses are counted afresh."""
    return _turn(name, "release", because, store, as_json=as_json)


@click.command()
@click.argument("names", metavar="LESSON...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@_because
@store_option
@as_json
def delete(names: tuple[str, ...], yes: bool, because: str, store: str | None, as_json: bool) -> int:
    """Delete lessons for good: from the book, and from every run that repeats their words.

    Such a run can still be shown, and is no longer replayed or resumed. `retrial store compact` clears the file's
    free pages as well.
    """
    from retrial.cli.render import plural
    from retrial.cli.screen import Screen
    from retrial.engine.owner import refuse_if_busy

    screen = Screen(as_json=as_json, store=store)

    async def look(book: LessonBook) -> tuple[list[str], Deletion]:
        ids = [await book.find(name) for name in names]
        return ids, await book.outlook(ids)

    ids, outlook = _with_book(store, look)
    if not outlook.lessons:
        raise exits.Stopped("nothing to delete: it is deleted already", exits.NOTHING)
    for lesson in outlook.lessons:
        screen.remark(f"{lesson.id}: {lesson.text}")
    cost = f"; {plural(len(outlook.runs), 'run')} will be redacted and no longer replay" if outlook.runs else ""
    if not yes:
        click.confirm(f"Delete {plural(len(outlook.lessons), 'lesson')} for good{cost}?", abort=True, err=True)
    done = _with_book(store, lambda book: book.delete(ids, because=because, refuse=refuse_if_busy))
    gone = [one.id for one in done.lessons]
    _say(screen, f"deleted {', '.join(gone)}{cost}", {"deleted": gone, "redacted_runs": list(done.runs)})
    screen.remark(f"clear the file's free pages as well: {screen.command('store compact')}")
    return exits.SOLVED


def _turn(name: str, verb: str, because: str, store: str | None, *, as_json: bool) -> int:
    """Quarantine or release a lesson, and say so."""
    from retrial.cli.screen import Screen

    async def turn(book: LessonBook) -> tuple[str, bool]:
        found = await book.find(name)
        return found, await getattr(book, verb)(found, because)

    lesson_id, new = _with_book(store, turn)
    state = "quarantined" if verb == "quarantine" else "active"
    words = f"lesson {lesson_id} is {state}{'' if new else ', as it was'}"
    _say(Screen(as_json=as_json, store=store), words, {"id": lesson_id, "state": state, "changed": new})
    return exits.SOLVED


def _with_book(store: str | None, work: Callable[[LessonBook], Awaitable[Any]]) -> Any:
    """Do something with the book of the store that is meant."""
    from retrial.cli.finding import opened
    from retrial.cli.work import asynchronously
    from retrial.store.lessons import LessonBook

    async def done() -> Any:
        async with opened(store) as journal:
            return await work(LessonBook(journal.writer))

    return asynchronously(done())


async def _got(book: LessonBook, name: str) -> Any:
    return await book.get(await book.find(name))


async def _edited(book: LessonBook, name: str, because: str, values: dict[str, str]) -> Any:
    return await book.edit(await book.find(name), because=because, **values)


def _say(screen: Screen, words: str, values: dict[str, Any]) -> None:
    """Say what was done, as a line or as JSON."""
    if screen.as_json:
        screen.json(values)
    else:
        screen.line(words)
