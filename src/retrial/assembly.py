"""The one place that knows every part: from a configuration to an engine with its store and handlers attached."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Result, Task
from retrial.engine.engine import Engine
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.evaluate.person import PersonHandler
from retrial.evaluate.pydantic_model import PydanticHandler
from retrial.evaluate.sql_handler import SqlHandler
from retrial.gating import gate_for, judged_by, pass_gate
from retrial.log.journal import NoJournal
from retrial.models.client import ModelClient
from retrial.models.fake import FakeLLMClient
from retrial.models.handler import LLMHandler
from retrial.models.resolve import client_for, is_priced
from retrial.models.transport import Limits
from retrial.recipes import recorded
from retrial.sandbox.opening import open_sandbox
from retrial.store.lessons import LessonBook
from retrial.store.sqlite import SqliteStore
from retrial.taskfile import case_tests
from retrial.testbench.handler import TestsHandler
from retrial.workbench.handler import CommandHandler
from retrial.workbench.placing import judged_by_command, placed, with_files

__all__ = ["DEFAULT_STORE", "Model", "algorithm_for", "assemble", "model_name", "solve", "solve_async", "store_path"]

Model = str | ModelClient | Callable[[ModelRequest], ModelResponse | str | Awaitable[ModelResponse | str]]
"""A name such as ``openai:gpt-5-mini`` or ``recorded:FILE``, a client, or a function from request to reply."""

DEFAULT_STORE = ".retrial/retrial.db"
"""Where runs and lessons are kept unless something else is said, in the working folder."""


def store_path(given: str | os.PathLike[str] | None = None) -> str:
    """Return the store that is meant: the given one, else ``RETRIAL_STORE``, else the default.

    Raises:
        ConfigError: if it is ``:memory:``, which would lose what was paid for.
    """
    path = os.fspath(given or "") or os.environ.get("RETRIAL_STORE") or DEFAULT_STORE
    if path == ":memory:":
        raise ConfigError("the store ':memory:' keeps nothing after the end; name a file")
    return path


def assemble(
    model: Model | None = None,
    *,
    models: Mapping[str, Model] | None = None,
    store: str | os.PathLike[str] | None = None,
    keeps: bool = True,
    budget: Budget | None = None,
    base_url: str | None = None,
    record: str | os.PathLike[str] | None = None,
    sandbox: str | None = None,
    require_isolation: str | None = None,
    requests_per_minute: float | None = None,
    max_concurrency: int | None = None,
) -> Engine:
    """Return an engine with a store, models, the test bench and the memory of lessons attached.

    ``model`` plays every role that ``models`` (by role: actor, reflector, critic) does not give to another. ``store``
    is a file; without one, everything is kept in memory until the engine closes, and with ``keeps=False`` nothing is,
    which suits whoever judges many outputs and looks at none of the runs again. ``sandbox`` chooses a level of
    isolation and ``require_isolation`` refuses any lower one; the sandbox is opened when the first tests run.

    Raises:
        ConfigError: if a model is not known, its key or package is missing, or a dollar budget has no price to go by.
        JournalError: if the store cannot be opened.
    """
    limits: dict[str, Limits] = {}

    def client(which: Model) -> ModelClient:
        if not isinstance(which, str):
            return FakeLLMClient(which) if callable(which) else which
        provider = which.partition(":")[0]
        shared = limits.setdefault(
            provider, Limits(requests_per_minute=requests_per_minute, max_concurrency=max_concurrency)
        )
        return client_for(which, base_url=base_url, record=Path(record) if record else None, limits=shared)

    roles = {role: client(which) for role, which in (models or {}).items()}
    default = client(model) if model is not None else None
    clients = [*roles.values(), *([default] if default is not None else [])]
    if budget is not None and budget.max_cost_usd is not None:
        _refuse_unpriced(clients)
    journal = SqliteStore(os.fspath(store) if store is not None else ":memory:") if keeps else NoJournal()
    engine = Engine(journal, budget)
    if isinstance(journal, SqliteStore):
        LessonBook(journal.writer).attach(engine)
    for executor in (TestsHandler, CommandHandler):
        executor(lambda: open_sandbox(sandbox, require_isolation)).attach(engine)
    for host in (PersonHandler(), PydanticHandler(), SqlHandler()):
        host.attach(engine)
    if clients:
        handler = LLMHandler(default, roles=roles)
        handler.attach(engine)
        engine.close_with(handler.aclose)
    return engine


async def solve_async(
    task: str | Task,
    tests: Sequence[str | tuple[str, object]] = (),
    *,
    model: Model,
    reflector_model: Model | None = None,
    judge_model: Model | None = None,
    answer: str | None = None,
    evaluator: str | Mapping[str, Any] | None = None,
    trials: int = 4,
    lessons: int | None = 3,
    entry_point: str | None = None,
    timeout: float = 30.0,  # noqa: ASYNC109 - the tests' time, not this call's
    budget: Budget | None = None,
    store: str | os.PathLike[str] | None = None,
    from_stored: bool = False,
    gate: bool = False,
    **options: Any,
) -> Result:
    """Solve one task by its tests, as ``solve`` does, within a running event loop."""
    asserts = _asserts(tests)
    if not isinstance(task, Task):
        if not isinstance(task, str) or not task.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
            raise ConfigError(f"the task is {task!r}; say in words what is asked")
        task = Task(prompt=task, tests=asserts, answer=answer, entry_point=entry_point, timeout=timeout)
    elif asserts or answer is not None:
        raise ConfigError(f"task {task.id!r} brings its own tests and answer; leave {tests or answer!r} out")
    if isinstance(evaluator, Mapping):
        evaluator = placed(evaluator, Path())
        task = replace(task, prompt=with_files(task.prompt, evaluator))
    given = {"reflector": reflector_model, "judge": judge_model}
    roles = {role: which for role, which in given.items() if which is not None}
    recipe = {"trials": trials, "lessons": lessons, "from_stored": from_stored}
    names = {"actor": model_name(model), **{role: model_name(which) for role, which in roles.items()}}
    algorithm, metadata = algorithm_for(task, recipe, names, evaluator)
    async with assemble(model, models=roles, store=store_path(store), budget=budget, **options) as engine:
        if gate:
            budget = await pass_gate(engine, task, gate_for(task, names, evaluator), budget or Budget())
        return await engine.run(algorithm, {"task": encode(task.identified())}, budget=budget, metadata=metadata)


def algorithm_for(
    task: Task,
    recipe: Mapping[str, Any],
    names: Mapping[str, str],
    evaluator: str | Mapping[str, Any] | None = None,
) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return what solves a task, and the metadata to record: by its evaluator, its tests or its answer.

    ``recipe`` holds what every recipe takes, ``names`` what each role's model is called, under ``actor`` the one whose
    work is judged. ``evaluator`` is a kind or a spec and comes before the task's own.

    Raises:
        ConfigError: if nothing could fail, or a judge would judge its own work.
    """
    spec = judged_by(task, names, evaluator)
    if spec is None:
        return recorded("unit_tests", recipe)
    return recorded("project" if judged_by_command(spec) else "checked", {**recipe, "evaluator": spec})


