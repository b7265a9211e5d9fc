"""What a person sees while runs go on: the trials as they come, or a bar for many tasks. Fed with events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as Remaining

from retrial.cli.render import lesson_lines, money, short, trial_lines
from retrial.cli.screen import Screen
from retrial.core.codec import decode
from retrial.core.events import RUN_FINISHED, RUN_RESUMED, Event
from retrial.core.tasks import Attempt, Lesson

__all__ = ["Live"]

_DOING = {
    "actor": "the actor is at work",
    "reflector": "a lesson is being written",
    "tests": "the tests are running",
}


class Live:
    """Shows runs as they go on. One run is told trial by trial; of several the bar says where they stand."""

    def __init__(
        self, screen: Screen, tasks: Mapping[str, str], begin: Callable[[str], None], *, verbose: bool = False
    ) -> None:
        """Show the runs in ``tasks`` (task ids by run id); ``begin`` prints the header of one."""
        self._screen = screen
        self._tasks = tasks
        self._begin = begin
        self._single = len(tasks) == 1
        self._tells = self._single or verbose
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._running: dict[str, None] = {}
        self._failing: set[str] = set()
        self._asked_again: set[tuple[str, str]] = set()
        self._solved = 0
        self._tokens = 0
        self._cost: float | None = 0.0
        columns: list[Any] = [SpinnerColumn()] if not screen.plain else []
        if self._single:
            columns += [TextColumn("{task.description}", markup=False), TimeElapsedColumn()]
        else:
            columns += [BarColumn(bar_width=24), MofNCompleteColumn(), Remaining()]
            columns += [TextColumn("{task.description}", markup=False)]
        # Lines that go through a pipe may come out on the same terminal, in the middle of the bar.
        mixed = self._tells and not screen.as_json and not screen.out.is_terminal
        hidden = mixed or not screen.err.is_terminal
        self._progress = Progress(*columns, console=screen.err, transient=True, redirect_stdout=False, disable=hidden)
        self._bar = self._progress.add_task("starting", total=len(tasks))

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def observe(self, event: Event) -> None:
        """Take in one event."""
        run_id = event.run_id
        if run_id not in self._tasks:
            return
        if event.kind == RUN_RESUMED:
            self._running[run_id] = None
            self._tell(run_id, lambda: self._begin(run_id))
        elif event.kind == RUN_FINISHED:
            self._running.pop(run_id, None)
            self._failing.discard(run_id)
            self._solved += event.data["status"] == "COMPLETED"
            self._progress.advance(self._bar)
        elif event.kind == "reflexion.feedback":
            attempt = decode(Attempt, event.data["attempt"])
            (self._failing.discard if attempt.verdict.passed else self._failing.add)(run_id)
            self._tell(run_id, lambda: trial_lines(self._screen, attempt))
        elif event.kind == "reflexion.lesson":
            lesson = decode(Lesson, event.data["lesson"])
            again = (run_id, event.key.rpartition("/")[0]) in self._asked_again
            self._tell(run_id, lambda: lesson_lines(self._screen, lesson, again=again))
        elif event.kind == "model.completed":
            if event.key.endswith("/reflector.again"):
                self._asked_again.add((run_id, event.key.rpartition("/")[0]))
            self._spend(event.data["outcome"].get("usage", {}))
        self._progress.update(self._bar, description=self._screen.shown(self._words(event)))

    def finish(self, run_id: str, tell: Callable[[], None]) -> None:
        """Tell what is left to tell about a run that ended, its trials first."""
        if not self._tells:
            return
        for job in [*self._waiting.pop(run_id, []), tell]:
            self._print(job)

    def _tell(self, run_id: str, job: Callable[[], None]) -> None:
        """Print at once if there is one run; else keep it together with the rest of its run."""
        if self._single:
            self._print(job)
        elif self._tells:
            self._waiting.setdefault(run_id, []).append(job)

    def _print(self, job: Callable[[], None]) -> None:
        """Print above the bar, where both go to one terminal."""
        screen = self._screen
        before, screen.out = (
            screen.out,
            (screen.err if screen.out.is_terminal and screen.err.is_terminal else screen.out),
        )
        try:
            job()
        finally:
            screen.out = before

    def _spend(self, usage: Mapping[str, Any]) -> None:
        """Add what a call used."""
        self._tokens += usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        cost = usage.get("cost_usd", 0.0)
        self._cost = None if cost is None or self._cost is None else self._cost + cost

    def _words(self, event: Event) -> str:
        """What stands beside the bar."""
        if self._single:
            scope, _, name = event.key.rpartition("/")
            doing = _DOING.get(name.partition(".")[0], "working")
            return f"{scope.replace('.', ' ')}: {doing}" if scope.startswith("trial.") else doing
        now = [short(self._tasks[run_id]) for run_id in list(self._running)[:2]]
        more = len(self._running) - len(now)
        names = ", ".join(name if len(name) <= 16 else f"{name[:15]}…" for name in now)
        return (
            f"{self._solved} solved · {len(self._failing)} failing · {money(self._cost)}"
            f" · {names}{f' +{more}' if more > 0 else ''}"
        )
