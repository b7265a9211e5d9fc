"""What an algorithm holds: one method an effect, and nothing else of the world.

A ``Run`` is a scope of names. Its methods build calls without starting them; awaiting a call performs it or returns
what was recorded. ``gather`` performs several at once, after reserving all of them.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from retrial.core.effects import CallHost, CallModel, CallTool, Effect, Recall, Remember, RunCommand, RunTests
from retrial.core.events import COMPLETED, FAILED, REQUESTED
from retrial.core.keys import join, valid_name
from retrial.core.messages import ModelRequest, ModelResponse, ToolResult
from retrial.core.reports import CommandReport, TestReport
from retrial.core.tasks import Outcome
from retrial.engine.account import Account
from retrial.engine.session import Session
from retrial.errors import ConfigError, DuplicateKey, EffectError, EvaluatorError, RetrialError

__all__ = ["Algorithm", "Branch", "Call", "Failed", "Run"]

T = TypeVar("T")


class Algorithm(Protocol):
    """Control flow: an async function over a run, with its limits stated."""

    @property
    def name(self) -> str:
        """The name under which runs are recorded."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever old unfinished runs can no longer be resumed."""
        ...

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        ...

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what it does, as JSON values; a resume compares them."""
        ...

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Do the work. ``given`` is the run's input, JSON values."""
        ...


@dataclass(frozen=True, slots=True)
class Failed:
    """The place in a gathered batch of something that failed."""

    error: RetrialError
    """What failed; ``error.keys`` names the effects."""


class Call(Generic[T]):
    """One effect that was named and not started. Await it, or hand it to ``Run.gather``."""

    __slots__ = ("_account", "_session", "_started", "effect", "key")

    def __init__(self, session: Session, account: Account, key: str, effect: Effect) -> None:
        self._session = session
        self._account = account
        self._started = False
        self.key = session.claim(key)
        self.effect = effect

    def __await__(self) -> Generator[Any, Any, T]:
        self._account.reserve(self.max_calls, 0.0 if self.recorded else self._session.seconds)
        return self.start().__await__()

    @property
    def max_calls(self) -> int:
        """How many model calls it makes: 1 or 0."""
        return 1 if isinstance(self.effect, CallModel) else 0

    @property
    def recorded(self) -> bool:
        """Whether the journal holds what became of it."""
        return self._session.has_outcome(self.key)

    async def start(self) -> T:
        """Perform it within a reservation that was made before.

        Raises:
            DuplicateKey: if it was started before.
        """
        if self._started:
            raise DuplicateKey(f"{self.key!r} is awaited twice; keep its outcome and use that")
        self._started = True
        outcome: Any = await self._session.perform(self.key, self.effect)
        if isinstance(outcome, ModelResponse):
            self._account.charge(outcome.usage)
        return cast("T", outcome)


class Branch(Generic[T]):
    """One of several things that run at once, with a scope and an allowance of calls of its own."""

    __slots__ = ("_function", "_run", "max_calls")

    def __init__(self, run: Run, function: Callable[[Run], Awaitable[T]], max_calls: int) -> None:
        self._run = run
        self._function = function
        self.max_calls = max_calls

    async def start(self) -> T:
        """Run the branch within its allowance."""
        return await self._function(self._run)

    def settle(self, account: Account) -> None:
        """Give back to ``account`` what was not used."""
        account.settle(self._run.account, self.max_calls)


