"""Extractions of insights beside the tasks: waiting for them when the tasks are done, and what came of them."""

from __future__ import annotations

import asyncio

from retrial.cli import exits
from retrial.cli.render import plural
from retrial.cli.screen import Screen
from retrial.core.tasks import Result, Status
from retrial.engine.engine import Engine

__all__ = ["Extractions"]


class Extractions:
    """What a command does about the runs that it did not start itself."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._ends: list[Result | Exception] = []
        self._interrupted = False

    async def settle(self, engine: Engine) -> None:
        """Wait until they have ended, and say so; being interrupted leaves them to be resumed."""
        if engine.busy:
            what = plural(engine.busy, "extraction")
            self._screen.remark(f"waiting for {what} of insights; Ctrl-C leaves it for the next run with --insights")
        try:
            self._ends = await engine.settled()
        except asyncio.CancelledError:
            self._interrupted = True

    def report(self, code: int) -> int:
        """Say what came of them, and return the exit code: that of an interruption, or else the command's own."""
        for end in self._ends:
            if isinstance(end, Result) and end.status is Status.COMPLETED:
                value = end.value
                left_out = f", {plural(value['skipped'], 'line')} skipped" if value["skipped"] else ""
                kept = plural(value["insights"], "insight")
                self._screen.remark(f"insights: {plural(value['applied'], 'operation')} applied{left_out}; {kept} now")
            elif isinstance(end, Result) and end.status is Status.BUDGET_EXCEEDED:
                self._screen.remark(f"an extraction of insights waits for the next run with --insights, as {end.error}")
            elif isinstance(end, Result):
                again = self._screen.command(f"resume {end.run_id}")
                self._screen.remark(f"an extraction of insights has not ended ({end.error}); go on: {again}")
            else:
                self._screen.remark(f"an extraction of insights has not ended ({end})")
        if self._interrupted:
            self._screen.remark(
                "an extraction of insights was interrupted; the next run with --insights goes on with it"
            )
            return exits.INTERRUPTED
        return code
