"""The provider adapter against a provider on this machine: what is sent, what comes back, what each fault becomes."""

from __future__ import annotations

import asyncio
import builtins
import traceback

import pytest

from loopback_provider import SECRET, chat, openai_error
from retrial.core.budget import Usage
from retrial.core.messages import Message, ModelRequest, ToolCall, ToolSpec
from retrial.errors import ConfigError, ModelRejected, ModelTimeout, ModelUnavailable, RateLimited
from retrial.models import ProviderClient, RecordingClient
from retrial.models.provider import PROVIDERS

ASK = ModelRequest(messages=(Message(role="user", content="Say hi"),))


async def ask_openai(server, request=ASK, *, patience=5.0):
    client = ProviderClient("openai:some-model", base_url=server.url + "/v1", timeout=patience)
    try:
        return await client.complete(request, "actor")
    finally:
        await client.aclose()


async def test_a_request_is_sent_whole_and_needs_no_key(server):
    """Messages, tools, limits and the schema all reach a compatible server, which needs no key."""
    server.says(chat())
    request = ModelRequest(
        messages=(
            Message(role="system", content="Be short."),
            Message(role="user", content="Refund A1"),
            Message(role="assistant", tool_calls=(ToolCall(id="c1", name="refund", arguments={"order": "A1"}),)),
            Message(role="tool", content="refunded A1", tool_call_id="c1"),
        ),
        tools=(
            ToolSpec(
                name="refund",
                description="Refund an order.",
                parameters={"type": "object", "properties": {"order": {"type": "string"}}},
            ),
        ),
        temperature=0.5,
        max_tokens=7,
        stop=("END",),
        output_schema={"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]},
    )
    await ask_openai(server, request)
    path, _, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"]["name"] == "refund"
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "refunded A1"}
    assert body["tools"][0]["function"]["description"] == "Refund an order."
    assert (body["model"], body["temperature"], body["max_tokens"], body["stop"]) == ("some-model", 0.5, 7, ["END"])
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["passed"]


async def test_a_text_reply_comes_back_with_its_usage(server):
    """Text, reason, tokens and provider:model come back; a model on this machine costs nothing."""
    reply = await ask_openai(server.says(chat("hello", finish_reason="length")))
    assert (reply.text, reply.finish_reason, reply.model) == ("hello", "length", "openai:some-model")
    assert reply.usage == Usage(calls=1, input_tokens=1000, output_tokens=100, cost_usd=0.0)


async def test_tool_calls_come_back_with_their_arguments(server):
    """A call with arguments that are no JSON is passed on as such, for the tool to refuse."""
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": "A1"}'}},
        {"id": "c2", "type": "function", "function": {"name": "refund", "arguments": "{order"}},
    ]
    reply = await ask_openai(server.says(chat(None, finish_reason="tool_calls", tool_calls=calls)))
    assert reply.text == ""
    assert reply.finish_reason == "tool_calls"
    assert reply.tool_calls[0] == ToolCall(id="c1", name="refund", arguments={"order": "A1"})
    assert reply.tool_calls[1].arguments == {"INVALID_JSON": "{order"}


async def test_a_filtered_reply_is_an_answer(server):
    """What a content filter stopped is an attempt with its reason, not an exception."""
    reply = await ask_openai(server.says(chat("", finish_reason="content_filter")))
    assert reply.finish_reason == "content_filter"


async def test_an_unknown_role_is_refused(server):
    """A message of no known role is named before anything is sent."""
    with pytest.raises(ConfigError, match="role 'robot'"):
        await ask_openai(server.says(chat()), ModelRequest(messages=(Message(role="robot", content="x"),)))
    assert server.requests == []


