"""Working on runs: from options to an engine, from an engine to results, whatever ends it in between.

All runs of an invocation are written down before any of them is worked on, so that whatever ends the process leaves
every one of them in the store, to be resumed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeVar

from retrial.assembly import assemble, store_path
from retrial.cli import exits
from retrial.cli.extracting import Extractions
from retrial.cli.hints import remedy
from retrial.cli.progress import Live
from retrial.cli.render import closing, header
from retrial.cli.reports import report
from retrial.cli.screen import Screen
from retrial.cli.suspects import say
from retrial.core.budget import Budget
from retrial.core.events import RUN_FINISHED, Event
from retrial.core.tasks import Result
from retrial.engine.engine import Engine
from retrial.engine.run import Algorithm
from retrial.errors import JournalError, ReplayError, RetrialError, RunBusy
from retrial.log.views import result_of
from retrial.memory.poison import Finding
from retrial.models.resolve import client_for, describe
from retrial.sandbox.opening import open_sandbox
from retrial.store.lessons import LessonBook
from retrial.store.sqlite import SqliteStore

__all__ = ["Job", "Setup", "asynchronously", "carry_out", "label_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an engine is put together from."""

    actor: str
    """The model, as the user named it."""
    reflector: str | None = None
    """The model that writes lessons, where it is another one."""
    judge: str | None = None
    """The model that judges, where it is another one."""
    base_url: str | None = None
    """Where the models are served."""
    record: str | None = None
    """A file to append every reply to."""
    store: str | None = None
    """The store; None for the default."""
    sandbox: str | None = None
    """The level of isolation that was chosen."""
    require: str | None = None
    """The weakest level of isolation that will do."""
    learning: Budget | None = None
    """What all extractions of insights may use together; None for what each task may."""

    def engine(self, budget: Budget) -> Engine:
        """Put the engine together; ``budget`` is only looked at for whether it needs prices."""
        others = {"reflector": self.reflector, "judge": self.judge}
        return assemble(
            self.actor,
            models={role: model for role, model in others.items() if model and model != self.actor},
            store=store_path(self.store),
            budget=budget,
            base_url=self.base_url,
            record=self.record,
            sandbox=self.sandbox,
            require_isolation=self.require,
            about=self.metadata(self.actor),
            learning=self.learning,
        )

    def metadata(self, label: str) -> Mapping[str, Any]:
        """Return what a run records, so that ``of_run`` makes the same setup again. It holds no secret."""
        models = {"actor": self.actor, "reflector": self.reflector or self.actor, "judge": self.judge or self.actor}
        optional = {"base_url": _public(self.base_url), "sandbox": self.sandbox, "require_isolation": self.require}
        return {"models": models, "label": label, **{name: value for name, value in optional.items() if value}}

    @classmethod
    def of_run(cls, start: Mapping[str, Any], *, model: str | None, store: str | None, record: str | None) -> Setup:
        """Make the setup that a run recorded, with another ``model`` if one is given."""
        known = start.get("metadata", {})
        models = known.get("models", {})
        actor = model or models.get("actor")
        if not actor:
            raise exits.Stopped("error: the run does not say which model it asked; name one with --model", exits.USAGE)
        return cls(
            actor=actor,
            reflector=actor if model else models.get("reflector"),
            judge=models.get("judge"),
            base_url=known.get("base_url"),
            record=record,
            store=store,
            sandbox=known.get("sandbox"),
            require=known.get("require_isolation"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run to work on."""

    run_id: str
    """The run."""
    task_id: str
    """The task that it is about."""
    algorithm: Algorithm
    """What runs."""
    given: Mapping[str, Any] | None = None
    """The input of a run that is still to be written down; None for one that is in the store."""
    budget: Budget | None = None
    """What it may use; None for what the store says."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What is recorded beside the input."""


def carry_out(
    setup: Setup, jobs: Sequence[Job], screen: Screen, *, batch: str, at_once: int, verbose: bool, adopt: bool = False
) -> int:
    """Work on ``jobs``, show it, print the results and return the exit code. ``batch`` is what resumes them all."""
    level = open_sandbox(setup.sandbox, setup.require).isolation.level  # Refused here, nothing has been paid for.
    label = label_of(setup, screen)
    tasks = {job.run_id: job.task_id for job in jobs}
    # Each run has a budget of its own; the engine is told one so that a dollar limit without a price is refused.
    engine_budget = next((job.budget for job in jobs if job.budget is not None), Budget())
    ends: dict[str, Result | RetrialError] = {}
    causes: dict[str, str] = {}
    written: list[bool] = []
    suspects: list[tuple[list[Finding], list[str]]] = []
    again = screen.command(f"resume {batch}")
    extractions = Extractions(screen)

    def ended(event: Event) -> None:
        if event.kind == RUN_FINISHED:
            causes[event.run_id] = str(event.data.get("error_type", ""))

    def done(job: Job, end: Result | RetrialError) -> None:
        ends[job.run_id] = end
        if isinstance(end, Result) and len(jobs) > 1:
            live.finish(job.run_id, lambda: closing(screen, end))

    async def session() -> bool:
        async with setup.engine(engine_budget) as engine:
            engine.observe(live.observe)
            engine.observe(ended)
            try:
                await _write_down(engine, jobs)
                written.append(True)
                await _work_on(engine, jobs, at_once, adopt, done)
                suspects.append(await _checked(engine, jobs))
            except asyncio.CancelledError:
                await _read_the_rest(engine, jobs, ends)
                return True
            await extractions.settle(engine)
            return False

    with Live(screen, tasks, lambda run: header(screen, tasks[run], label, level), verbose=verbose) as live:
        interrupted = _to_the_end(session(), screen, again, written)
    if interrupted and not ends:
        raise KeyboardInterrupt
    keeps = any(getattr(job.algorithm, "store_lessons", False) for job in jobs)
    code = report(screen, batch, tasks, ends, label=label, causes=causes, interrupted=interrupted, keeps=keeps)
    for findings, quarantined in suspects:
        say(screen, findings, quarantined)
    return extractions.report(code)


async def _checked(engine: Engine, jobs: Sequence[Job]) -> tuple[list[Finding], list[str]]:
    """Look for lessons that do harm, where what was remembered was told."""
    if isinstance(engine.journal, SqliteStore) and any(
        getattr(job.algorithm, "start_from_stored", False) for job in jobs
    ):
        return await LessonBook(engine.journal.writer).check()
    return [], []


def _to_the_end(session: Coroutine[Any, Any, bool], screen: Screen, again: str, written: list[bool]) -> bool:
    """Work, and tell whether it was interrupted; whatever breaks off runs that are ``written``, say how to go on."""
    try:
        return asynchronously(session)
    except KeyboardInterrupt:
        if not written:
            raise
        raise exits.Stopped(f"interrupted; go on: {again}", exits.INTERRUPTED) from None
    except (RetrialError, OSError) as error:
        if written:
            how = remedy(type(error).__name__, again) or f"go on with: {again}"
            screen.remark(f"what was recorded before is safe; {how}")
        raise


def label_of(setup: Setup, screen: Screen) -> str:
    """Return what output calls the replies, so that nobody takes a recording for a fresh answer."""
    names: list[str] = []
    for spec in dict.fromkeys((setup.actor, setup.reflector or setup.actor)):
        if spec.startswith("recorded:"):
            client = client_for(spec)
            names.append(describe(client))
            warning = getattr(client, "warning", "")
            if warning:
                screen.note(warning)
        else:
            names.append(spec)
    return " and ".join(names)


def asynchronously(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` in an event loop; Ctrl-C and a polite kill cancel it, the second one at once.

    After the first, its end is being written down, and after the second nothing but ending is left to do: from there
    on Ctrl-C is not listened to.

    Raises:
        KeyboardInterrupt: if it was cancelled and did not end by itself.
    """
    taken: list[int] = []
    before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}

    async def guarded() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()

        def end(number: int, _: FrameType | None) -> None:
            taken.append(number)
            if len(taken) > 1:
                _listen_no_more()
                raise KeyboardInterrupt
            if task is not None:
                task.cancel()
            loop.call_soon_threadsafe(lambda: None)  # Wakes the loop, which may be waiting for something else.

        with contextlib.suppress(ValueError):  # Only the main thread is told of signals.
            for sign, handler in before.items():
                if handler is not signal.SIG_IGN:  # In the background Ctrl-C is meant for somebody else.
                    signal.signal(sign, end)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        with contextlib.suppress(ValueError):
            for sign, handler in before.items():
                signal.signal(sign, handler)
        if taken:
            _listen_no_more()


def _listen_no_more() -> None:
    """Let Ctrl-C pass while the program ends, and say nothing of tasks that are left in the middle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)


async def _write_down(engine: Engine, jobs: Sequence[Job]) -> None:
    """Write down the runs that are not in the store yet."""
    waiting = [
        engine.create(job.algorithm, job.given, run_id=job.run_id, budget=job.budget, metadata=job.metadata)
        for job in jobs
        if job.given is not None
    ]
    await asyncio.gather(*waiting)


async def _work_on(
    engine: Engine,
    jobs: Sequence[Job],
    at_once: int,
    adopt: bool,
    done: Callable[[Job, Result | RetrialError], None],
) -> None:
    """Work on all jobs. What is wrong with one run leaves the others alone; what is wrong with more ends them all."""
    gate = asyncio.Semaphore(at_once)

    async def one(job: Job) -> None:
        async with gate:
            budget = job.budget if job.given is None else None
            try:
                done(job, await engine.resume(job.run_id, job.algorithm, budget=budget, adopt=adopt))
            except (ReplayError, RunBusy) as error:
                done(job, error)

    work = [asyncio.create_task(one(job)) for job in jobs]
    try:
        await asyncio.wait(work, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in work:
            task.cancel()
        ends = await asyncio.gather(*work, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end


async def _read_the_rest(engine: Engine, jobs: Sequence[Job], ends: dict[str, Result | RetrialError]) -> None:
    """Look up how the runs stand that were not worked on to their end."""
    for job in jobs:
        if job.run_id not in ends:
            with contextlib.suppress(JournalError):  # One that was not written down yet has nothing to tell.
                ends[job.run_id] = result_of(await engine.journal.events(job.run_id))


def _public(url: str | None) -> str | None:
    """An address without the user name and password that may stand in it."""
    if url is None or "@" not in url:
        return url
    start, _, rest = url.partition("://")
    return f"{start}://{rest.rpartition('@')[2]}"
