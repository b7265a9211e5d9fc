"""``retrial doctor``: what this machine can do, and what is missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrial.cli import exits
from retrial.cli.options import as_json, store_option

if TYPE_CHECKING:
    from retrial.cli.screen import Screen

__all__ = ["doctor"]

EXTRAS = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
"""The extras, and the module that shows that one is installed."""

KEYS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "GROQ_API_KEY",
    "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "CO_API_KEY",
    "XAI_API_KEY", "MOONSHOTAI_API_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_BASE_URL",
    "RETRIAL_MODEL", "RETRIAL_STORE",
)  # fmt: skip
"""Variables that are looked for; their values are never read further than whether there is one."""


@click.command()
@store_option
@as_json
def doctor(store: str | None, as_json: bool) -> int:
    """Show what holds here: isolation, store, providers."""
    from retrial.cli.screen import Screen

    screen = Screen(as_json=as_json, store=store)
    found = _examine(store)
    if as_json:
        screen.json(found)
    else:
        _print(screen, found)
    return exits.SOLVED if found["isolation"]["chosen"] and found["store"]["usable"] else exits.ENVIRONMENT


def _examine(store: str | None) -> dict[str, Any]:
    """Everything, as JSON values."""
    from retrial.assembly import store_path
    from retrial.core.codec import encode
    from retrial.sandbox.doctor import examine

    levels = examine()
    chosen = next((one.level for one in levels if one.available and one.level != "limited"), None)
    return {
        "python": {"version": sys.version.split()[0], "executable": sys.executable},
        "isolation": {"chosen": chosen, "levels": [_level(one, encode(one)) for one in levels]},
        "store": _store(Path(store_path(store))),
        "extras": {name: _installed(module) for name, module in EXTRAS.items()},
        "prices": _installed("genai_prices"),
        "variables": [name for name in KEYS if os.environ.get(name)],
    }


def _level(report: Any, values: dict[str, Any]) -> dict[str, Any]:
    """A level's report with every field present."""
    probes = [{"name": one.name, "blocked": one.blocked, "detail": one.detail} for one in report.probes]
    return {"reason": "", "isolation": None, **values, "probes": probes}


def _installed(module: str) -> bool:
    """Whether a module could be imported."""
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _store(path: Path) -> dict[str, Any]:
    """Whether the store's folder can hold a database that several processes share."""
    import contextlib
    import sqlite3
    import tempfile

    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    found = {"path": str(path), "exists": path.exists(), "sqlite": sqlite3.sqlite_version, "usable": True, "reason": ""}
    try:
        with (
            tempfile.TemporaryDirectory(dir=folder, prefix=".retrial-") as trial,
            contextlib.closing(sqlite3.connect(Path(trial, "trial.db"))) as connection,
        ):
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            connection.execute("CREATE TABLE t (x)")
            connection.commit()
    except (OSError, sqlite3.Error) as error:
        reason = f"{folder} cannot hold it ({error}); name another file with --store or RETRIAL_STORE"
        return {**found, "usable": False, "reason": reason}
    if mode != "wal":
        reason = f"{folder} does not support write-ahead logging; name a file on a local disk"
        return {**found, "usable": False, "reason": reason}
    return found


def _print(screen: Screen, found: dict[str, Any]) -> None:
    """Print what was found."""
    isolation = found["isolation"]
    _print_probes(screen, isolation["levels"])
    for level in isolation["levels"]:
        if level["reason"]:
            screen.line((f"{level['level']}: ", "yellow"), level["reason"])
        elif level["isolation"]:
            screen.line((f"{level['level']}: ", "bold"), level["isolation"]["mechanism"])
    chosen = isolation["chosen"]
    advice = "none holds, so tests will not run; --sandbox limited runs them without isolation"
    screen.line(("in use    ", "bold"), (chosen, "green") if chosen else (advice, "red"))
    screen.line()
    screen.line(("python    ", "bold"), f"{found['python']['version']}  {found['python']['executable']}")
    store = found["store"]
    state = "write-ahead logging works" if store["usable"] else store["reason"]
    exists = "" if store["exists"] else " (not made yet)"
    screen.line(("store     ", "bold"), f"{store['path']}{exists}  SQLite {store['sqlite']}, {state}")
    for name, installed in found["extras"].items():
        here = "installed" if installed else f'missing; pip install "pydantic-ai-slim[{name}]"'
        screen.line((f"{name:<10}", "bold"), here)
    screen.line((f"{'prices':<10}", "bold"), "installed" if found["prices"] else "missing; they come with any extra")
    screen.line(("set       ", "bold"), ", ".join(found["variables"]) or "no key and no RETRIAL_ variable")


def _print_probes(screen: Screen, levels: list[dict[str, Any]]) -> None:
    """Print what was tried from inside each level, and whether it was blocked."""
    from retrial.cli.render import new_table

    table = new_table(("tried from inside", *(level["level"] for level in levels)))
    blocked = [{probe["name"]: probe["blocked"] for probe in level["probes"]} for level in levels]
    for name in dict.fromkeys(name for level in blocked for name in level):
        cells = [
            screen.text(("✓ blocked", "green") if level[name] else ("✗ open", "red")) if name in level else ""
            for level in blocked
        ]
        table.add_row(name, *cells)
    table.add_row("", *("" if level["available"] else screen.text(("not available", "yellow")) for level in levels))
    screen.show(table)
