"""Real providers, through pydantic-ai's ``direct`` and ``models`` layers. The one module that imports pydantic-ai.

Everything heavy is imported when a client is built. Keys come from the environment, are read by the provider's own
library, and are never kept here. One call is exactly one HTTP request: the libraries' own retries are set to 0.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from retrial.core.budget import Usage
from retrial.core.messages import Message, ModelRequest, ModelResponse, ToolCall
from retrial.errors import ConfigError, ModelUnavailable
from retrial.models.failures import answer_in, failure_of, scrub
from retrial.models.prices import cost_usd, is_loopback
from retrial.models.streaming import OnText, careful

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings

__all__ = ["PROVIDERS", "ProviderClient"]

PROVIDERS: Mapping[str, str] = {
    "anthropic": "pydantic-ai-slim[anthropic]",
    "azure": "pydantic-ai-slim[openai]",
    "bedrock": "pydantic-ai-slim[bedrock]",
    "cerebras": "pydantic-ai-slim[openai]",
    "cohere": "pydantic-ai-slim[cohere]",
    "deepseek": "pydantic-ai-slim[openai]",
    "fireworks": "pydantic-ai-slim[openai]",
    "google": "pydantic-ai-slim[google]",
    "google-cloud": "pydantic-ai-slim[google]",
    "groq": "pydantic-ai-slim[groq]",
    "litellm": "pydantic-ai-slim[openai]",
    "mistral": "pydantic-ai-slim[mistral]",
    "moonshotai": "pydantic-ai-slim[openai]",
    "ollama": "pydantic-ai-slim[openai]",
    "openai": "pydantic-ai-slim[openai]",
    "openai-responses": "pydantic-ai-slim[openai]",
    "openrouter": "pydantic-ai-slim[openai]",
    "together": "pydantic-ai-slim[openai]",
    "vllm": "pydantic-ai-slim[openai]",
    "xai": "pydantic-ai-slim[xai]",
}
"""Every provider by the name that comes before the colon, and what to install for it."""

_CHAT = {name for name, extra in PROVIDERS.items() if extra.endswith("[openai]")} - {"openai-responses"}
"""Those that speak chat completions, in which every whole reply says why it ended."""

_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
"""Thoughts that the library takes out of a whole reply of chat completions, and leaves in a streamed one."""

OLLAMA_URL = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless it is told otherwise."""


