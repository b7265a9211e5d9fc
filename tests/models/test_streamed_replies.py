"""Replies told while they are written: what a listener hears, and that nothing else changes by it."""

from __future__ import annotations

import json
import logging

import pytest

from loopback_provider import DONE, SECRET, LoopbackProvider, chat, openai_error, piece, used
from retrial import solve
from retrial.algorithms import Debate
from retrial.assembly import assemble
from retrial.core.messages import Message, ModelRequest, ToolCall, ToolSpec
from retrial.errors import ConfigError, ModelRejected, ModelUnavailable
from retrial.models import FakeLLMClient, PatientClient, ProviderClient, client_for, describe

ASK = ModelRequest(messages=(Message(role="user", content="Say hi"),))
HI = [piece("H"), piece("i "), piece("there"), piece(finish_reason="stop"), used(1000, 100), DONE]


async def heard(server: LoopbackProvider, request=ASK, **patience):
    """What is told of one call, and its reply or its failure."""
    told = []
    inside = ProviderClient(
        "openai:m", base_url=server.url + "/v1", timeout=5.0, on_text=lambda *what: told.append(what)
    )
    client = PatientClient(inside, **(patience or {"attempts": 1}))
    try:
        return told, await client.complete(request, "turn.1/model")
    except ModelUnavailable as error:
        return told, error
    finally:
        await client.aclose()


async def test_each_piece_is_told_in_its_order_under_the_key_of_the_call(server):
    """The listener hears an empty piece, then the text piece by piece; the reply is the same as a whole one."""
    told, reply = await heard(server.says(HI))
    assert told == [("turn.1/model", text) for text in ("", "H", "i ", "there")]
    assert server.requests[0][2]["stream"] is True
    server.says(chat("Hi there"))
    client = ProviderClient("openai:m", base_url=server.url + "/v1")
    whole = await client.complete(ASK, "turn.1/model")
    await client.aclose()
    assert reply == whole
    assert server.requests[1][2]["stream"] is False


async def test_a_call_of_a_tool_arrives_whole_and_is_not_told(server):
    """Arguments that come in pieces are put together; a listener hears text alone."""
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "find", "arguments": '{"na'}}
    rest = {"index": 0, "function": {"arguments": 'me": "x"}'}}
    server.says(
        [piece("Well."), piece(tool_calls=[call]), piece(tool_calls=[rest]), piece(finish_reason="tool_calls"), DONE]
    )
    told, reply = await heard(server, ModelRequest(messages=ASK.messages, tools=(ToolSpec(name="find"),)))
    assert [text for _, text in told] == ["", "Well."]
    assert reply.tool_calls == (ToolCall(id="c", name="find", arguments={"name": "x"}),)
    assert (reply.text, reply.finish_reason) == ("Well.", "tool_calls")


@pytest.mark.parametrize("half", [[piece("H"), piece("i")], [piece("H"), piece("i"), DONE], [DONE]])
async def test_a_reply_that_breaks_off_is_no_reply(server, half):
    """Half a text is never taken for an answer, though the connection was closed in order."""
    told, error = await heard(server.says(half))
    assert [text for _, text in told][:1] == [""]
    assert isinstance(error, ModelUnavailable)
    assert len(server.requests) == 1


async def test_a_reply_of_another_protocol_that_breaks_off_is_no_reply(server, monkeypatch):
    """A stream whose end is missing is no reply either where the protocol is Anthropic's; a whole one is."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    usage = {"input_tokens": 5, "output_tokens": 1}
    begin = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "usage": usage}
    events = [
        {"type": "message_start", "message": {**begin, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    told = []
    for count, whole in ((6, True), (4, False)):
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events[:count]]
        server.says((200, {"content-type": "text/event-stream"}, "".join(lines)))
        client = ProviderClient("anthropic:c", base_url=server.url, on_text=lambda _, text: told.append(text))
        if whole:
            assert (await client.complete(ASK, "actor")).text == "hi"
        else:
            with pytest.raises(ModelUnavailable, match="broke off"):
                await client.complete(ASK, "actor")
        await client.aclose()
    assert told == ["", "hi"] * 2


async def test_a_refusal_is_an_answer_with_a_listener_too(server):
    """What a provider refuses is a reply without text, as it is where it comes whole."""
    server.says([piece(refusal="I cannot help."), piece(finish_reason="stop"), used(1000, 100), DONE])
    _, reply = await heard(server)
    assert (reply.text, reply.finish_reason) == ("", "content_filter")


async def test_a_whole_text_about_thoughts_stays_as_it_is(server, monkeypatch):
    """Where a protocol keeps thoughts apart, such tags are the model's own text, told or not."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    said = "re.sub('<think>.*</think>', '', text)"
    usage = {"input_tokens": 5, "output_tokens": 1}
    body = {"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_sequence": None, "usage": usage}
    server.says((200, {}, {**body, "stop_reason": "end_turn", "content": [{"type": "text", "text": said}]}))
    client = ProviderClient("anthropic:c", base_url=server.url)
    reply = await client.complete(ASK, "actor")
    await client.aclose()
    assert reply.text == said


