"""Seed 3: the ``swarm()`` function of its example program, and every promise that it makes about Swarm."""

from __future__ import annotations

import inspect

import pytest

from retrial.algorithms import Agent, Swarm, ToolLoop
from retrial.assembly import assemble
from retrial.core.budget import Budget
from retrial.core.messages import ModelResponse, ToolCall
from retrial.core.tasks import Status
from retrial.errors import ConfigError
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, tool
from worlds import Model, engine_with


@tool
def refund(order: str) -> str:
    """Refund an order."""
    return f"refunded {order}"


@tool
def look_up(order: str) -> str:
    """Look an order up."""
    return f"{order} is open"


REGISTRY = ToolRegistry([refund, look_up])
AGENTS = {
    "triage": Agent("You route customers.", tools=["look_up"], handoffs=["billing", "sales"]),
    "billing": Agent("You handle billing.", tools=["refund"], handoffs=["triage"], description="Refunds and charges."),
    "sales": Agent("You sell.", description="Offers."),
}


def wants(*names):
    """A reply that calls several tools, each with the order A1 unless it is a transfer."""
    calls = tuple(
        ToolCall(id=f"c{n}", name=name, arguments={} if name.startswith("transfer") else {"order": "A1"})
        for n, name in enumerate(names)
    )
    return ModelResponse(tool_calls=calls, finish_reason="tool_calls")


async def talk(answer, algorithm=None, registry=REGISTRY, **options):
    """One run of the three agents; ``answer`` is a function or the replies in order."""
    queue = iter(answer) if isinstance(answer, list) else None
    model = Model(answer if queue is None else lambda request: next(queue))
    async with engine_with(model) as engine:
        ToolHandler(registry).attach(engine)
        result = await engine.run(algorithm or Swarm(AGENTS, registry), {"task": "Refund A1"}, run_id="r", **options)
        return result, model, await engine.journal.events("r")


def offered(request):
    return [spec.name for spec in request.tools]


def observed(request, count=1):
    return [message.content for message in request.messages[-count:]]


def back_and_forth(request):
    """A model that hands over whenever it can, and tries to when it cannot."""
    transfers = [name for name in offered(request) if name.startswith("transfer")]
    return tool_call((transfers or ["transfer_to_billing"])[0])


def test_the_signature_is_that_of_the_document():
    """Swarm(agents, registry, start="triage", max_handoffs=6) with Agent(instructions, tools, handoffs, description)."""
    parameters = inspect.signature(Swarm).parameters
    assert list(parameters)[:4] == ["agents", "registry", "start", "max_handoffs"]
    assert (parameters["start"].default, parameters["max_handoffs"].default) == ("triage", 6)
    assert [*inspect.signature(Agent).parameters] == ["instructions", "tools", "handoffs", "description"]


async def test_there_is_one_conversation():
    """After a handoff the model has everything before it that was said."""
    _, model, _ = await talk([wants("look_up"), wants("transfer_to_billing"), wants("refund"), text("done")])
    whole = model.requests[-1].messages
    for request in model.requests:
        assert whole[: len(request.messages)] == request.messages
    assert [message.role for message in whole].count("system") == 1


async def test_a_handoff_is_answered_by_the_algorithm_and_recorded_as_a_note():
    """No tool is called for it; the note says who handed to whom."""
    _, _, events = await talk([wants("transfer_to_billing"), text("done")])
    assert [event for event in events if event.kind.startswith("tool.")] == []
    notes = [(event.key, event.data) for event in events if event.kind == "swarm.handoff"]
    assert notes == [("turn.1/swarm.handoff", {"from": "triage", "to": "billing"})]


async def test_from_the_next_model_call_on_the_targets_tools_are_the_only_ones_offered():
    """And going back offers the others again."""
    _, model, _ = await talk([wants("transfer_to_billing"), wants("refund"), wants("transfer_to_triage"), text("x")])
    assert [offered(request) for request in model.requests] == [
        ["look_up", "transfer_to_billing", "transfer_to_sales"],
        ["refund", "transfer_to_triage"],
        ["refund", "transfer_to_triage"],
        ["look_up", "transfer_to_billing", "transfer_to_sales"],
    ]