class ProviderClient:
    """Asks one model of one provider.

    Args:
        model: ``provider:name``. ``openai:NAME`` speaks chat completions, and so reaches Ollama, vLLM, llama.cpp and
            every other compatible server by its ``base_url``.
        base_url: where the provider is served; None for its usual address or its environment variable. A compatible
            server needs no key.
        timeout: seconds to wait for a reply; with ``on_text`` for its next piece.
        on_text: called with each piece of a reply's text as it arrives, see ``OnText``. None asks for whole replies.

    Raises:
        ConfigError: if the provider is unknown, its library is not installed, or its key is not set.
    """

    def __init__(
        self, model: str, *, base_url: str | None = None, timeout: float = 300.0, on_text: OnText | None = None
    ) -> None:
        provider, _, name = model.partition(":")
        if provider not in PROVIDERS or not name:
            close = get_close_matches(provider, PROVIDERS, n=1)
            advice = f"did you mean {f'{close[0]}:{name}'!r}?" if close else f"use one of {', '.join(PROVIDERS)}"
            raise ConfigError(f"{model!r} names no provider that is known here; {advice}")
        self.name = model
        self._given_url = base_url
        self._timeout = timeout
        self._on_text = None if on_text is None else careful(on_text)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._model: Model | None = _build(provider, name, base_url)
        self.base_url: str | None = self._model.base_url

    def __repr__(self) -> str:
        return f"ProviderClient({self.name!r})"

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Send one HTTP request and map what comes back.

        Raises:
            ModelError: RateLimited, ModelTimeout, ModelUnavailable or ModelRejected.
            ConfigError: if the model cannot be asked that way.
        """
        how = {"model_settings": _settings(request, self._timeout), "model_request_parameters": _parameters(request)}
        messages, model = _conversation(request.messages), self._model_in_this_loop()
        try:
            response = await self._asked(key, model, messages, **how)
        except Exception as error:  # noqa: BLE001 - a reply out of form makes the libraries raise about anything
            answer = answer_in(error, self.name)
            if answer is not None:
                return answer
            # The provider's own exception may quote a key, so it is not chained.
            raise failure_of(error, self.name) from None
        return self._reply(response)

    async def _asked(
        self, key: str, model: Model, messages: list[theirs.ModelMessage], **how: Any
    ) -> theirs.ModelResponse:
        """Send the request, and tell who listens what arrives."""
        from pydantic_ai.direct import model_request, model_request_stream  # noqa: PLC0415 - loaded with the first client

        if self._on_text is None:
            return await model_request(model, messages, **how)
        self._on_text(key, "")
        async with model_request_stream(model, messages, **how) as stream:
            async for event in stream:
                if piece := _piece_of(event):
                    self._on_text(key, piece)
        return _as_whole(stream.get(), chat=self.name.partition(":")[0] in _CHAT)

    async def aclose(self) -> None:
        """Close the connections. The next call opens new ones."""
        if self._model is not None:
            model, self._model = self._model, None
            async with model:
                pass  # Leaving it is how pydantic-ai closes a model's connections.

    def _model_in_this_loop(self) -> Model:
        """The model, with connections of its own for each event loop: those of another loop cannot be used."""
        loop = asyncio.get_running_loop()
        if self._model is None or self._loop not in {None, loop}:
            provider, _, name = self.name.partition(":")
            self._model = _build(provider, name, self._given_url)
        self._loop = loop
        return self._model

    def _reply(self, response: theirs.ModelResponse) -> ModelResponse:
        from pydantic_ai import messages as theirs  # noqa: PLC0415 - loaded with the first client

        if response.finish_reason == "error":
            raise ModelUnavailable(f"{self.name}: the provider broke off in the middle of its reply; try later")
        calls = tuple(
            ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=part.args_as_dict())
            for part in response.parts
            if isinstance(part, theirs.ToolCallPart)
        )
        reason = response.finish_reason or "stop"
        used = response.usage
        return ModelResponse(
            text="".join(part.content for part in response.parts if isinstance(part, theirs.TextPart)),
            tool_calls=calls,
            finish_reason="tool_calls" if reason == "tool_call" or (calls and reason == "stop") else reason,
            usage=Usage(
                calls=1,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cost_usd=cost_usd(
                    self.name,
                    input_tokens=used.input_tokens,
                    output_tokens=used.output_tokens,
                    cache_read_tokens=used.cache_read_tokens,
                    cache_write_tokens=used.cache_write_tokens,
                    base_url=self.base_url,
                ),
            ),
            model=self.name,
        )


def _piece_of(event: theirs.ModelResponseStreamEvent) -> str:
    """The text that an event of a stream adds to the reply."""
    from pydantic_ai import messages as theirs  # noqa: PLC0415 - loaded with the first client

    match event:
        case theirs.PartStartEvent(part=theirs.TextPart(content=text)):
            return text
        case theirs.PartDeltaEvent(delta=theirs.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _as_whole(reply: theirs.ModelResponse, *, chat: bool) -> theirs.ModelResponse:
    """A reply that came as a stream, as the library reads one that came whole; ``chat`` is the protocol's family.

    A stream that merely ended is an error: the library takes it for a whole reply where the protocol is chat's.
    """
    from pydantic_ai import messages as theirs  # noqa: PLC0415 - loaded with the first client

    if chat:
        for part in reply.parts:
            if isinstance(part, theirs.TextPart):
                part.content = _THOUGHTS.sub("", part.content)
    unsaid = chat and reply.finish_reason == "stop" and "finish_reason" not in (reply.provider_details or {})
    if reply.finish_reason is None or unsaid:
        reply.finish_reason = "error"
    return reply


def _build(provider: str, name: str, base_url: str | None) -> Model:
    """Make pydantic-ai's model.

    Raises:
        ConfigError: naming the package to install, or the environment variable to set.
    """
    if provider == "ollama":
        base_url = base_url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA_URL
    try:
        from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - 1.4 s of imports, and only real providers need it
        from pydantic_ai.models import infer_model  # noqa: PLC0415 - same
    except ImportError:
        raise ConfigError(f'{provider}:{name} needs a library; install "{PROVIDERS[provider]}"') from None
    try:
        if provider == "openai":
            model = infer_model(f"openai-chat:{name}", _provider_at(base_url))
            return _older_servers_too(model, name)
        return infer_model(f"{provider}:{name}", _provider_at(base_url))
    except ImportError:
        raise ConfigError(f'{provider}:{name} needs a library; install "{PROVIDERS[provider]}"') from None
    except UserError as error:
        variables = re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", str(error))
        if variables:
            needed = " and ".join(dict.fromkeys(variables))
            raise ConfigError(f"{provider}:{name} is not set up; set the environment variable {needed}") from None
        raise ConfigError(f"{provider}:{name} cannot be set up: {scrub(str(error))}") from None


def _provider_at(base_url: str | None) -> Callable[[str], Provider[Any]]:
    """What makes the provider with this address, or with its usual one."""
    from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415 - loaded with the first client

    def make(provider: str) -> Provider[Any]:
        kind = cast("Callable[..., Provider[Any]]", infer_provider_class(provider))
        if base_url is None:
            return kind()
        try:
            return kind(base_url=base_url)
        except TypeError as error:
            raise ConfigError(f"{provider} takes no base URL; leave {base_url!r} out") from error

    return make


def _older_servers_too(model: Model, name: str) -> Model:
    """Let a server on this machine get ``max_tokens``: older ones do not know OpenAI's newer name for it."""
    if not is_loopback(model.base_url or ""):
        return model
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - loaded with the first client
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - same

    profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(
        name, provider=cast("Provider[Any]", cast("OpenAIChatModel", model).provider), profile=profile
    )


