"""What every source of replies looks like. Knows requests and replies, and nothing of providers, runs or journals."""

from __future__ import annotations

from typing import Protocol

from retrial.core.messages import ModelRequest, ModelResponse

__all__ = ["ModelClient"]


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
