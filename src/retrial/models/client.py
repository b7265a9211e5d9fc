"""What every source of replies looks like. Knows requests and replies, and nothing of providers, runs or journals."""

from __future__ import annotations

from typing import Protocol

from retrial.core.messages import ModelRequest, ModelResponse

__all__ = ["ModelClient", "Wrapper", "close"]


class ModelClient(Protocol):
    """Answers model requests: a scripted function, a recording, or a provider."""

    @property
    def name(self) -> str:
        """What answers: ``provider:model``, ``recorded:FILE`` or ``scripted``. Never holds a secret."""
        ...

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Answer ``request``; ``key`` is the call path, such as ``trial.2/actor``.

        Raises:
            ModelError: if no answer can be had. A refusal in words is an answer.
        """
        ...


class Wrapper:
    """A client around another, under its name."""

    def __init__(self, client: ModelClient) -> None:
        self.client = client
        self.name = client.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.client!r})"

    async def aclose(self) -> None:
        """Close the connections of the client inside, where it holds some."""
        await close(self.client)


async def close(client: ModelClient) -> None:
    """Close the connections of a client that holds some. A later call opens new ones."""
    aclose = getattr(client, "aclose", None)
    if aclose is not None:
        await aclose()
