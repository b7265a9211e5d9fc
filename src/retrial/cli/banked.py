"""The insight bank of a store, for commands that look at it or change it, and changes in words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from retrial.cli.finding import opened
from retrial.cli.work import asynchronously
from retrial.store.insights import InsightShelf
from retrial.store.trajectories import TrajectoryShelf

if TYPE_CHECKING:
    from retrial.cli.screen import Screen

__all__ = ["changes", "say_changes", "with_bank"]

T = TypeVar("T")


def with_bank(store: str | None, work: Callable[[InsightShelf, TrajectoryShelf], Awaitable[T]]) -> T:
    """Do something with the bank of the store that is meant, which must exist."""

    async def done() -> T:
        async with opened(store) as journal:
            return await work(InsightShelf(journal.writer), TrajectoryShelf(journal.writer))

    return asynchronously(done())


def changes(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what an entry of the bank's journal did to each insight, by id.

    >>> changes({"before": {"3": {"text": "a", "score": 2}}, "after": {}})
    [{'id': 3, 'change': 'removed', 'before': {'text': 'a', 'score': 2}, 'after': None}]
    """
    before, after = entry["before"], entry["after"]
    found: list[dict[str, Any]] = []
    for name in sorted({*before, *after}, key=int):
        old, new = before.get(name), after.get(name)
        word = "changed" if old and new else "removed" if old else "added"
        # Only what reaches back brings an insight in under an id that it had before.
        if word == "added" and entry.get("operation", {}).get("kind") in ("UNDO", "TAINT"):
            word = "restored"
        found.append({"id": int(name), "change": word, "before": old, "after": new})
    return found


def say_changes(screen: Screen, found: list[dict[str, Any]], *, only_if: bool = False) -> None:
    """Print what happened to each insight, or with ``only_if`` what would happen."""
    for one in found:
        label = f"{'would be ' if only_if else ''}{one['change']}"
        screen.line((f"{label} ", "yellow"), (f"{one['id']}", "cyan"), f"  {_difference(one['before'], one['after'])}")


def _difference(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    """What differs between an insight before and after, in words."""
    if not old or not new:
        known = old or new or {}
        return f"{known.get('text', '')} (score {known.get('score', 0)})"
    parts: list[str] = []
    if old["text"] != new["text"]:
        parts.append(f"{old['text']} → {new['text']}")
    if old["score"] != new["score"]:
        parts.append(f"score {old['score']} → {new['score']}")
    same = f": {new['text']}" if old["text"] == new["text"] else ""
    return f"{', '.join(parts) or 'its sources'}{same}"
