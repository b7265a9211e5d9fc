"""What becomes of a call: results, faults that a model reads, and a world that is away."""

from __future__ import annotations

import asyncio
import contextvars
import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from datetime import date

import pytest

from retrial.core.effects import CallTool
from retrial.core.messages import ToolResult
from retrial.core.tasks import Outcome, Status
from retrial.engine import Engine, Failed
from retrial.errors import ConfigError, HostError, ToolError
from retrial.tools import ToolHandler, ToolRegistry, tool


async def call(function, arguments=None, options=None, **hooks):
    """Call one tool, as the engine would."""
    made = tool(**{"name": "tool"} | (options or {}))(function)
    handler = ToolHandler(ToolRegistry([made], **hooks))
    return await handler(CallTool(tool=made.spec.name, arguments=arguments or {}), "turn.1/tool.1")


async def test_a_sync_function_runs_in_a_thread_with_the_context_of_its_caller():
    """It blocks nobody, and sees the caller's context variables."""
    where = contextvars.ContextVar("where", default="nowhere")
    where.set("here")

    def look() -> list[str]:
        return [where.get(), threading.current_thread().name]

    assert await call(look) == ToolResult(value=["here", "retrial-tool"])


async def test_an_async_function_is_awaited():
    """In the event loop."""

    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    assert await call(add, {"a": 1, "b": 2}) == ToolResult(value=3)


@dataclass
class Order:
    id: str
    open: bool


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        ({"a": [1, 2.5]}, '{"a": [1, 2.5]}'),
        (Order("A1", True), '{"id": "A1", "open": true}'),
        ((1, 2), "[1, 2]"),
        (date(2026, 1, 2), "2026-01-02"),
        (float("nan"), "nan"),
        ("ü", "ü"),
    ],
)
async def test_a_result_is_a_json_value_and_reads_as_text(value, text):
    """What JSON cannot hold becomes text; what it can is read as JSON, a text as it is."""
    result = await call(lambda: value)
    assert result.text == text
    json.dumps(result.value, allow_nan=False)


async def test_a_long_result_is_cut_and_says_so():
    """A prompt does not drown in one result."""
    result = await call(lambda: "x" * 500, options={"max_characters": 10})
    assert result.value == "xxxxxxxxxx\n(cut: the first 10 of 500 characters)"


async def test_arguments_that_do_not_fit_are_a_result_and_nothing_is_called():
    """The model reads what is wrong."""
    called = []

    def note(text: str) -> None:
        called.append(text)

    result = await call(note, {"text": 1, "more": 2})
    assert (result.error, called) == ("InvalidArguments", [])
    assert result.text == "InvalidArguments: argument 'text' is 1, expected a string; no argument is called 'more'"


@dataclass
class Positive:
    number: int

    def __post_init__(self):
        if self.number < 1:
            raise ValueError("it must be positive")


async def test_a_value_that_its_own_class_refuses_is_an_invalid_argument():
    """A dataclass may check its fields."""

    def use(value: Positive) -> int:
        return value.number

    assert (await call(use, {"value": {"number": 3}})).value == 3
    assert (await call(use, {"value": {"number": 0}})).text == "InvalidArguments: ValueError: it must be positive"


class Odd(Exception):
    """A fault that says nothing."""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("A1"), "ToolFailed: KeyError: 'A1'"),
        (Odd(), "ToolFailed: Odd"),
        (SystemExit(0), "ToolFailed: SystemExit: 0"),
        (StopIteration(), "ToolFailed: RuntimeError: coroutine raised StopIteration"),
        (TimeoutError("slow"), "ToolFailed: TimeoutError: slow"),
        (asyncio.CancelledError(), "ToolFailed: CancelledError"),
    ],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_tool_that_raises_gives_the_model_an_error_text(error, text, kind):
    """Whatever it raises, the run goes on."""

    def fail() -> None:
        raise error

    async def fail_later() -> None:
        raise error

    assert (await call(fail if kind == "sync" else fail_later)).text == text


async def test_a_very_long_fault_is_cut():
    """An exception's text is bounded too."""

    def fail() -> None:
        raise ValueError("x" * 10_000)

    assert len((await call(fail)).text) < 2100


