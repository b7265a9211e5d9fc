"""The command ``retrial``: its subcommands, and the one place where an error becomes a line and an exit code.

Imports click alone, so that ``retrial --help`` is quick; each command imports what it needs when it runs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from retrial.cli import exits
from retrial.cli.check import check
from retrial.cli.doctor import doctor
from retrial.cli.evaluate import evaluate
from retrial.cli.exchange import export, import_
from retrial.cli.insights import insights
from retrial.cli.lessons import lessons
from retrial.cli.new import new
from retrial.cli.resume import replay, resume
from retrial.cli.run import run
from retrial.cli.runs import runs
from retrial.cli.show import show
from retrial.cli.store import store
from retrial.cli.trajectories import trajectories
from retrial.errors import RetrialError

__all__ = ["cli", "main"]


class Boundary(click.Group):
    """A group that ends every command with an exit code, and with one line if it went wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which one meets them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a reader that went away is no error."""
        try:
            exits.UNWRITTEN.clear()
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _let_go_of_stdout()
            return exits.SOLVED
        if exits.UNWRITTEN:
            raise exits.UNWRITTEN[0]
        return code

    def main(self, args: Sequence[str] | None = None, *positional: Any, **options: Any) -> NoReturn:
        """Run the command and exit."""
        given = list(sys.argv[1:] if args is None else args)
        options["standalone_mode"] = False
        sys.exit(self._guarded(given, "--debug" in given, *positional, **options))

    def _guarded(self, given: list[str], debug: bool, *positional: Any, **options: Any) -> int:
        """Run the command and return the exit code."""
        if not _open_streams():
            _say("error: standard output is closed; send it somewhere, as in: retrial ... > FILE")
            return exits.ENVIRONMENT
        _print_whatever_comes()
        try:
            code = super().main([word for word in given if word != "--debug"], *positional, **options)
        except click.exceptions.Abort:
            _say("interrupted; nothing was begun" if {"run", "resume"} & {*given[:2]} else "interrupted")
            return exits.INTERRUPTED
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            _say(f"error: {error.format_message()}{_see(context)}")
            return exits.USAGE
        except (RetrialError, exits.Stopped, OSError) as error:
            if debug:
                raise
            _say(f"{'' if isinstance(error, exits.Stopped) else 'error: '}{_words(error)}")
            _let_go_of_stdout()
            return exits.of_error(error)
        except Exception as error:
            if debug:
                raise
            _say(f"error: a fault of retrial: {type(error).__name__}: {error}; run it again with --debug to see where")
            return exits.FAULT
        return code if isinstance(code, int) else exits.SOLVED


@click.group(
    cls=Boundary,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all solved, 1 some not, 2 interrupted, 3 a fault of retrial, 4 usage or configuration, "
    "5 nothing to run, 10 the budget ended it, 11 the environment did, 12 the gate refused the evaluator. "
    "After 2, 10 and 11: retrial resume.",
)
@click.option("--version", is_flag=True, help="Print the version.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.pass_context
def cli(context: click.Context, version: bool, debug: bool) -> None:
    """Solve checkable tasks with models: attempt, check, learn from the failure, attempt afresh."""
    del debug  # Boundary takes it out of the arguments, wherever it stands.
    if version:
        from importlib.metadata import version as installed

        click.echo(f"retrial {installed('retrial')}")
    elif context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (
    new, check, run, show, runs, resume, replay, export, import_, lessons, insights, trajectories, store, evaluate,
    doctor,
):  # fmt: skip
    cli.add_command(_command)


def main() -> NoReturn:
    """Run ``retrial``."""
    # A thousand runs at once hold a hundred thousand objects, none of them in a cycle; at the default of 700 the
    # collector goes through them so often that it takes a seventh of the time.
    gc.set_threshold(50_000, 20, 50)
    try:
        cli.main()
    except KeyboardInterrupt:
        sys.exit(exits.INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # What is left is to let go, which is no place to be stopped in.


def _see(context: click.Context | None) -> str:
    """Where the right use can be read."""
    return f" See `{context.command_path} --help`." if context is not None else ""


def _say(text: str) -> None:
    """Write one line to standard error: what others said in it cannot steer the terminal."""
    line = " ".join(part.strip() for part in text.splitlines() if part.strip())
    click.echo("".join(char if char.isprintable() else repr(char)[1:-1] for char in line), err=True)


def _words(error: Exception) -> str:
    """What an error says; one of the system's is told apart from what it is about."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    place = "a file or standard output" if error.filename is None else repr(os.fsdecode(error.filename))
    return f"cannot use {place}: {error.strerror}; free some space, check its rights, or name another place"


def _open_streams() -> bool:
    """Stand in for a stream that was closed, and tell whether there is a standard output."""
    there = sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison] - None where it was closed
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - as above
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the program
    return there


def _print_whatever_comes() -> None:
    """Let no character that a stream cannot encode end the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _let_go_of_stdout() -> None:
    """Send what is still to be written nowhere if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