class Run:
    """A scope of names within one run."""

    __slots__ = ("_session", "account", "path")

    def __init__(self, session: Session, account: Account, path: str = "") -> None:
        self._session = session
        self.account = account
        self.path = path

    @property
    def id(self) -> str:
        """The run's id."""
        return self._session.run_id

    def child(self, name: str) -> Run:
        """Return the scope ``name`` within this one. A loop's counter belongs into the name: ``trial.2``."""
        return Run(self._session, self.account, join(self.path, valid_name(name)))

    def branch(self, name: str, function: Callable[[Run], Awaitable[T]], *, max_calls: int) -> Branch[T]:
        """Make a branch for ``gather``: ``function`` gets the scope ``name`` and may make ``max_calls`` model calls.

        Raises:
            ConfigError: if ``max_calls`` is below 0.
        """
        if max_calls < 0:
            raise ConfigError(f"branch {name!r}: max_calls={max_calls!r} must be at least 0")
        scope = Run(self._session, self.account.allowance(max_calls), join(self.path, valid_name(name)))
        return Branch(scope, function, max_calls)

    def model(self, name: str, request: ModelRequest) -> Call[ModelResponse]:
        """Ask a model."""
        return self._call(name, CallModel(request=request))

    def tool(self, name: str, tool: str, arguments: Mapping[str, Any], *, repeatable: bool = False) -> Call[ToolResult]:
        """Call a tool. ``repeatable`` says that calling it twice costs and changes nothing."""
        return self._call(name, CallTool(tool=tool, arguments=arguments, repeatable=repeatable))

    def tests(self, name: str, tests: RunTests) -> Call[TestReport]:
        """Run tests against a reply, in the sandbox."""
        return self._call(name, tests)

    def command(self, name: str, command: RunCommand) -> Call[CommandReport]:
        """Run a command, in the sandbox."""
        return self._call(name, command)

    def host(self, name: str, function: str, arguments: Mapping[str, Any], *, repeatable: bool = False) -> Call[Any]:
        """Call a function that the host registered; the outcome is a JSON value.

        ``repeatable`` says that calling it twice costs and changes nothing.
        """
        return self._call(name, CallHost(function=function, arguments=arguments, repeatable=repeatable))

    def recall(self, name: str, memory: str, query: Mapping[str, Any]) -> Call[Any]:
        """Read from a memory."""
        return self._call(name, Recall(memory=memory, query=query))

    def remember(self, name: str, memory: str, item: Mapping[str, Any]) -> Call[Any]:
        """Write to a memory."""
        return self._call(name, Remember(memory=memory, item=item))

    async def gather(self, *jobs: Call[T] | Branch[T]) -> list[T | Failed]:
        """Perform all jobs at once and return their outcomes in the order of the arguments.

        All their model calls are reserved first, so either the whole batch starts or none of it. A job that failed
        for good leaves ``Failed`` in its place; every job is awaited, whatever the others do.

        Raises:
            BudgetExceeded: if the budget does not hold the batch, or a branch outgrew its allowance.
        """
        # Whether a branch is recorded whole cannot be known before it runs; the past ends with the first effect
        # that was performed.
        live = any(self._session.performed if isinstance(job, Branch) else not job.recorded for job in jobs)
        self.account.reserve(sum(job.max_calls for job in jobs), self._session.seconds if live else 0.0)
        ends = await asyncio.gather(*(job.start() for job in jobs), return_exceptions=True)
        for job in jobs:
            if isinstance(job, Branch):
                job.settle(self.account)
        found: list[T | Failed] = []
        for end in ends:
            if isinstance(end, (EffectError, EvaluatorError)):
                found.append(Failed(end))
            elif isinstance(end, BaseException):
                raise end
            else:
                found.append(end)
        return found

    def note(self, name: str, data: Mapping[str, Any]) -> None:
        """State a fact for the views, such as ``reflexion.lesson``; JSON values.

        Raises:
            ConfigError: if the name is one that the engine uses itself.
        """
        if name.startswith("run.") or name.rpartition(".")[2] in (REQUESTED, COMPLETED, FAILED):
            raise ConfigError(f"{name!r} is a kind of event that the engine writes; give the note another name")
        self._session.note(self._session.claim(join(self.path, valid_name(name))), name, data)

    def now(self, name: str) -> str:
        """Return the time as ISO 8601 in UTC; a replay returns the same."""
        return self._session.now(self._session.claim(join(self.path, valid_name(name))))

    def random(self, name: str) -> random.Random:
        """Return a source of randomness that is the same on every replay of this run."""
        key = self._session.claim(join(self.path, valid_name(name)))
        return random.Random(f"{self.id}:{key}")  # noqa: S311 - experiments, not secrets

    def keep(self, value: Callable[[], Any]) -> None:
        """Say how to make the run's value if it should be ended now: by its budget, a failure or a person.

        Only the outermost algorithm's word counts: one that acts within another has its say in the other's value.
        """
        if not self.path:
            self._session.kept = value

    def _call(self, name: str, effect: Effect) -> Call[Any]:
        return Call(self._session, self.account, join(self.path, valid_name(name)), effect)
