"""The one place that knows every part: from a configuration to an engine with its store and handlers attached."""

from __future__ import annotations

import asyncio
import difflib
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from retrial.bank import InsightBank
from retrial.choosing import algorithm_for
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.core.tasks import Attempt, Lesson, Result, Task
from retrial.engine.engine import Engine
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError
from retrial.evaluate.person import PersonHandler
from retrial.evaluate.pydantic_model import PydanticHandler
from retrial.evaluate.sql_handler import SqlHandler
from retrial.gating import gate_for, pass_gate
from retrial.hosts import ActorFunction, HostFunctions, ReflectorFunction, ValidatorFunction
from retrial.log.journal import NoJournal
from retrial.log.live import watcher
from retrial.memory.likeness import Embed
from retrial.models.client import ModelClient
from retrial.models.fake import FakeLLMClient
from retrial.models.handler import LLMHandler
from retrial.models.resolve import client_for, is_priced
from retrial.models.streaming import OnText, WholeText
from retrial.models.transport import Limits
from retrial.placing import placed, with_files
from retrial.sandbox.blocking import OpenedOnce
from retrial.sandbox.opening import open_sandbox
from retrial.store.lessons import LessonBook
from retrial.store.sqlite import SqliteStore
from retrial.taskfile import case_tests
from retrial.testbench.handler import TestsHandler
from retrial.workbench.handler import CommandHandler

__all__ = ["DEFAULT_STORE", "Model", "algorithm_for", "assemble", "model_name", "solve", "solve_async", "store_path"]

Model = str | ModelClient | Callable[[ModelRequest], ModelResponse | str | Awaitable[ModelResponse | str]]
"""A name such as ``openai:gpt-5-mini`` or ``recorded:FILE``, a client, or a function from request to reply."""

RECIPE_OPTIONS = ("trials", "lessons", "from_stored", "patience", "threshold", "memory")
"""What ``solve`` hands on to the recipe."""

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
    embed: Embed | None = None,
    about: Mapping[str, Any] | None = None,
    learning: Budget | None = None,
    on_text: OnText | None = None,
) -> Engine:
    """Return an engine with a store, models, the test bench and the memory of lessons attached.

    ``model`` plays every role that ``models`` (by role: actor, reflector, critic) does not give to another. ``store``
    is a file; without one, everything is kept in memory until the engine closes, and with ``keeps=False`` nothing is,
    which suits whoever judges many outputs and looks at none of the runs again. ``sandbox`` chooses a level of
    isolation and ``require_isolation`` refuses any lower one; the sandbox is opened when the first tests run. ``embed``
    (from texts to vectors) chooses among the lessons and examples that share words with a task; ``about`` is recorded
    with extractions of insights, which may use ``learning`` together, or each the ``budget`` without it. ``on_text`` is
    called with each piece of a reply's text as it arrives (see ``OnText``); the text of a client that has it whole is
    one piece.

    Raises:
        ConfigError: if a model is not known, its key or package is missing, or a dollar budget has no price to go by.
        JournalError: if the store cannot be opened.
    """
    client = _clients(base_url, record, requests_per_minute, max_concurrency, on_text)
    roles = {role: client(which) for role, which in (models or {}).items()}
    default = client(model) if model is not None else None
    clients = [*roles.values(), *([default] if default is not None else [])]
    if budget is not None and budget.max_cost_usd is not None:
        _refuse_unpriced(clients)
    journal = SqliteStore(os.fspath(store) if store is not None else ":memory:") if keeps else NoJournal()
    engine = Engine(journal, budget)
    if isinstance(journal, SqliteStore):
        LessonBook(journal.writer, embed=embed).attach(engine)
        InsightBank(
            engine, journal.writer, embed=embed, about=about or _about(model, models), allowance=learning
        ).attach()
    opened = OpenedOnce(lambda: open_sandbox(sandbox, require_isolation))
    for bench in (TestsHandler, CommandHandler):
        bench(opened).attach(engine)
    for host in (PersonHandler(), PydanticHandler(), SqlHandler()):
        host.attach(engine)
    if clients:
        handler = LLMHandler(default, roles=roles)
        handler.attach(engine)
        engine.close_with(handler.aclose)
    return engine


def _clients(
    base_url: str | None,
    record: str | os.PathLike[str] | None,
    requests_per_minute: float | None,
    max_concurrency: int | None,
    on_text: OnText | None,
) -> Callable[[Model], ModelClient]:
    """What makes the client of a model; those of one provider share its limits."""
    limits: dict[str, Limits] = {}
    told: dict[int, ModelClient] = {}  # One for each client, which may play several roles and is closed once.

    def client(which: Model) -> ModelClient:
        if not isinstance(which, str):
            own = FakeLLMClient(which) if callable(which) else which
            return own if on_text is None else told.setdefault(id(which), WholeText(own, on_text))
        provider = which.partition(":")[0]
        shared = limits.setdefault(
            provider, Limits(requests_per_minute=requests_per_minute, max_concurrency=max_concurrency)
        )
        file = Path(record) if record else None
        return client_for(which, base_url=base_url, record=file, limits=shared, on_text=on_text)

    return client