async def test_the_transfers_result_tells_the_model_its_new_instructions():
    """It begins with Transferred and holds the target's instructions."""
    _, model, _ = await talk([wants("transfer_to_billing"), text("x")])
    (result,) = observed(model.requests[1])
    assert result.startswith("Transferred to billing.")
    assert "You handle billing." in result
    assert model.requests[0].messages[0].content == "You route customers."


async def test_a_transfer_is_offered_with_the_targets_description():
    """So that the model knows whom to choose."""
    _, model, _ = await talk([text("x")])
    told = {spec.name: (spec.description, spec.parameters["properties"]) for spec in model.requests[0].tools}
    assert told["transfer_to_billing"] == ("Hand the conversation over to billing. Refunds and charges.", {})


async def test_the_tool_handler_runs_the_real_tools_as_usual():
    """Each is an effect of the run, under the turn's key."""
    result, _, events = await talk([wants("look_up", "look_up"), text("x")])
    keys = [event.key for event in events if event.kind == "tool.completed"]
    assert sorted(keys) == ["turn.1/tool.1.look_up", "turn.1/tool.2.look_up"]
    assert result.value["steps"][0] == 'look_up("order": "A1") -> A1 is open'


@pytest.mark.parametrize("name", ["refund", "transfer_to_triage", "transfer_to_nobody", "delete_everything", ""])
async def test_another_agents_tool_or_an_invented_one_comes_back_as_unknown_tool(name):
    """An agent can only call its own tools and transfers, which is enforced in code."""
    _, model, events = await talk([wants(name), text("x")])
    (result,) = observed(model.requests[1])
    assert result.startswith(f"UnknownTool: no tool is called {name!r} here; you can call look_up, transfer_to_billing")
    assert [event for event in events if event.kind.startswith("tool.")] == []


async def test_the_first_transfer_of_a_turn_wins_and_its_other_calls_get_errors():
    """One transfer a turn: later transfers and real tools, before it or after it, are not made."""
    calls = wants("look_up", "transfer_to_sales", "transfer_to_billing", "look_up")
    result, model, events = await talk([calls, text("x")])
    texts = observed(model.requests[1], 4)
    assert texts[1].startswith("Transferred to sales.")
    assert {texts[0], texts[2], texts[3]} == {"NotCalled: it was not made, since the turn handed over to sales"}
    assert [message.tool_call_id for message in model.requests[1].messages[-4:]] == ["c0", "c1", "c2", "c3"]
    assert result.value["handoffs"] == [["triage", "sales"]]
    assert [event for event in events if event.kind.startswith("tool.")] == []


@pytest.mark.parametrize("most", [0, 1, 6])
async def test_two_agents_cannot_pass_a_task_back_and_forth_for_ever(most):
    """After max_handoffs no transfers are offered, and a model that insists is ended by max_turns."""
    algorithm = Swarm(AGENTS, REGISTRY, max_handoffs=most, max_turns=12)
    result, model, _ = await talk(back_and_forth, algorithm)
    assert len(result.value["handoffs"]) == most
    assert result.status is Status.NO_SOLUTION
    assert len(model.requests) == result.value["turns"] == 12
    for number, request in enumerate(model.requests):
        assert any(name.startswith("transfer") for name in offered(request)) == (number < most)
    assert observed(model.requests[-1])[0].startswith("UnknownTool: no tool is called 'transfer_to_billing' here")


