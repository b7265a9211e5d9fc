"""Telling a host what a model writes while it writes it. Knows no provider; what is told decides and records nothing.

How a reply arrives is a matter between a client and the host that looks on: the journal holds the whole reply either
way, and a replayed run tells nothing.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable

from retrial.core.messages import ModelRequest, ModelResponse
from retrial.errors import ConfigError
from retrial.models.client import ModelClient, Wrapper

__all__ = ["OnText", "WholeText", "careful"]

OnText = Callable[[str, str], object]
"""Called with the key of a call, such as ``turn.1/model``, and the next piece of its reply's text. An empty piece comes
first, and comes again where a request broke off halfway and is made anew. It is called in the event loop: be quick."""

_LOGGER = logging.getLogger("retrial")


def careful(on_text: OnText) -> OnText:
    """Return ``on_text`` so that what it raises is logged, under the logger ``retrial``, and the reply goes on.

    Raises:
        ConfigError: if it is async, since nobody would await it.
    """
    if inspect.iscoroutinefunction(on_text) or inspect.iscoroutinefunction(getattr(on_text, "__call__", None)):  # noqa: B004 - looked at, not called
        raise ConfigError(f"on_text={on_text!r} is async, and nobody waits for it; make it a plain function")

    def told(key: str, piece: str) -> None:
        try:
            on_text(key, piece)
        except Exception:
            _LOGGER.exception("on_text raised; the reply goes on")

    return told


class WholeText(Wrapper):
    """Tells the text of each reply in one piece, for clients that have it whole: scripted, recorded or the host's."""

    def __init__(self, client: ModelClient, on_text: OnText) -> None:
        super().__init__(client)
        self._on_text = careful(on_text)

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask the client, and tell what it said."""
        self._on_text(key, "")
        response = await self.client.complete(request, key)
        if response.text:
            self._on_text(key, response.text)
        return response