def model_name(which: Model) -> str:
    """Return what a model is called: ``provider:model``, ``recorded:FILE`` or ``scripted``."""
    return which if isinstance(which, str) else str(getattr(which, "name", "scripted"))


def _asserts(tests: Sequence[str | tuple[str, object]]) -> tuple[str, ...]:
    """The tests as asserts; pairs are calls and what they should give."""
    if isinstance(tests, str):
        raise ConfigError(f"tests is one text, {tests!r:.60}; put it into a list")
    found: list[str] = []
    for test in tests:
        if not isinstance(test, str) and (not isinstance(test, tuple) or len(test) != 2):  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison] - a user's value
            raise ConfigError(f"a test is {test!r}; it can be 'assert ...' or a pair of a call and its value")
        found.append(test if isinstance(test, str) else case_tests([test])[0])
    return tuple(found)


def solve(task: str | Task, tests: Sequence[str | tuple[str, object]] = (), **options: Any) -> Result:
    """Solve one task by its tests or another evaluator: attempt, check, learn from a failure, and attempt afresh.

    Args:
        task: what is asked, in words, or a Task with its own tests.
        tests: asserts such as ``"assert f(1) == 2"``, or pairs ``("f(1)", 2)`` of a call and what it should give.
        options: ``model`` (needed: a name, a client or a function), ``reflector_model``, ``judge_model``, ``answer``
            (the expected answer of a task without tests), ``evaluator`` (what judges: a kind such as ``"numeric"``, or
            a spec such as ``{"kind": "judge", "rubric": [...]}``), ``trials`` (1 to 10, default
            4), ``lessons`` (how many of the newest stand in the prompt, default 3, None for all), ``entry_point``,
            ``timeout`` (seconds for all tests of one attempt), ``budget``, ``store`` (a file), ``from_stored`` (begin
            with the lessons remembered for this task), ``gate`` (first make the evaluator prove itself on known-bad and
            known-good outputs), and what ``assemble`` takes besides.

    Returns:
        The result: ``passed``, ``output``, ``lessons``, ``attempts``, ``usage`` and ``run_id``.

    Raises:
        ConfigError: if something is missing or wrong; nothing has been paid for then.
        GateRefused: if the evaluator did not prove itself; no actor has been paid for then.
        JournalError: if the store cannot be written.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(solve_async(task, tests, **options))
    return _in_a_thread(lambda: asyncio.run(solve_async(task, tests, **options)))


def _in_a_thread(work: Callable[[], Result]) -> Result:
    """Run ``work`` beside a running event loop, as in a notebook."""
    ends: list[Result | BaseException] = []

    def run() -> None:
        try:
            ends.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            ends.append(error)

    thread = threading.Thread(target=run, name="retrial-solve")
    thread.start()
    thread.join()
    (end,) = ends
    if isinstance(end, BaseException):
        raise end
    return end


def _refuse_unpriced(clients: Sequence[ModelClient]) -> None:
    """Refuse a dollar budget that could not hold."""
    for client in clients:
        if not is_priced(client):
            raise ConfigError(
                f"a dollar budget needs a price for every model, and {client.name!r} has none; limit calls or tokens"
            )
