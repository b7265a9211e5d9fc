"""From what a user writes after ``--model`` to a client, and from a client to what output calls it."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from retrial.errors import ConfigError
from retrial.models.client import ModelClient, Wrapper
from retrial.models.prices import price_known
from retrial.models.provider import PROVIDERS, ProviderClient
from retrial.models.recorded import RecordedClient
from retrial.models.recording import RecordingClient
from retrial.models.streaming import OnText, WholeText
from retrial.models.transport import Limits, PatientClient

__all__ = ["client_for", "describe", "is_priced"]

_FAMILIES = {"gpt": "openai", "o": "openai", "claude": "anthropic", "gemini": "google"}
"""The provider that a bare model name most likely means, by how it begins."""


def client_for(
    spec: str,
    *,
    base_url: str | None = None,
    record: str | Path | None = None,
    attempts: int = 5,
    timeout: float = 300.0,
    limits: Limits | None = None,
    on_text: OnText | None = None,
) -> ModelClient:
    """Make the client that ``spec`` names.

    Args:
        spec: ``provider:name``, such as ``openai:gpt-5-mini`` or ``ollama:qwen2.5-coder:7b``; or ``recorded:FILE``.
        base_url: where the provider is served, if not at its usual address.
        record: a file to append every reply to.
        attempts: the most HTTP requests for one call.
        timeout: seconds to wait for one reply, with ``on_text`` for its next piece.
        limits: request rate and concurrency, shared between the clients of a provider.
        on_text: called with each piece of a reply's text as it arrives, see ``OnText``.

    Raises:
        ConfigError: naming the nearest valid name, the package to install or the environment variable to set.
    """
    kind, colon, name = spec.partition(":")
    if kind == "recorded" and name:
        if record is not None:
            raise ConfigError(f"{spec!r} is a recording already; leave out --record {str(record)!r}")
        if base_url is not None:
            raise ConfigError(f"{spec!r} asks no server; leave out --base-url {base_url!r}")
        recorded = RecordedClient(name)
        return recorded if on_text is None else WholeText(recorded, on_text)
    if kind not in PROVIDERS or not name:
        raise ConfigError(f"there is no model {spec!r}; {_advice(kind, colon, name)}")
    client: ModelClient = ProviderClient(spec, base_url=base_url, timeout=timeout, on_text=on_text)
    client = PatientClient(client, attempts=attempts, limits=limits)
    return client if record is None else RecordingClient(client, record)


def describe(client: ModelClient) -> str:
    """Return what output calls the replies of ``client``, so that nobody takes a recording for a fresh answer."""
    inner = _innermost(client)
    if isinstance(inner, RecordedClient):
        return f"recorded reply of {', '.join(inner.models) or 'an unnamed model'}"
    return client.name


def is_priced(client: ModelClient) -> bool:
    """Whether what ``client`` costs will be known: always for scripted and recorded replies and for local servers."""
    inner = _innermost(client)
    return not isinstance(inner, ProviderClient) or price_known(inner.name, inner.base_url)


def _innermost(client: ModelClient) -> ModelClient:
    while isinstance(client, Wrapper):
        client = client.client
    return client


def _advice(kind: str, colon: str, name: str) -> str:
    """What the user most likely meant."""
    if kind in {"recorded", *PROVIDERS}:
        example = "recorded:replies.jsonl" if kind == "recorded" else f"{kind}:NAME"
        return f"name {'the file' if kind == 'recorded' else 'a model'} after the colon: {example!r}"
    if not colon:
        family = next((provider for start, provider in _FAMILIES.items() if kind.startswith(start)), None)
        return f"put the provider before it: '{family or 'provider'}:{kind}'"
    close = get_close_matches(kind, ["recorded", *PROVIDERS], n=1)
    if close:
        return f"did you mean '{close[0]}:{name}'?"
    return f"write provider:name with one of recorded, {', '.join(PROVIDERS)}"