FAULTS = {
    "rate": (openai_error(429, "slow down", headers={"retry-after": "2"}), RateLimited, "asks to wait"),
    "quota": (openai_error(429, "no money", "insufficient_quota"), ModelRejected, "credit is used up"),
    "500": (openai_error(500, "oops"), ModelUnavailable, "provider failed"),
    "503": (openai_error(503, "busy"), ModelUnavailable, "not available|overloaded"),
    "key": (openai_error(401, "bad key", "invalid_api_key"), ModelRejected, "key was refused"),
    "context": (
        openai_error(400, "too long", "context_length_exceeded"),
        ModelRejected,
        "longer than the model's context",
    ),
    "unknown": (openai_error(404, "no such model", "model_not_found"), ModelRejected, "does not know this model"),
    "bad": (openai_error(400, "what?"), ModelRejected, "refuses the request"),
    "hang": ("hang", ModelTimeout, "no answer in time"),
    "drop": ("drop", ModelUnavailable, "connection failed"),
    "page": ((200, {}, {"hello": "world"}), ModelUnavailable, "no model reply"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_is_one_request_and_one_of_our_errors(server, fault):
    """Every fault of a provider is mapped, after exactly one HTTP request, to a message that names the model."""
    answer, kind, words = FAULTS[fault]
    server.says(answer)
    with pytest.raises(kind, match=words) as caught:
        await ask_openai(server, patience=0.3 if fault == "hang" else 5.0)
    assert type(caught.value) is kind
    assert str(caught.value).startswith("openai:some-model: ")
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 1
    if fault == "rate":
        assert caught.value.retry_after == 2.0


async def test_a_reply_out_of_form_is_no_fault_of_the_run(server):
    """What makes a provider's library stumble becomes a model error that names the model."""
    client = ProviderClient("openai-responses:m", base_url=server.says((200, {}, {"hello": "world"})).url + "/v1")
    with pytest.raises(ModelUnavailable, match=r"^openai-responses:m: the call failed with TypeError"):
        await client.complete(ASK, "actor")
    await client.aclose()


async def test_no_server_at_all_is_unavailable():
    """A refused connection says to check the base URL."""
    client = ProviderClient("openai:m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailable, match="check the network and the base URL"):
        await client.complete(ASK, "actor")
    await client.aclose()


ANTHROPIC_FAULTS = {
    "rate": (429, "rate_limit_error", {"retry-after": "3"}, RateLimited),
    "overloaded": (529, "overloaded_error", {}, ModelUnavailable),
    "500": (500, "api_error", {}, ModelUnavailable),
    "key": (401, "authentication_error", {}, ModelRejected),
}


@pytest.mark.parametrize("fault", ANTHROPIC_FAULTS)
async def test_anthropic_faults_are_mapped_alike(server, monkeypatch, fault):
    """The same faults of another provider become the same errors, after one request."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    status, kind, headers, ours = ANTHROPIC_FAULTS[fault]
    server.says((status, headers, {"type": "error", "error": {"type": kind, "message": f"no, {SECRET}"}}))
    client = ProviderClient("anthropic:claude-x", base_url=server.url, timeout=5.0)
    with pytest.raises(ours) as caught:
        await client.complete(ASK, "actor")
    await client.aclose()
    assert len(server.requests) == 1
    assert SECRET not in str(caught.value)
    if fault == "rate":
        assert caught.value.retry_after == 3.0


async def test_anthropic_answers(server, monkeypatch):
    """A reply of another protocol comes back the same way."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    client = ProviderClient("anthropic:claude-x", base_url=server.says((200, {}, body)).url)
    reply = await client.complete(ASK, "actor")
    await client.aclose()
    assert (reply.text, reply.finish_reason) == ("hi", "tool_calls")
    assert reply.tool_calls == (ToolCall(id="t", name="f", arguments={"a": 1}),)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 2)


async def test_the_key_is_sent_and_shown_nowhere(server, monkeypatch, tmp_path):
    """The key reaches the server, and no error, traceback, repr or recording holds it."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    client = ProviderClient("openai:m", base_url=server.url + "/v1")
    recording = RecordingClient(client, tmp_path / "r")
    server.says(chat())
    await recording.complete(ASK, "actor")
    server.says(openai_error(401, f"Incorrect API key provided: {SECRET}", "invalid_api_key"))
    with pytest.raises(ModelRejected) as caught:
        await recording.complete(ASK, "actor")
    await recording.aclose()
    assert server.requests[0][1]["authorization"] == f"Bearer {SECRET}"
    shown = "".join(traceback.format_exception(caught.value))
    assert "[OPENAI_API_KEY]" in str(caught.value)
    for text in (str(caught.value), shown, repr(client), repr(recording), (tmp_path / "r").read_text()):
        assert SECRET not in text


async def test_a_cancelled_call_is_cancelled(server):
    """A cancellation passes through the adapter as what it is."""
    client = ProviderClient("openai:m", base_url=server.says("hang").url + "/v1")
    call = asyncio.create_task(client.complete(ASK, "actor"))
    await asyncio.to_thread(server.asked.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await client.aclose()


def test_one_client_serves_several_event_loops(server):
    """A client outlives the event loop of its first call, and can be closed and used again."""
    server.says(chat())
    client = ProviderClient("openai:m", base_url=server.url + "/v1")

    async def once() -> str:
        text = (await client.complete(ASK, "actor")).text
        await client.aclose()
        return text + (await client.complete(ASK, "actor")).text

    async def last() -> str:
        text = await once()
        await client.aclose()
        return text

    assert [asyncio.run(last()), asyncio.run(last())] == ["hihi", "hihi"]


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-flash", "GOOGLE_API_KEY"),
        ("vllm:m", "VLLM_BASE_URL"),
    ],
)
def test_a_missing_key_names_the_variable(model, variable):
    """What is not set is named before anything is asked."""
    with pytest.raises(ConfigError, match=f"set the environment variable {variable}"):
        ProviderClient(model)


@pytest.mark.parametrize(
    ("model", "extra"), [("openai:m", r"pydantic-ai-slim\[openai\]"), ("anthropic:m", r"pydantic-ai-slim\[anthropic\]")]
)
@pytest.mark.parametrize("missing", ["pydantic_ai.models", "pydantic_ai.providers"])
def test_a_missing_library_names_what_to_install(monkeypatch, model, extra, missing):
    """Without the provider's library, the message says which extra brings it."""
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith(missing):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=f'install "{extra}"'):
        ProviderClient(model)


def test_ollama_needs_neither_key_nor_address():
    """Ollama is looked for where it usually listens, unless the environment or the caller says otherwise."""
    assert ProviderClient("ollama:qwen2.5-coder:7b").base_url == "http://127.0.0.1:11434/v1/"


def test_the_address_of_the_environment_is_used(monkeypatch):
    """OPENAI_BASE_URL points at a compatible server, which then needs no key."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8091/v1")
    assert ProviderClient("openai:m").base_url == "http://127.0.0.1:8091/v1/"


def test_every_listed_provider_exists():
    """The table of providers names only what the library knows."""
    from pydantic_ai.providers import infer_provider_class

    for provider in PROVIDERS:
        try:
            infer_provider_class(provider)
        except ImportError:
            assert PROVIDERS[provider].startswith("pydantic-ai-slim["), provider
