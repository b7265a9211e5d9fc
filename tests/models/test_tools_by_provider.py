"""A tool loop against a provider on this machine: tools go out, calls come back, results go out again."""

from __future__ import annotations

import json

import pytest

from loopback_provider import SECRET, chat
from retrial.algorithms import Agent, Swarm, ToolLoop
from retrial.core.tasks import Status
from retrial.engine import Engine
from retrial.models import LLMHandler, ProviderClient
from retrial.tools import ToolHandler, ToolRegistry, tool


@tool
def refund(order: str, amount: float | None = None) -> str:
    """Refund an order."""
    return f"refunded {order}"


REGISTRY = ToolRegistry([refund])


def calls(*wanted):
    """A reply that calls tools: (id, name, arguments as the provider writes them)."""
    made = [{"id": i, "type": "function", "function": {"name": name, "arguments": given}} for i, name, given in wanted]
    return chat(None, finish_reason="tool_calls", tool_calls=made)


async def run_of(server, algorithm, model="openai:m", path="/v1"):
    client = ProviderClient(model, base_url=server.url + path)
    engine = Engine()
    LLMHandler(client).attach(engine)
    ToolHandler(REGISTRY).attach(engine)
    result = await engine.run(algorithm, {"task": "Refund A1 and A2"})
    await client.aclose()
    return result, [body for _, _, body in server.requests]


async def test_a_turn_goes_out_and_comes_back(server):
    """Name, description and schema are offered; each result is sent under the id of its call, in order."""
    server.says(calls(("a", "refund", '{"order": "A1"}'), ("b", "refund", '{"order": "A2"}')), chat("All done."))
    result, bodies = await run_of(server, ToolLoop(REGISTRY, system="Be kind."))
    assert (result.status, result.value["text"]) == (Status.COMPLETED, "All done.")
    (offered,) = bodies[0]["tools"]
    assert (offered["function"]["name"], offered["function"]["description"]) == ("refund", "Refund an order.")
    assert offered["function"]["parameters"]["required"] == ["order"]
    assert [message["role"] for message in bodies[1]["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert [call["id"] for call in bodies[1]["messages"][2]["tool_calls"]] == ["a", "b"]
    assert bodies[1]["messages"][3:] == [
        {"role": "tool", "tool_call_id": "a", "content": "refunded A1"},
        {"role": "tool", "tool_call_id": "b", "content": "refunded A2"},
    ]
    assert result.usage.calls == 2


async def test_arguments_that_are_no_json_are_an_observation(server):
    """The model reads that its arguments do not fit, and the conversation stays one that a provider takes."""
    server.says(calls(("a", "refund", "{order")), chat("Sorry."))
    result, bodies = await run_of(server, ToolLoop(REGISTRY))
    assert result.status is Status.COMPLETED
    told = bodies[1]["messages"][-1]["content"]
    assert told.startswith("InvalidArguments: argument 'order' is missing (a string)")
    json.loads(bodies[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"])


async def test_a_handoff_changes_what_the_provider_is_offered(server):
    """After it only the target's tools are in the request."""
    agents = {"triage": Agent("You route.", handoffs=["billing"]), "billing": Agent("You pay.", tools=["refund"])}
    server.says(calls(("a", "transfer_to_billing", "{}")), calls(("b", "refund", '{"order": "A1"}')), chat("Done."))
    result, bodies = await run_of(server, Swarm(agents, REGISTRY))
    offered = [[one["function"]["name"] for one in body["tools"]] for body in bodies]
    assert offered == [["transfer_to_billing"], ["refund"], ["refund"]]
    assert (result.value["agent"], result.value["text"]) == ("billing", "Done.")


@pytest.mark.parametrize("ids", [("t1", "t2"), ("t1", "t1")])
async def test_another_protocol_gets_the_same_conversation(server, monkeypatch, ids):
    """Calls and results as blocks, under ids that differ even where the model repeated one."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    wanted = [{"type": "tool_use", "id": i, "name": "refund", "input": {"order": f"A{n}"}} for n, i in enumerate(ids)]
    first, second = (
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 5, "output_tokens": 2},
        }
        for content, reason in ((wanted, "tool_use"), ([{"type": "text", "text": "Done."}], "end_turn"))
    )
    server.says((200, {}, first), (200, {}, second))
    result, bodies = await run_of(server, ToolLoop(REGISTRY), "anthropic:claude-x", "")
    assert result.value["text"] == "Done."
    asked, answered = bodies[1]["messages"][-2:]
    names = [block["id"] for block in asked["content"]]
    assert len({*names}) == 2
    assert [(block["tool_use_id"], block["type"]) for block in answered["content"]] == [
        (name, "tool_result") for name in names
    ]
    assert bodies[0]["tools"][0]["input_schema"]["required"] == ["order"]