async def solve_async(
    task: str | Task,
    tests: Sequence[str | tuple[str, object]] = (),
    *,
    model: Model | None = None,
    reflector_model: Model | None = None,
    judge_model: Model | None = None,
    answer: str | None = None,
    evaluator: str | Mapping[str, Any] | None = None,
    actor: ActorFunction | Mapping[str, Any] | None = None,
    reflector: ReflectorFunction | None = None,
    validator: ValidatorFunction | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
    on_lesson: Callable[[Lesson], object] | None = None,
    entry_point: str | None = None,
    timeout: float = 30.0,  # noqa: ASYNC109 - the tests' time, not this call's
    budget: Budget | None = None,
    store: str | os.PathLike[str] | None = None,
    gate: bool = False,
    insights: bool | Mapping[str, Any] = False,
    **options: Any,
) -> Result:
    """Solve one task by its tests, as ``solve`` does, within a running event loop."""
    _refuse_unknown(options)
    watch = watcher(on_attempt, on_lesson)
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
    acts = actor if callable(actor) else None
    functions = HostFunctions(actor=acts, reflector=reflector, validator=validator)
    recipe: dict[str, Any] = {name: options.pop(name) for name in RECIPE_OPTIONS if name in options}
    recipe |= functions.named() if acts or actor is None else {"actor": actor, **functions.named()}
    if insights is not False:
        recipe["insights"] = {} if insights is True else insights
    names = {role: model_name(which) for role, which in roles.items()}
    names["actor"] = "a function" if acts else model_name(model)
    names.setdefault("judge", model_name(model))
    algorithm, metadata = algorithm_for(task, recipe, names, evaluator)
    _refuse_missing_model(model, roles, algorithm)
    async with assemble(model, models=roles, store=store_path(store), budget=budget, **options) as engine:
        functions.attach(engine)
        engine.observe(watch)
        if gate:
            judge = {"kind": "validator", "name": "validator"} if validator is not None else evaluator
            budget = await pass_gate(engine, task, gate_for(task, names, judge), budget or Budget())
        encoded = {"task": encode(task.identified())}
        result = await engine.run(algorithm, encoded, budget=budget, metadata=metadata)
        await engine.settled()
        return result


def model_name(which: Model | None) -> str:
    """Return what a model is called: ``provider:model``, ``recorded:FILE`` or ``scripted``; ``none`` for none."""
    if which is None:
        return "none"
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
        options: ``model`` (a name, a client or a function; needed unless functions do all of it), ``reflector_model``,
            ``judge_model``, ``actor`` (a function ``prompt -> output`` or ``(output, steps)``, async or not, or an
            algorithm's spec), ``validator`` (a function that scores, as ``ValidationHandler`` takes it), ``reflector``
            (a function ``context -> lesson``), ``on_attempt`` and ``on_lesson`` (called with each, see ``watcher``),
            ``answer`` (the expected answer of a task without tests), ``evaluator`` (what judges: a kind such as
            ``"numeric"``, or a spec such as ``{"kind": "judge", "rubric": [...]}``), ``trials`` (1 to 10, default
            4), ``lessons`` (how many of the newest stand in the prompt, None for all; default 3, and all where a judge
            decides alone, who also has the last attempt returned and not the best), ``entry_point``,
            ``timeout`` (seconds for all tests of one attempt), ``budget``, ``store`` (a file), ``from_stored`` (begin
            with the lessons remembered for this task), ``gate`` (first make the evaluator prove itself on known-bad and
            known-good outputs), ``memory`` (``episodic``: lessons live for this run; ``persistent``: they are stored,
            and the run begins with them), ``insights`` (learn across tasks: True, or what ``recipes.insight_bank``
            takes, such as ``{"batch": 10}``), and what ``assemble`` takes besides. A ``validator``, a ``reflector``,
            ``patience`` (trials without a higher score that end it) or ``threshold`` (a validator's score that passes)
            make it the loop of ``recipes.harness`` with its defaults: 3 trials, the best attempt, ending when the score
            stalls.

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


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    """Refuse an option that is none, before what is missing without it is complained of."""
    known = {*inspect.signature(assemble).parameters, *RECIPE_OPTIONS}
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known | {*inspect.signature(solve_async).parameters}, 1)
            hint = f"did you mean {near[0]!r}?" if near else "help(retrial.solve) lists the options"
            raise ConfigError(f"solve takes no {name!r}; {hint}")


def _refuse_missing_model(model: Model | None, roles: Mapping[str, Model], algorithm: Algorithm) -> None:
    """Refuse a task that needs a model and has none."""
    if model is None and not roles and algorithm.max_calls:
        raise ConfigError(
            f"no model is given, and up to {algorithm.max_calls} calls need one; name it with "
            f"model='openai:gpt-5-mini', or give functions as actor, reflector and validator"
        )


def _about(model: Model | None, models: Mapping[str, Model] | None) -> Mapping[str, Any]:
    """What an extraction records of the models, so that it can be resumed by whoever finds it."""
    named = {role: model_name(which) for role, which in (models or {}).items()}
    return {"models": {**({"actor": model_name(model)} if model is not None else {}), **named}}


def _refuse_unpriced(clients: Sequence[ModelClient]) -> None:
    """Refuse a dollar budget that could not hold."""
    for client in clients:
        if not is_priced(client):
            raise ConfigError(
                f"a dollar budget needs a price for every model, and {client.name!r} has none; limit calls or tokens"
            )
