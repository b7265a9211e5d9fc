"""A bar for work whose results are lines: on standard error, and only where it disturbs nobody."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from retrial.cli.screen import Screen

__all__ = ["Bar"]


class Bar:
    """How much of the work is done. It is hidden where results go to the same terminal, unless they are printed above.

    Args:
        screen: where it is drawn.
        total: how much work there is; None where nobody knows.
        beside: whether results are written to the terminal by other means than ``screen``.
    """

    def __init__(self, screen: Screen, total: float | None, *, beside: bool = False) -> None:
        columns: list[Any] = [BarColumn(bar_width=24)]
        columns += [TimeElapsedColumn()] if total is None else [TaskProgressColumn(), TimeRemainingColumn()]
        columns += [TextColumn("{task.description}", markup=False)]
        mixed = beside or (screen.out.is_terminal and screen.out is not screen.err)
        hidden = mixed or not screen.err.is_terminal
        self._screen = screen
        self._progress = Progress(*columns, console=screen.err, transient=True, redirect_stdout=False, disable=hidden)
        self._bar = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, amount: float, words: str = "") -> None:
        """Say that so much more is done, with ``words`` beside the bar."""
        self._progress.update(self._bar, advance=amount, description=self._screen.shown(words))