async def test_every_real_tool_call_keeps_the_registrys_protections():
    """Argument validation, approval and the guard."""
    paid = []

    @tool(approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    registry = ToolRegistry(
        [pay],
        approve=lambda call: call.arguments["amount"] < 10 or "too much",
        guard=lambda call: "never 13" if call.arguments["amount"] == 13 else None,
    )
    amounts = ["x", 13, 12, 5]
    replies = [tool_call("pay", amount=amount) for amount in amounts]
    algorithm = Swarm({"cashier": Agent("You pay.", tools=["pay"])}, registry, start="cashier")
    _, model, _ = await talk([*replies, text("done")], algorithm, registry)
    assert [observed(request)[0] for request in model.requests[1:]] == [
        "InvalidArguments: argument 'amount' is 'x', expected an integer",
        "Refused: never 13",
        "Refused: too much",
        "paid",
    ]
    assert paid == [5]


async def test_the_result_says_who_answered_and_who_handed_to_whom():
    """{"text", "turns", "agent", "handoffs": [[from, to], ...]}, and the transcript."""
    result, _, _ = await talk([wants("transfer_to_billing"), wants("transfer_to_triage"), text("done")])
    value = dict(result.value)
    assert len(value.pop("steps")) == 3
    handoffs = [["triage", "billing"], ["billing", "triage"]]
    assert value == {"text": "done", "turns": 3, "agent": "triage", "handoffs": handoffs}


async def test_an_ordinary_loop_has_no_fields_of_a_swarm():
    """They are omitted from its value."""
    result, _, _ = await talk([text("done")], ToolLoop(REGISTRY))
    assert {*result.value} == {"text", "turns", "steps"}


async def test_swarm_is_a_tool_loop():
    """It takes max_turns and recall, and states its bound like any other."""
    algorithm = Swarm(AGENTS, REGISTRY, max_turns=4, recall="insights")
    assert isinstance(algorithm, ToolLoop)
    assert (algorithm.max_calls, algorithm.recall) == (4, "insights")


async def test_swarm_streams_like_any_tool_loop():
    """Whoever listens to an engine hears each turn under its key, whichever agent speaks."""
    replies = iter([tool_call("transfer_to_billing"), text("Refunded.")])
    told = []
    async with assemble(lambda request: next(replies), on_text=lambda *what: told.append(what)) as engine:
        ToolHandler(REGISTRY).attach(engine)
        result = await engine.run(Swarm(AGENTS, REGISTRY), {"task": "Refund A1"})
    assert result.value["agent"] == "billing"
    assert told == [("turn.1/model", ""), ("turn.2/model", ""), ("turn.2/model", "Refunded.")]


BILLING = Agent("x")
REFUSED = [
    ({"agents": {}}, "start='triage' is no agent"),
    ({"start": "nobody"}, r"start='nobody' is no agent; the agents are \['billing', 'sales', 'triage'\]"),
    ({"agents": {"triage": Agent("x", handoffs=["nobody"])}}, "agent 'triage': handoffs names 'nobody'"),
    ({"agents": {"triage": Agent("x", tools=["nothing"])}}, "agent 'triage': tools names 'nothing'"),
    ({"agents": {"triage": Agent("x", tools="refund")}}, "tools='refund' must be a list"),
    ({"agents": {"triage": Agent("x", tools=["refund", "refund"])}}, "must be a list of different names"),
    ({"agents": {"triage": Agent("x", handoffs=["triage"])}}, "hands over to itself"),
    ({"agents": {"triage": BILLING, "our billing": BILLING}}, "an agent is called 'our billing'"),
    (
        {"registry": ToolRegistry([tool(name="transfer_to_sales")(lambda: None), refund, look_up])},
        "'transfer_to_sales' is called like the transfer to agent 'sales'",
    ),
    ({"max_handoffs": -1}, "max_handoffs=-1 is not possible; it can be 0 to 20"),
    ({"max_handoffs": 21}, "max_handoffs=21"),
    ({"max_turns": 0}, "max_turns=0"),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED)
def test_what_could_only_fail_in_the_middle_is_refused_at_construction(wrong, words):
    """Bounds and names are checked before anything is paid for."""
    with pytest.raises(ConfigError, match=words):
        Swarm(**({"agents": AGENTS, "registry": REGISTRY} | wrong))


async def test_a_budget_cuts_it_off_and_keeps_what_was_paid_for():
    """The value tells how far it came, and a resume goes on from there."""
    replies = [wants("transfer_to_billing"), wants("refund"), text("done")]
    result, _, _ = await talk(replies, budget=Budget(max_calls=2))
    assert result.status is Status.BUDGET_EXCEEDED
    assert (result.value["turns"], result.value["agent"]) == (2, "billing")
    assert result.value["handoffs"] == [["triage", "billing"]]