async def test_thoughts_are_told_and_are_no_part_of_the_reply(server):
    """A reply is the same with a listener as without, wherever its thoughts were cut into pieces."""
    server.says(
        [piece("<thi"), piece("nk>Hm.</think>"), piece("Hi"), piece(finish_reason="stop"), used(1000, 100), DONE]
    )
    told, reply = await heard(server)
    assert "".join(text for _, text in told) == "<think>Hm.</think>Hi"
    server.says(chat("<think>Hm.</think>Hi"))
    client = ProviderClient("openai:m", base_url=server.url + "/v1")
    whole = await client.complete(ASK, "turn.1/model")
    await client.aclose()
    assert reply == whole


async def test_a_reply_that_is_asked_for_anew_is_told_anew(server):
    """After half a reply comes an empty piece, and then the whole text."""
    told, reply = await heard(server.says([piece("H"), piece("i")], HI), attempts=2, wait_initial=0.01)
    assert reply.text == "Hi there"
    assert len(server.requests) == 2
    begin = max(place for place, (_, text) in enumerate(told) if not text)
    assert begin > 0
    assert "".join(text for _, text in told[begin:]) == "Hi there"


async def test_a_refused_request_is_the_same_error(server):
    """A fault before the first piece is mapped as for whole replies."""
    with pytest.raises(ModelRejected, match="does not know this model"):
        await heard(server.says(openai_error(404, "no such model", "model_not_found")))


async def test_a_listener_that_raises_changes_nothing(server, caplog):
    """What it raises is logged, and the reply is whole."""
    client = ProviderClient("openai:m", base_url=server.says(HI).url + "/v1", on_text=lambda *_: 1 / 0)
    with caplog.at_level(logging.ERROR, "retrial"):
        reply = await client.complete(ASK, "actor")
    await client.aclose()
    assert reply.text == "Hi there"
    assert "on_text raised" in caplog.text


def test_a_listener_that_nobody_would_await_is_refused():
    """An async listener would never run."""

    async def told(key, text): ...

    class Told:
        async def __call__(self, key, text): ...

    for listener in (told, Told()):
        with pytest.raises(ConfigError, match="make it a plain function"):
            ProviderClient("openai:m", base_url="http://127.0.0.1:9/v1", on_text=listener)


async def test_every_call_of_an_algorithm_is_told_under_its_key():
    """A listener of an engine tells agents that answer at once apart; a scripted text is one piece."""
    told = []
    model = FakeLLMClient(lambda request: "Answer: 4")
    async with assemble(model, on_text=lambda *what: told.append(what)) as engine:
        result = await engine.run(Debate(agents=2, rounds=1, judge=False), {"task": "2 + 2?"})
    assert result.value["answer"] == "4"
    keys = {key for key, _ in told}
    assert len(keys) == result.usage.calls == 4
    assert all([text for key, text in told if key == one] == ["", "Answer: 4"] for one in keys)


async def test_a_replayed_run_tells_nothing():
    """What the journal holds is not said again."""
    told = []
    async with assemble(lambda request: "Answer: 4", on_text=lambda *what: told.append(what)) as engine:
        debate = Debate(agents=2, rounds=0, judge=False)
        first = await engine.run(debate, {"task": "2 + 2?"}, run_id="r")
        before = len(told)
        again = await engine.resume("r", debate)
    assert (again.value, len(told)) == (first.value, before)


def test_solve_takes_a_listener(tmp_path, monkeypatch):
    """What is heard of a run goes by the keys of its trials."""
    monkeypatch.chdir(tmp_path)
    told = []
    result = solve("Say 4", answer="4", model=lambda request: "4", on_text=lambda *what: told.append(what))
    assert result.passed
    assert told == [("trial.1/actor", ""), ("trial.1/actor", "4")]


async def test_a_model_by_name_is_told_and_its_recording_too(server, tmp_path):
    """A model's reply is told in pieces while it is recorded, and what was recorded in one piece."""
    told = []

    async def ask(name: str, **where):
        client = client_for(name, on_text=lambda _, text: told.append(text), **where)
        reply = await client.complete(ASK, "actor")
        await client.aclose()
        return reply

    asked = await ask("openai:m", base_url=server.says(HI).url + "/v1", record=tmp_path / "r.jsonl")
    recorded = await ask(f"recorded:{tmp_path / 'r.jsonl'}")
    assert told == ["", "H", "i ", "there", "", "Hi there"]
    again = client_for(f"recorded:{tmp_path / 'r.jsonl'}", on_text=print)
    assert describe(again) == "recorded reply of openai:m"
    assert recorded.text == asked.text == "Hi there"
