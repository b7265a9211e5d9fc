"""Performs the model calls of a run: picks the client for the role. Knows no provider, no retry and no journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from retrial.core.effects import CallModel, Handlers
from retrial.core.messages import ModelResponse
from retrial.errors import ConfigError
from retrial.models.client import ModelClient, close

__all__ = ["LLMHandler"]


class LLMHandler:
    """Sends every model call to a client: the one for its role, or else the default.

    Args:
        client: answers every role that ``roles`` does not name; None if nobody else may answer.
        roles: other clients by role, such as ``{"judge": …}``.
    """

    def __init__(self, client: ModelClient | None, *, roles: Mapping[str, ModelClient] | None = None) -> None:
        self._client = client
        self._roles = dict(roles or {})

    def attach(self, engine: Handlers) -> LLMHandler:
        """Make ``engine`` send its model calls here, and return this handler."""
        engine.handle(CallModel, self)
        return self

    def client(self, role: str) -> ModelClient:
        """Return the client that answers for ``role``.

        Raises:
            ConfigError: if nobody plays it.
        """
        client = self._roles.get(role, self._client)
        if client is None:
            raise ConfigError(f"no model plays the {role}; models are given for {sorted(self._roles)} only")
        return client

    async def __call__(self, effect: CallModel, key: str) -> ModelResponse:
        """Answer one model call. An answer counts as one call, whatever the client says."""
        response = await self.client(effect.request.role).complete(effect.request, key)
        if response.usage.calls != 1:
            response = replace(response, usage=replace(response.usage, calls=1))
        return response

    async def aclose(self) -> None:
        """Close the connections of every client that holds some. A later call opens new ones."""
        for client in {id(client): client for client in (self._client, *self._roles.values())}.values():
            if client is not None:
                await close(client)