async def test_a_world_that_is_away_ends_the_run():
    """A ToolError, any other error of an effect and a declared type are no results."""

    def away() -> None:
        raise ToolError("the shop is closed")

    def hosted() -> None:
        raise HostError("gone")

    def broken() -> None:
        raise ConnectionRefusedError("no route")

    with pytest.raises(ToolError, match="the shop is closed"):
        await call(away)
    with pytest.raises(HostError, match="gone"):
        await call(hosted)
    with pytest.raises(ToolError, match="tool 'tool': ConnectionRefusedError: no route"):
        await call(broken, options={"environmental": (ConnectionError,)})
    assert (await call(broken)).error == "ToolFailed"


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_tool_that_takes_too_long_is_given_up(kind):
    """The model is told, and told that it may have taken effect; nobody waits for the thread."""
    released = threading.Event()

    def hang() -> None:
        released.wait(10)

    async def hang_on() -> None:
        await asyncio.sleep(10)

    result = await call(hang if kind == "sync" else hang_on, options={"timeout": 0.02})
    released.set()
    assert result.error == "ToolTimeout"
    assert result.value == "it did not end within 0.02 seconds; it may have taken effect all the same"


async def test_a_cancelled_run_cancels_the_call():
    """Cancelling is no fault of the tool."""
    began = asyncio.Event()

    async def hang() -> None:
        began.set()
        await asyncio.sleep(10)

    task = asyncio.create_task(call(hang))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_thread_that_outlives_its_event_loop_ends_quietly_and_works_again():
    """Nobody waits for it any more, it raises nothing (warnings are errors here), and it does not keep the process."""
    released = threading.Event()
    threads = []

    def hang() -> None:
        threads.append(threading.current_thread())
        released.wait(10)

    assert asyncio.run(call(hang, options={"timeout": 0.02})).error == "ToolTimeout"
    released.set()
    deadline = time.monotonic() + 10
    while len(threads) < 2 or threads[0] is not threads[-1]:
        asyncio.run(call(hang))
        assert time.monotonic() < deadline, "the thread is not used again"
    assert all(thread.daemon for thread in threads)


def test_a_forked_process_starts_threads_of_its_own():
    """Those of its parent are not there."""
    code = """
import asyncio, os
from retrial.tools.thread import in_thread
asyncio.run(in_thread(lambda: None))
child = os.fork()
if child == 0:
    os._exit(asyncio.run(asyncio.wait_for(in_thread(lambda: 7), 10)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "7\n"


def test_a_call_that_never_ends_does_not_keep_the_process():
    """The program ends although its tool does not."""
    code = """
import asyncio, threading
from retrial.tools.thread import in_thread
async def main():
    try:
        await asyncio.wait_for(in_thread(threading.Event().wait), 0.05)
    except TimeoutError:
        print("given up")
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "given up\n"


