"""From what a user types to the runs that are meant, and how each of them stands."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager

from retrial.assembly import store_path
from retrial.cli.hints import command
from retrial.core.events import RUN_FINISHED, Event
from retrial.engine.owner import alive, owner_of
from retrial.errors import ConfigError, RunNotFound
from retrial.store.sqlite import SqliteStore

__all__ = ["batch_of", "find_some", "one_of", "opened", "standing", "task_id_of"]


@asynccontextmanager
async def opened(store: str | None) -> AsyncGenerator[SqliteStore]:
    """Open the store that is meant, which must exist: looking at runs makes no file.

    Raises:
        ConfigError: if there is no such file.
    """
    path = store_path(store)
    if not os.path.exists(path):  # noqa: ASYNC240, PTH110 - one look, before any work that it could hold up
        raise ConfigError(
            f"there is no store {path!r} yet; `{command('run TASK', store)}` makes it, or name another with --store"
        )
    journal = SqliteStore(path)
    try:
        yield journal
    finally:
        await journal.close()


async def find_some(journal: SqliteStore, name: str) -> list[str]:
    """Return the ids of the runs that ``name`` means, in order: an id, the beginning of one, a batch, or ``last``.

    Raises:
        RunNotFound: if there is none.
        ConfigError: if it is the beginning of several that were not started together.
    """
    if name == "last":
        newest = await journal.heads(1)
        if not newest:
            raise RunNotFound(f"there are no runs yet; `{command('run TASK', journal.path)}` makes one")
        name = batch_of(newest[0].first.run_id)
    found = sorted(head.first.run_id for head in await journal.heads(prefix=name))
    if name in found:
        return [name]
    batches = list(dict.fromkeys(batch_of(run_id) for run_id in found))
    if not batches:
        raise RunNotFound(f"no run {name!r}; `{command('runs', journal.path)}` lists those there are")
    if len(batches) > 1:
        some = ", ".join(batches[:3])
        raise ConfigError(
            f"{name!r} is the beginning of {len(batches)} runs ({some}, ...); type more of the one you mean"
        )
    return found


def one_of(ids: Collection[str], name: str, noun: str, listing: str) -> str:
    """Return the one id that ``name`` is or begins; ``listing`` is the command that lists them.

    >>> one_of(["a1", "b2"], "b", "trial", "retrial trials")
    'b2'

    Raises:
        ConfigError: if there is none, or several.
    """
    found = [name] if name in ids else sorted(one for one in ids if name and one.startswith(name))
    if not found:
        raise ConfigError(f"no {noun} {name!r}; `{listing}` names those there are")
    if len(found) > 1:
        raise ConfigError(
            f"{name!r} is the beginning of {len(found)} ids ({', '.join(found[:3])}, ...); type more of the {noun}"
        )
    return found[0]


def batch_of(run_id: str) -> str:
    """Return what the ids of runs that were started together have in common.

    >>> batch_of("261130-1842-4f9a1c03b7e2.017"), batch_of("261130-1842-4f9a1c03b7e2")
    ('261130-1842-4f9a1c03b7e2', '261130-1842-4f9a1c03b7e2')
    """
    start, dot, number = run_id.rpartition(".")
    return start if dot and number.isdigit() else run_id


def task_id_of(start: Event) -> str:
    """Return the id of the task that a run is about, from its first event."""
    task = start.data.get("input", {}).get("task", "")
    if isinstance(task, str):
        return task
    return str(task.get("id", ""))


def standing(events: Sequence[Event]) -> str:
    """Return how a run stands: its status, or running, interrupted or waiting where it has not ended."""
    if events[-1].kind == RUN_FINISHED:
        return str(events[-1].data["status"])
    owner = owner_of(events)
    if not owner:
        return "waiting"
    return "running" if alive(owner) else "interrupted"
