"""``retrial trajectories export`` and ``import``: trials as lines of JSON, also somebody else's."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.memory.trajectories import Trajectory
    from retrial.store.writer import Writer

__all__ = ["export", "import_"]

_TEXTS = ("id", "task_id", "task", "reason", "run_id", "created_at")
_NEEDED = ("task_id", "task", "outcome")


@click.command()
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="A file; else standard output.")
@store_option
def export(output: Path | None, store: str | None) -> None:
    """Write all trials, one a line, oldest first."""
    from retrial.cli.banked import with_bank
    from retrial.core.codec import encode

    found = with_bank(store, lambda _, trials: trials.kept())
    lines = [json.dumps({**encode(one.trajectory), **({"tainted": True} if one.tainted else {})}) for one in found]
    text = "".join(f"{line}\n" for line in lines)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"wrote {len(lines)} trajector{'y' if len(lines) == 1 else 'ies'} to {output}", err=True)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@store_option
@as_json
def import_(file: Path, store: str | None, as_json: bool) -> int:
    """Read trials, one JSON object a line. A line that cannot be kept is named with the reason, the rest is kept.

    They need `task_id`, `task` and `outcome`, and wait for the next extraction. The insights and examples that their
    actors were told are another bank's and are left out.
    """
    from retrial.cli.taking import take_lines
    from retrial.store.trajectories import TrajectoryShelf

    def keeper(writer: Writer) -> Callable[[bytes], Awaitable[dict[str, Any]]]:
        return partial(_take, TrajectoryShelf(writer))

    return take_lines(file, "trajectories", keeper, store=store, as_json=as_json)


async def _take(shelf: Any, line: bytes) -> dict[str, Any]:
    """Keep the trial of one line; return what came of it and why."""
    try:
        one, tainted = _trial(line)
    except ValueError as error:
        return {"outcome": "broken", "detail": str(error)}
    outcome = await shelf.keep(one, tainted=tainted)
    why = {"added": "", "duplicate": f"{one.id} is there already", "conflict": f"another trial has the id {one.id}"}
    return {"outcome": outcome, "id": one.id, "detail": why[outcome]}


def _trial(line: bytes) -> tuple[Trajectory, bool]:
    """The trial of a line, and whether it is tainted.

    Raises:
        ValueError: saying what is wrong with it.
    """
    from retrial.cli.taking import object_in
    from retrial.core.codec import decode
    from retrial.core.keys import digest
    from retrial.memory.trajectories import Trajectory

    item = object_in(line, _fault)
    name = item.get("id") or digest([item["task_id"], item["task"], item["outcome"], item.get("steps", [])])[:12]
    return decode(Trajectory, {**item, "id": name}), item.get("tainted") is True


def _fault(item: Mapping[str, Any]) -> str:
    """What is wrong with the values of a trial; empty if nothing is."""
    from retrial.memory.trajectories import FAILED, PASSED

    checks: Sequence[tuple[str, bool]] = (
        *((name, _is_text(item.get(name, ""))) for name in _TEXTS),
        *((name, bool(item.get(name))) for name in _NEEDED),
        ("outcome", item.get("outcome") in (PASSED, FAILED)),
        *((name, _is_list(item.get(name, []), str)) for name in ("steps", "lessons", "examples")),
        ("insights", _is_list(item.get("insights", []), int)),
        ("score", _is_number(item.get("score", 0)) and 0 <= item.get("score", 0) <= 1),
        ("trial", type(item.get("trial", 1)) is int and 1 <= item.get("trial", 1) < 2**63),
        ("created_at", _is_date(item.get("created_at", ""))),
        ("tainted", isinstance(item.get("tainted", False), bool)),
    )
    return next((f"its {name} is {item.get(name)!r:.80}" for name, sound in checks if not sound), "")


def _is_text(value: object) -> bool:
    """Whether a value is a text of whole characters, which a database can keep."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _is_list(value: object, kind: type[Any]) -> bool:
    """Whether a value is a list of sound values of that kind."""
    if not isinstance(value, list):
        return False
    return all(isinstance(one, kind) and (kind is not str or _is_text(one)) for one in cast("list[object]", value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_date(value: object) -> bool:
    """Whether a value is empty or a time in ISO 8601."""
    try:
        return value == "" or bool(datetime.fromisoformat(str(value)))
    except ValueError:
        return False
