"""Reading what somebody exported, line by line: what cannot be kept is named with the reason, the rest is kept."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from retrial.cli import exits

if TYPE_CHECKING:
    from retrial.store.writer import Writer

__all__ = ["object_in", "take_lines"]


def take_lines(
    file: Path,
    noun: str,
    keeper: Callable[[Writer], Callable[[bytes], Awaitable[dict[str, Any]]]],
    *,
    store: str | None,
    as_json: bool,
) -> int:
    """Keep every line of ``file`` in a store, say what came of those that were not added, and return the exit code.

    ``keeper`` makes what keeps one line and answers with ``outcome`` (``added``, ``broken``, ``conflict`` or another
    word) and ``detail``. ``noun`` is what the lines hold, as in "3 of 4 lessons were added".
    """
    from retrial.assembly import store_path
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously
    from retrial.store.sqlite import SqliteStore

    lines = [(number, line) for number, line in enumerate(file.read_bytes().split(b"\n"), 1) if line.strip()]
    if not lines:
        raise exits.Stopped(f"nothing to import: {file} holds no line", exits.NOTHING)

    async def take() -> list[dict[str, Any]]:
        journal = SqliteStore(store_path(store))
        try:
            keep = keeper(journal.writer)
            return [{"line": number, **await keep(line)} for number, line in lines]
        finally:
            await journal.close()

    screen = Screen(as_json=as_json, store=store)
    ends = asynchronously(take())
    added = sum(one["outcome"] == "added" for one in ends)
    if as_json:
        screen.json({"added": added, "lines": ends})
    else:
        for one in ends:
            if one["outcome"] != "added":
                screen.line((f"line {one['line']}", "yellow"), f"  {one['outcome']}: {one['detail']}")
        screen.line(f"{added} of {len(ends)} {noun} were added")
    return exits.USAGE if any(one["outcome"] in ("broken", "conflict") for one in ends) else exits.SOLVED


def object_in(line: bytes, fault_of: Callable[[Mapping[str, Any]], str]) -> dict[str, Any]:
    """Return the JSON object that a line is; ``fault_of`` says what is wrong with its values, empty for nothing.

    Raises:
        ValueError: saying what is wrong with it.
    """
    try:
        read: Any = json.loads(line.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON ({error})") from error
    if not isinstance(read, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - one kind of error for a line that is no object
    item = cast("dict[str, Any]", read)
    if wrong := fault_of(item):
        raise ValueError(wrong)
    return item
