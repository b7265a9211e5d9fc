"""Judging without a store: an engine that keeps nothing, and results in the order of what is judged."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from retrial.assembly import assemble
from retrial.core.events import RUN_FINISHED, Event
from retrial.core.tasks import Result
from retrial.engine.engine import Engine, new_run_id
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError

__all__ = ["BROKEN", "JUDGES", "Bench", "End", "opened_bench"]

JUDGES = {"actor": "scripted"}
"""The names by role, where nobody knows or asks who made an output."""

BROKEN = ("EvaluatorError", "ConfigError", "HandlerMissing", "PromptError")
"""The errors that say that the evaluator, and not the world, is at fault."""


@dataclass(frozen=True, slots=True)
class End:
    """How one judgement ended."""

    result: Result
    """What it came to."""
    error_type: str
    """What the error is called that ended it; empty if none did."""


class Bench:
    """Runs short algorithms one by one or at once."""

    def __init__(self, engine: Engine, judge: str | None) -> None:
        self._engine, self._judge = engine, judge
        self._causes: dict[str, str] = {}
        engine.observe(self._observe)

    def check(self, algorithm: Algorithm, task_id: str) -> None:
        """Refuse what needs a model where none is named.

        Raises:
            ConfigError: with the option that names one.
        """
        if algorithm.max_calls and not self._judge:
            raise ConfigError(f"task {task_id!r} is judged by a model; name it with --judge-model PROVIDER:NAME")

    async def run(self, algorithm: Algorithm, given: Mapping[str, Any]) -> End:
        """Run ``algorithm`` to its end."""
        run_id = new_run_id()
        result = await self._engine.run(algorithm, given, run_id=run_id)
        return End(result, self._causes.pop(run_id, ""))

    def _observe(self, event: Event) -> None:
        if event.kind == RUN_FINISHED and event.data.get("error_type"):
            self._causes[event.run_id] = str(event.data["error_type"])


@asynccontextmanager
async def opened_bench(options: Mapping[str, Any]) -> AsyncGenerator[Bench]:
    """Open what judges, as ``options`` of the command line say: the model, its address, a recording, the sandbox."""
    judge = options["judge_model"]
    engine = assemble(
        judge,
        keeps=False,
        base_url=options["base_url"],
        record=options["record"],
        sandbox=options["sandbox"],
        require_isolation=options["require_isolation"],
    )
    async with engine:
        yield Bench(engine, judge)
