"""Scripted models and the handler that asks them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from retrial.core.budget import Usage
from retrial.core.effects import CallModel
from retrial.core.messages import Message, ModelRequest, ModelResponse, ToolCall
from retrial.errors import ConfigError, ModelUnavailable
from retrial.models import FakeLLMClient, LLMHandler
from retrial.models.fake import text, tool_call

ASK = ModelRequest(messages=(Message(role="user", content="How far?"),))


class Engine:
    """Remembers who handles what, as the engine does."""

    def __init__(self) -> None:
        self.handlers: dict[Any, Any] = {}

    def handle(self, effect: Any, handler: Any, address: str | None = None) -> None:
        self.handlers[effect] = handler


async def test_a_plain_function_answers():
    """A function from request to reply is a model."""
    client = FakeLLMClient(lambda request: text(request.messages[0].content + " 42 km"))
    assert await client.complete(ASK, "actor") == ModelResponse(text="How far? 42 km", usage=Usage(calls=1))


async def test_an_async_function_answers():
    """The function may be a coroutine function."""

    async def model(request):
        return tool_call("transfer_to_billing")

    reply = await FakeLLMClient(model).complete(ASK, "actor")
    assert reply.tool_calls == (ToolCall(id="c1", name="transfer_to_billing"),)
    assert reply.finish_reason == "tool_calls"


async def test_a_string_is_a_reply_of_text():
    """A function may return a bare string."""
    assert (await FakeLLMClient(lambda _: "yes").complete(ASK, "actor")).text == "yes"


async def test_another_value_is_refused_by_name():
    """What is neither reply nor text is refused with the value and the key."""
    with pytest.raises(ConfigError, match=r"returned 42 for 'trial.1/actor'; return text"):
        await FakeLLMClient(lambda _: 42).complete(ASK, "trial.1/actor")


async def test_what_the_function_raises_passes_through():
    """A failing provider is scripted by raising its error."""

    def model(request):
        raise ModelUnavailable("down")

    with pytest.raises(ModelUnavailable, match="down"):
        await FakeLLMClient(model).complete(ASK, "actor")


def test_a_tool_call_takes_its_id_second_and_arguments_by_name():
    """A tool's own arguments may be called name and call_id."""
    call = tool_call("refund", "c2", order="A1", name="Ada", call_id="x").tool_calls[0]
    assert call == ToolCall(id="c2", name="refund", arguments={"order": "A1", "name": "Ada", "call_id": "x"})


async def test_the_handler_attaches_itself_and_picks_the_client_by_role():
    """A role with a client of its own goes there, every other role to the default."""
    engine = Engine()
    handler = LLMHandler(FakeLLMClient(lambda _: "default"), roles={"judge": FakeLLMClient(lambda _: "judge")})
    assert handler.attach(engine) is handler
    ask = engine.handlers[CallModel]
    assert (await ask(CallModel(request=ASK), "actor")).text == "default"
    judged = ModelRequest(role="judge", messages=ASK.messages)
    assert (await ask(CallModel(request=judged), "judge")).text == "judge"


async def test_an_answer_counts_as_one_call_whatever_the_client_says():
    """The handler corrects the count of calls and keeps the tokens."""
    client = FakeLLMClient(lambda _: ModelResponse(text="x", usage=Usage(calls=3, output_tokens=7)))
    reply = await LLMHandler(client)(CallModel(request=ASK), "actor")
    assert reply.usage == Usage(calls=1, output_tokens=7)


async def test_closing_the_handler_closes_each_client_once():
    """Clients that hold connections are closed once, those that hold none are left alone."""
    closed: list[str] = []

    class Holding(FakeLLMClient):
        async def aclose(self) -> None:
            closed.append(self.name)

    client = Holding(lambda _: "x", name="a")
    await LLMHandler(client, roles={"judge": client, "critic": FakeLLMClient(lambda _: "y")}).aclose()
    assert closed == ["a"]


def test_a_scripted_model_loads_nothing_heavy():
    """Importing the package, or a scripted model, loads no provider, retry or price library."""
    heavy = ["pydantic_ai", "pydantic", "openai", "anthropic", "stamina", "aiolimiter", "genai_prices", "httpx2"]
    code = f"import sys, retrial.models.fake, retrial.models; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