def _settings(request: ModelRequest, timeout: float) -> ModelSettings:
    settings: ModelSettings = {"max_retries": 0, "timeout": timeout}
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if request.stop:
        settings["stop_sequences"] = list(request.stop)
    return settings


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - loaded with the first client
    from pydantic_ai.output import OutputObjectDefinition  # noqa: PLC0415 - same
    from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415 - same

    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description or None,
            parameters_json_schema=dict(tool.parameters) or {"type": "object", "properties": {}},
        )
        for tool in request.tools
    ]
    if request.output_schema is None:
        return ModelRequestParameters(function_tools=tools)
    output = OutputObjectDefinition(json_schema=dict(request.output_schema), name="reply")
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=output)


def _conversation(messages: Iterable[Message]) -> list[theirs.ModelMessage]:
    """Map our turns; what stands between two turns of the assistant becomes one request.

    Raises:
        ConfigError: for an unknown role.
    """
    from pydantic_ai import messages as theirs  # noqa: PLC0415 - loaded with the first client

    mapped: list[theirs.ModelMessage] = []
    parts: list[theirs.ModelRequestPart] = []
    tools: dict[str, str] = {}
    for message in messages:
        content = message.content or ""
        if message.role == "system":
            parts.append(theirs.SystemPromptPart(content))
        elif message.role == "user":
            parts.append(theirs.UserPromptPart(content))
        elif message.role == "tool":
            call = message.tool_call_id or ""
            parts.append(theirs.ToolReturnPart(tools.get(call, ""), content, call))
        elif message.role == "assistant":
            if parts:
                mapped.append(theirs.ModelRequest(parts=parts))
                parts = []
            tools.update((call.id, call.name) for call in message.tool_calls)
            said: list[theirs.ModelResponsePart] = [theirs.TextPart(content)] if content else []
            said += [theirs.ToolCallPart(call.name, dict(call.arguments), call.id) for call in message.tool_calls]
            mapped.append(theirs.ModelResponse(parts=said))
        else:
            raise ConfigError(f"a message has the role {message.role!r}; use system, user, assistant or tool")
    if parts:
        mapped.append(theirs.ModelRequest(parts=parts))
    return mapped