@pytest.mark.parametrize(
    ("answer", "text"),
    [(True, "done"), (False, "Refused: it was not approved"), ("too much", "Refused: too much")],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_approval_is_asked_for_the_tools_that_need_it(answer, text, kind):
    """A yes lets the call pass, a no or a reason is what the model reads, and nothing is called then."""
    asked, called = [], []

    def approve(wanted):
        asked.append((wanted.name, wanted.arguments))
        return answer

    async def approve_later(wanted):
        return approve(wanted)

    def pay(amount: int) -> str:
        called.append(amount)
        return "done"

    hook = approve if kind == "sync" else approve_later
    result = await call(pay, {"amount": 5}, options={"approval": True}, approve=hook)
    assert result.text == text
    assert asked == [("tool", {"amount": 5})]
    assert called == ([5] if answer is True else [])
    assert (await call(pay, {"amount": 5}, approve=hook)).text == "done"
    assert len(asked) == 1


async def test_a_guard_sees_every_call_and_comes_before_the_approval():
    """What it says is what the model reads; None lets the call pass."""
    asked = []

    def guard(wanted):
        return "never on sundays" if wanted.arguments["amount"] > 5 else None

    def pay(amount: int) -> str:
        return "done"

    def approve(wanted):
        asked.append(wanted)
        return True

    hooks = {"guard": guard, "approve": approve, "options": {"approval": True}}
    assert (await call(pay, {"amount": 6}, **hooks)).text == "Refused: never on sundays"
    assert asked == []
    assert (await call(pay, {"amount": 5}, **hooks)).text == "done"
    assert (await call(pay, {"amount": "x"}, **hooks)).error == "InvalidArguments"


@pytest.mark.parametrize("answer", [1, None, RuntimeError("no terminal"), HostError("the person left")])
async def test_a_guard_that_breaks_lets_nothing_pass(answer):
    """A guard or an approval that raises, or answers with something else, ends the run before anything is called."""
    called = []

    def decide(_):
        if isinstance(answer, Exception):
            raise answer
        return answer

    def pay() -> None:
        called.append(1)

    with pytest.raises((ToolError, HostError), match="answered|broke: RuntimeError|the person left"):
        await call(pay, options={"approval": True}, approve=decide)
    if answer is not None:
        with pytest.raises((ToolError, HostError)):
            await call(pay, guard=decide)
    assert called == []


def test_a_registry_refuses_what_could_only_fail_later():
    """Two tools of one name, something that is no tool, and a tool that nobody could approve."""

    def pay() -> None: ...

    with pytest.raises(ConfigError, match="two tools are called 'pay'"):
        ToolRegistry([tool(pay), tool(pay)])
    with pytest.raises(ConfigError, match="decorate the function with @tool"):
        ToolRegistry([pay])
    with pytest.raises(ConfigError, match="'pay' needs approval, and nobody gives it"):
        ToolRegistry([tool(approval=True)(pay)])
    registry = ToolRegistry([tool(pay), tool(name="look", repeatable=True)(pay)])
    assert (len(registry), "pay" in registry, list(registry.specs)) == (2, True, ["pay", "look"])
    assert registry.repeatable == {"look"}
    assert [one.spec.name for one in registry] == ["pay", "look"]


class Calls:
    """An algorithm that makes some calls at once."""

    name, version, max_calls = "calls", "1", 0

    def __init__(self, *names, repeatable=()):
        self.names, self.repeatable = names, repeatable

    def parameters(self):
        return {}

    async def __call__(self, run, given):
        jobs = [run.tool(name, name, {}, repeatable=name in self.repeatable) for name in self.names]
        ends = await run.gather(*jobs)
        return Outcome(Status.COMPLETED, [str(end.error) if isinstance(end, Failed) else end.text for end in ends])


async def test_several_registries_serve_one_engine():
    """Each tool is found by its name, and one that nobody serves says which it is."""
    engine = Engine()
    ToolHandler(ToolRegistry([tool(name="a")(lambda: "from a")])).attach(engine)
    ToolHandler(ToolRegistry([tool(name="b")(lambda: "from b")])).attach(engine)
    result = await engine.run(Calls("a", "b", "c"), {})
    assert result.value[:2] == ["from a", "from b"]
    assert "nothing handles CallTool 'c'" in result.value[2] or "nothing handles" in result.error


async def test_a_repeatable_call_leaves_one_event_and_any_other_leaves_two():
    """So that a crash in a look-up leaves no doubt, and one in a refund does."""
    engine = Engine()
    ToolHandler(ToolRegistry([tool(name=name)(lambda: "x") for name in ("pay", "look")])).attach(engine)
    await engine.run(Calls("pay", "look", repeatable=("look",)), {}, run_id="r")
    events = [(event.key, event.kind) for event in await engine.journal.events("r") if event.kind.startswith("tool.")]
    assert sorted(events) == [("look", "tool.completed"), ("pay", "tool.completed"), ("pay", "tool.requested")]


async def test_a_result_is_the_same_in_a_replay():
    """Value and kind of fault are what they were, without a call."""
    calls = []

    def works() -> dict[str, int]:
        calls.append("a")
        return {"a": 1}

    def breaks() -> dict[str, int]:
        calls.append("b")
        raise KeyError("x")

    engine = Engine()
    ToolHandler(ToolRegistry([tool(name="a")(works), tool(name="b")(breaks)])).attach(engine)
    first = await engine.run(Calls("a", "b"), {}, run_id="r")
    assert (await engine.replay("r", Calls("a", "b"))).value == first.value == ['{"a": 1}', "ToolFailed: KeyError: 'x'"]
    assert len(calls) == 2
