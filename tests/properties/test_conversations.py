"""ToolLoop and Swarm keep the engine's promises: bounds, order, crashes, budgets and replays, tools included."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.algorithms import Agent, Swarm, ToolLoop
from retrial.core.budget import Budget
from retrial.core.messages import ModelResponse, ToolCall
from retrial.core.tasks import Status
from retrial.log.views import in_doubt
from retrial.models.fake import text
from retrial.tools import ToolHandler, ToolRegistry, tool
from worlds import Crash, CrashingJournal, Model, engine_with, journal_of


class Shop:
    """Tools that take their time, and count how often each order was refunded."""

    def __init__(self, seed: int = 0) -> None:
        self.refunds: Counter[str] = Counter()
        self._random = random.Random(seed)

    async def _wait(self) -> None:
        for _ in range(self._random.randrange(8)):
            await asyncio.sleep(0)

    async def look_up(self, order: str) -> str:
        """Look an order up."""
        await self._wait()
        return f"{order} is open"

    async def refund(self, order: str) -> str:
        """Refund an order."""
        await self._wait()
        self.refunds[order] += 1
        if order == "A3":
            raise LookupError("no such order")
        return f"refunded {order}"

    def registry(self) -> ToolRegistry:
        return ToolRegistry([tool(repeatable=True)(self.look_up), tool(self.refund)])


def wants(*calls):
    made = tuple(ToolCall(id=f"c{n}", name=name, arguments=given) for n, (name, given) in enumerate(calls))
    return ModelResponse(tool_calls=made, finish_reason="tool_calls")


def clerk(request):
    """Looks three orders up at once, hands over if it can, refunds them at once, invents a tool, and answers."""
    said = " ".join(message.content or "" for message in request.messages if message.role == "tool")
    names = {spec.name for spec in request.tools}
    orders = [{"order": f"A{n}"} for n in (1, 2, 3)]
    if "is open" not in said and "look_up" in names:
        return wants(*[("look_up", order) for order in orders])
    if "transfer_to_billing" in names:
        return wants(("transfer_to_billing", {}), ("refund", orders[0]))
    if "refunded" not in said:
        return wants(*[("refund", order) for order in orders], ("invent", {}))
    return text(f"done: {said.count('refunded')}")


AGENTS = {
    "triage": Agent("You route.", tools=["look_up"], handoffs=["billing"]),
    "billing": Agent("You pay.", tools=["refund"], description="Refunds."),
}
WORLDS = {"tool_loop": ToolLoop, "swarm": lambda registry: Swarm(AGENTS, registry)}


def world(name, journal=None, seed=None, shop=None):
    """An engine with the scripted clerk and the shop's tools, the algorithm, the model and the shop."""
    shop = shop or Shop(seed or 0)
    model = Model(clerk, seed)
    engine = engine_with(model, journal)
    ToolHandler(shop.registry()).attach(engine)
    return engine, WORLDS[name](shop.registry()), model, shop


async def whole_run(name):
    engine, algorithm, model, _ = world(name)
    result = await engine.run(algorithm, {"task": "t"}, run_id="the run")
    assert result.status is Status.COMPLETED
    return result, await engine.journal.events("the run"), model


@pytest.mark.parametrize("name", WORLDS)
async def test_every_order_of_completion_gives_one_result_and_one_set_of_calls(name):
    """Two hundred orders in which models and tools come back: one value, one set of keys, many orders of events."""
    values, keys, orders, refunds = set(), set(), set(), set()
    for seed in range(200):
        engine, algorithm, _, shop = world(name, seed=seed)
        result = await engine.run(algorithm, {"task": "t"}, run_id="the run")
        order = tuple(event.key for event in await engine.journal.events("the run"))
        values.add(repr(result.value))
        keys.add(frozenset(order))
        orders.add(order)
        refunds.add(frozenset(shop.refunds.items()))
    assert (len(values), len(keys), len(refunds)) == (1, 1, 1)
    assert len(orders) > 5


