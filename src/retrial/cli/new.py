"""``retrial new``: write a task file to begin with."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import click

__all__ = ["new"]


@click.command()
@click.argument("name")
def new(name: str) -> None:
    """Write NAME.toml, a task to change into your own."""
    from retrial.errors import ConfigError
    from retrial.taskfile import TEMPLATE

    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    stem = path.name.removesuffix(".toml")
    if not re.fullmatch(r"\w[\w.-]*", stem):
        raise ConfigError(f"{name!r} cannot name a task; use letters, digits, '-' and '_', as in 'reverse-words'")
    text = TEMPLATE.format(name=stem, function=_function(stem))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigError(f"{str(path)!r} exists already; choose another name, or remove it first") from None
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; choose another place") from error
    click.echo(f"wrote {path}; change it, then: retrial run {path} --model openai:gpt-5-mini")


def _function(stem: str) -> str:
    """The Python name that comes nearest to the task's.

    >>> _function("two-sum"), _function("2sum"), _function("class")
    ('two_sum', 'task_2sum', 'class_')
    """
    name = re.sub(r"\W", "_", stem)
    if not name.isidentifier():
        name = f"task_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name
