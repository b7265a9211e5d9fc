"""What ``--model`` may say, what output calls a client, and what a call costs."""

from __future__ import annotations

import pytest

from loopback_provider import chat
from retrial.core.messages import Message, ModelRequest
from retrial.errors import ConfigError, ModelRejected, ModelTimeout, ModelUnavailable, RateLimited
from retrial.models import FakeLLMClient, RecordedClient, client_for, describe, price_known, upper_bound_usd
from retrial.models.failures import failure_of, scrub
from retrial.models.prices import cost_usd

ASK = ModelRequest(messages=(Message(role="user", content="Say hi"),))


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ("opena:gpt-5-mini", "did you mean 'openai:gpt-5-mini'"),
        ("antropic:claude", "did you mean 'anthropic:claude'"),
        ("google-gla:gemini-2.5-flash", "did you mean 'google"),
        ("record:a.jsonl", "did you mean 'recorded:a.jsonl'"),
        ("gpt-5-mini", "put the provider before it: 'openai:gpt-5-mini'"),
        ("claude-sonnet-4-5", "'anthropic:claude-sonnet-4-5'"),
        ("thing", "'provider:thing'"),
        ("openai:", "name a model after the colon: 'openai:NAME'"),
        ("ollama", "'ollama:NAME'"),
        ("recorded:", "name the file after the colon"),
        ("zzz:x", "write provider:name with one of recorded, anthropic"),
        ("", "put the provider before it"),
    ],
)
def test_a_wrong_name_gets_the_nearest_right_one(spec, advice):
    """A misspelt model is refused with what was most likely meant."""
    with pytest.raises(ConfigError, match=f"there is no model {spec!r}; .*{advice}"):
        client_for(spec)


async def test_a_model_is_recorded_and_replayed_by_name(server, tmp_path):
    """The same two lines record a real reply and play it back, and output tells them apart."""
    path = tmp_path / "replies.jsonl"
    live = client_for("openai:m", base_url=server.says(chat("hello")).url + "/v1", record=path)
    reply = await live.complete(ASK, "actor")
    await live.aclose()
    replayed = client_for(f"recorded:{path}")
    assert await replayed.complete(ASK, "actor") == reply
    assert len(server.requests) == 1
    assert (describe(live), describe(replayed)) == ("openai:m", "recorded reply of openai:m")
    assert isinstance(replayed, RecordedClient)


@pytest.mark.parametrize("option", [{"record": "b.jsonl"}, {"base_url": "http://127.0.0.1"}])
def test_a_recording_takes_no_option_of_a_server(option):
    """Recording a recording, or giving it an address, is a mistake and named."""
    with pytest.raises(ConfigError, match="leave out --"):
        client_for("recorded:a.jsonl", **option)


def test_a_scripted_client_is_described_by_its_name():
    """Output calls a scripted model what its author called it."""
    assert describe(FakeLLMClient(lambda _: "x")) == "scripted"


@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-4o",
        "openai:gpt-5-mini",
        "openai-responses:gpt-4o",
        "anthropic:claude-sonnet-4-5",
        "google:gemini-2.5-flash",
    ],
)
def test_known_models_have_a_price(model):
    """A dollar budget can be held for the well-known models, and more tokens cost more."""
    assert price_known(model)
    assert 0 < upper_bound_usd(model, 1000, 100) < upper_bound_usd(model, 2000, 100)


def test_the_price_is_the_price_lists():
    """Tokens read from the cache are cheaper, and the bound reckons without a cache."""
    plain = cost_usd("openai:gpt-4o", input_tokens=1000, output_tokens=100)
    cached = cost_usd("openai:gpt-4o", input_tokens=1000, output_tokens=100, cache_read_tokens=900)
    assert cached < plain == upper_bound_usd("openai:gpt-4o", 1000, 100)


def test_an_unpriced_model_has_no_price():
    """A model that the list does not know costs None, never nothing."""
    assert not price_known("openai:my-own-finetune")
    assert upper_bound_usd("nobody:knows", 10, 10) is None
    assert not price_known("ollama:gpt-oss:120b-cloud")


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("ollama:qwen", None),
        ("vllm:m", "http://10.0.0.5:8000/v1"),
        ("openai:gpt-4o", "http://127.0.0.1:1/v1"),
        ("openai:m", "http://localhost:1"),
        ("openai:m", "http://[::1]:1/v1"),
        ("scripted", None),
        ("recorded:a.jsonl", None),
    ],
)
def test_what_nobody_bills_is_free(model, base_url):
    """A model on one's own machine, a script and a recording cost nothing."""
    assert cost_usd(model, input_tokens=10, output_tokens=10, base_url=base_url) == 0.0


class SomethingNewError(Exception):
    """Stands for a class of a later release."""

    def __init__(self, status_code: int | None) -> None:
        super().__init__("new\nthing")
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "kind"),
    [(429, RateLimited), (408, ModelTimeout), (422, ModelRejected), (502, ModelUnavailable), (None, ModelUnavailable)],
)
def test_an_error_class_of_a_later_release_is_placed_by_its_status(status, kind):
    """A provider library that grows new classes does not turn an outage into a rejection."""
    failure = failure_of(SomethingNewError(status), "p:m")
    assert type(failure) is kind
    assert "(new thing)" in str(failure)


def test_only_secrets_are_scrubbed(monkeypatch):
    """Values of variables that hold keys vanish; short values and other variables stay."""
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh12345")
    monkeypatch.setenv("TINY_KEY", "a")
    monkeypatch.setenv("HARMLESS", "a-long-ordinary-value")
    assert scrub("a abcdefgh12345 a-long-ordinary-value") == "a [SOME_API_KEY] a-long-ordinary-value"
