"""Standard output and error as consoles: what they can show, and what must not reach them.

Text that a model, a program or a file made is never markup and never steers the terminal: whatever is printed here is
plain text whose control characters are written out.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from retrial.cli import exits
from retrial.cli.hints import command

__all__ = ["PIPE_WIDTH", "Screen", "harmless"]

PIPE_WIDTH = 120
"""Columns of tables and of wrapped text where there is no terminal and COLUMNS is not set."""

_BIDIRECTIONAL = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_PLAIN = {"✓": "ok", "✗": "no", "·": "-", "…": "...", "█": "#", "→": "->"}


def harmless(text: str) -> str:
    r"""Return ``text`` with everything written out that could steer a terminal or hide what stands there.

    >>> harmless("a\x1b[2Jb\r\nc")
    'a\\x1b[2Jb\nc'
    """
    text = text.replace("\r\n", "\n").expandtabs(4)
    return "".join(char if char == "\n" or not _steers(char) else ascii(char)[1:-1] for char in text)


def _steers(char: str) -> bool:
    """Whether a character does something else than stand there, or is none at all."""
    return unicodedata.category(char) in ("Cc", "Cs") or char in _BIDIRECTIONAL


class _Pipe(Console):
    """A console that falls silent when it cannot write, instead of ending the work that it tells of."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; what a full disk keeps back is reported when the command ends."""
        try:
            super().print(*objects, **options)
        except OSError as error:
            if self.file is sys.stdout:
                exits.UNWRITTEN.append(error)
            self._fall_silent()

    def on_broken_pipe(self) -> None:
        """Send the rest nowhere: nobody reads it."""
        self._fall_silent()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def _fall_silent(self) -> None:
        self.quiet = True
        self.file = io.StringIO()


class Screen:
    """Where a command writes: ``out`` for results, ``err`` for progress and for what a person should know besides."""

    def __init__(self, *, as_json: bool = False, store: str | None = None) -> None:
        """Open both; with ``as_json`` everything readable goes to standard error. ``store`` is what hints name."""
        self._store = store
        self._noted: set[str] = set()
        self.err = _console(sys.stderr)
        self.out = self.err if as_json else _console(sys.stdout)
        self.as_json = as_json
        self.plain = not all(_can_show(console, "✓✗·…█") for console in (self.out, self.err))

    def text(self, *parts: str | tuple[str, str]) -> Text:
        """Put text together from parts, each plain or with a style."""
        text = Text()
        for part in parts:
            words, style = (part, "") if isinstance(part, str) else part
            text.append(self.shown(words), style)
        return text

    def shown(self, words: str) -> str:
        """Return words as they can be shown here."""
        words = harmless(words)
        if self.plain:
            words = "".join(_PLAIN.get(char, char) for char in words)
        return words

    def sign(self, passed: bool) -> Text:
        """Return the sign of a check."""
        return self.text(("✓", "green") if passed else ("✗", "red"))

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print one line of results."""
        self.out.print(self.text(*parts), soft_wrap=not self.out.is_terminal)

    def show(self, item: RenderableType) -> None:
        """Print something of rich's, made of texts from here; what fills a line up is left out where no one sees it."""
        if self.out.is_terminal:
            self.out.print(item)
            return
        with self.out.capture() as taken:
            self.out.print(item)
        lines = taken.get().splitlines()
        self.out.print(Text("\n".join(line.rstrip() for line in lines)), soft_wrap=True)

    def verbatim(self, words: str) -> None:
        """Print text line for line, never wrapped, so that it can be copied."""
        self.out.print(Text(self.shown(words)), soft_wrap=True)

    def remark(self, words: str) -> None:
        """Print a line that is no result, on standard error."""
        self.err.print(self.text((words, "dim")), soft_wrap=not self.err.is_terminal)

    def note(self, words: str) -> None:
        """Print a remark, unless it has been printed."""
        if words not in self._noted:
            self._noted.add(words)
            self.remark(f"note: {words}")

    def command(self, words: str) -> str:
        """Return a command that works on the same store."""
        return command(words, self._store)

    def json(self, value: object) -> None:
        """Print the one JSON object that standard output holds."""
        import json

        try:
            sys.stdout.write(json.dumps(value, indent=2) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _console(stream: TextIO) -> Console:
    """A console on ``stream``."""
    width = None if stream.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    return _Pipe(file=stream, width=width, highlight=False, markup=False, emoji=False)


def _can_show(console: Console, chars: str) -> bool:
    """Whether the console's encoding holds all of ``chars``."""
    try:
        chars.encode(console.encoding)
    except UnicodeEncodeError:
        return False
    return True
