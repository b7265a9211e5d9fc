"""``retrial store``: the file in which everything is kept."""

from __future__ import annotations

import os

import click

from retrial.cli.options import as_json, store_option

__all__ = ["store"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def store() -> None:
    """Look after the file in which runs and lessons are kept."""


@store.command()
@store_option
@as_json
def compact(store: str | None, as_json: bool) -> None:
    """Rewrite the file without what was deleted, and empty its log. Needs as much free space as the file has."""
    from retrial.assembly import store_path
    from retrial.cli.hints import command
    from retrial.cli.screen import Screen
    from retrial.errors import ConfigError
    from retrial.store.erasing import compact as rewritten

    path = store_path(store)
    if not os.path.exists(path):  # noqa: PTH110 - a name, as the store has it
        raise ConfigError(f"there is no store {path!r} yet; `{command('run TASK', store)}` makes it")
    before, after = rewritten(path)
    screen = Screen(as_json=as_json, store=store)
    if as_json:
        screen.json({"store": path, "bytes_before": before, "bytes_after": after})
    else:
        screen.line(f"{path}: {before:,} bytes before, {after:,} now")