@pytest.mark.parametrize("name", WORLDS)
async def test_a_crash_after_every_event_loses_nothing_and_repeats_nothing(name):
    """After a crash behind any event, resume comes to the same value; what came back is not asked or called again."""
    result, events, _ = await whole_run(name)
    doubted = set()
    for limit in range(1, len(events)):
        journal = CrashingJournal(limit)
        engine, algorithm, _, _ = world(name, journal, seed=limit)
        with pytest.raises(Crash):
            await engine.run(algorithm, {"task": "t"}, run_id="the run")
        came_back = {event.key: event for event in journal.stored if event.kind.endswith(".completed")}
        doubt = in_doubt(journal.stored)
        engine, algorithm, model, shop = world(name, await journal_of(journal.stored), seed=limit + 1)
        resumed = await engine.resume("the run", algorithm)
        assert resumed.value == result.value, limit
        assert resumed.in_doubt == doubt
        assert not came_back.keys() & {*model.keys}, limit
        doubted |= {
            event.data["effect"]["tool"] for event in events if event.key in doubt and event.kind == "tool.requested"
        }
        refunded = sum("refund" in key for key in came_back)
        assert sum(shop.refunds.values()) == 3 - refunded, limit
    assert doubted == {"refund"}, "a refund in the air is in doubt, and a look-up never is"


@pytest.mark.parametrize("name", WORLDS)
async def test_a_budget_cut_at_every_call_leaves_a_resumable_run(name):
    """Whatever number of model calls is allowed, it is kept exactly, and a larger budget finishes without a repeat."""
    whole, _, _ = await whole_run(name)
    for allowed in range(whole.usage.calls):
        engine, algorithm, model, shop = world(name, seed=allowed)
        cut = await engine.run(algorithm, {"task": "t"}, run_id="the run", budget=Budget(max_calls=allowed))
        assert (cut.status, len(model.keys)) == (Status.BUDGET_EXCEEDED, allowed)
        assert cut.value["turns"] == allowed
        resumed = await engine.resume("the run", algorithm, budget=Budget())
        assert resumed.value == whole.value
        assert len(model.keys) == len({*model.keys}) == whole.usage.calls
        assert {*shop.refunds.values()} == {1}


@pytest.mark.parametrize("name", WORLDS)
async def test_a_finished_run_replays_without_a_single_call(name):
    """No model and no tool is needed."""
    result, events, _ = await whole_run(name)
    replayed = await engine_with(None, await journal_of(events)).replay("the run", WORLDS[name](Shop().registry()))
    assert replayed == result


NAMES = ["look_up", "refund", "transfer_to_billing", "transfer_to_triage", "invent"]
TURNS = st.lists(st.lists(st.sampled_from(NAMES), max_size=4), max_size=12)


@given(turns=TURNS, most=st.integers(0, 3), bound=st.integers(1, 8), name=st.sampled_from(sorted(WORLDS)))
def test_whatever_a_model_wants_the_bounds_hold(turns, most, bound, name):
    """No model call beyond max_calls, no handoff beyond max_handoffs, every call answered, and only own tools called."""
    queue = iter(turns)

    def model(request):
        names = next(queue, [])
        return wants(*[(one, {"order": "A1"}) for one in names]) if names else text("done")

    shop = Shop()
    registry = shop.registry()
    swarm = Swarm(
        {**AGENTS, "billing": Agent("x", tools=["refund"], handoffs=["triage"])},
        registry,
        max_handoffs=most,
        max_turns=bound,
    )
    algorithm = swarm if name == "swarm" else ToolLoop(registry, max_turns=bound)
    scripted = Model(model)

    async def run():
        engine = engine_with(scripted)
        ToolHandler(registry).attach(engine)
        return await engine.run(algorithm, {"task": "t"})

    result = asyncio.run(run())
    assert len(scripted.requests) <= algorithm.max_calls == bound
    assert result.status is (Status.COMPLETED if bound > len(list(_wanted(turns))) else Status.NO_SOLUTION)
    assert len(result.value.get("handoffs", [])) <= most
    for request in scripted.requests:
        wanted = [call.id for message in request.messages for call in message.tool_calls]
        assert [message.tool_call_id for message in request.messages if message.role == "tool"] == wanted
        assert len({*wanted}) == len(wanted)


def _wanted(turns):
    """The turns up to the first in which the model answers."""
    for names in turns:
        if not names:
            return
        yield names
