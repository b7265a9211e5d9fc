"""Patience below the journal: retries, request rate and concurrency. One key has one outcome, however many requests.

Knows which of our errors pass by themselves, and no provider. A cancellation is never retried nor delayed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from retrial.core.messages import ModelRequest, ModelResponse
from retrial.errors import ConfigError, ModelError, ModelTimeout, ModelUnavailable, RateLimited
from retrial.models.client import ModelClient, Wrapper

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

__all__ = ["Limits", "PatientClient"]

_PASSING = (RateLimited, ModelTimeout, ModelUnavailable)
"""Failures that may be gone at the next request."""

_QUIET = logging.NullHandler()
"""Where nobody set up logging, the retries are not written to standard error: the last failure counts them."""


class Limits:
    """How many requests a provider gets. Share one between all the clients of a provider.

    Args:
        requests_per_minute: the most requests in a minute, retries included; the first burst may use them all. None
            for no limit.
        max_concurrency: the most requests under way at once. None for no limit.

    Raises:
        ConfigError: if a limit is not above 0.
    """

    def __init__(self, *, requests_per_minute: float | None = None, max_concurrency: int | None = None) -> None:
        for name, value in (("requests_per_minute", requests_per_minute), ("max_concurrency", max_concurrency)):
            if value is not None and not value > 0:
                raise ConfigError(f"{name}={value!r} must be above 0; leave it out for no limit")
        self._requests_per_minute = requests_per_minute
        self._max_concurrency = max_concurrency
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rate: AsyncLimiter | None = None
        self._places: asyncio.Semaphore | None = None

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait until one more request may be sent, and hold its place until it is answered."""
        self._belong_to_this_loop()
        async with contextlib.AsyncExitStack() as stack:
            if self._places is not None:
                await stack.enter_async_context(self._places)
            if self._rate is not None:
                await self._rate.acquire()
            yield

    def _belong_to_this_loop(self) -> None:
        """Start afresh in a new event loop: what waits in one loop cannot be woken from another."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        self._loop = loop
        if self._max_concurrency is not None:
            self._places = asyncio.Semaphore(self._max_concurrency)
        if self._requests_per_minute is not None:
            from aiolimiter import AsyncLimiter  # noqa: PLC0415 - loaded only where a rate is limited

            # A bucket smaller than one request would never let one pass, so below one a minute the period grows.
            rate = max(self._requests_per_minute, 1.0)
            self._rate = AsyncLimiter(rate, 60.0 * rate / self._requests_per_minute)


class PatientClient(Wrapper):
    """Asks again when a failure may pass by itself, and keeps to the limits.

    A provider that says how long to wait is waited for exactly that long; otherwise the wait doubles from
    ``wait_initial`` to ``wait_max`` with up to ``wait_initial`` of jitter. A wait that would end after ``max_seconds``
    is not begun. While it waits, a call holds no place of ``limits``.

    Args:
        client: what is asked.
        attempts: the most requests for one call, at least 1.
        max_seconds: after so long no further request is made, above 0.
        wait_initial: seconds before the second request.
        wait_max: the most seconds between two requests, unless the provider asks for more.
        limits: shared with the other clients of the provider; None for none.

    Raises:
        ConfigError: if a bound is out of range.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        attempts: int = 5,
        max_seconds: float = 600.0,
        wait_initial: float = 1.0,
        wait_max: float = 30.0,
        limits: Limits | None = None,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"attempts={attempts!r} must be at least 1")
        if not max_seconds > 0:
            raise ConfigError(f"max_seconds={max_seconds!r} must be above 0")
        super().__init__(client)
        self._attempts = attempts
        self._max_seconds = max_seconds
        self._wait_initial = wait_initial
        self._wait_max = wait_max
        self._limits = limits or Limits()

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask until an answer comes, the failure is final, or patience ends.

        Raises:
            ModelError: the last failure; its message says how many requests were made.
        """
        import stamina  # noqa: PLC0415 - a run with a scripted model never loads it

        logging.getLogger("stamina").addHandler(_QUIET)
        tries = 0
        retries = stamina.retry_context(
            on=_hook(time.monotonic() + self._max_seconds),
            attempts=self._attempts,
            timeout=self._max_seconds,
            wait_initial=self._wait_initial,
            wait_max=self._wait_max,
            wait_jitter=self._wait_initial,
        )
        try:
            async for attempt in retries:
                with attempt:
                    async with self._limits.turn():
                        tries += 1
                        return await self.client.complete(request, key)
        except _PASSING as error:
            if tries == 1:
                raise
            raise _after(error, tries) from None
        raise AssertionError("unreachable: the last failure is raised")


def _hook(deadline: float) -> Callable[[Exception], bool | float]:
    """Decide whether a failure is worth another request: yes, no, or the seconds that the provider asked for."""

    def hook(error: Exception) -> bool | float:
        if not isinstance(error, _PASSING):
            return False
        asked = error.retry_after if isinstance(error, RateLimited) else None
        if asked is None:
            return True
        return asked if time.monotonic() + asked < deadline else False

    return hook


def _after(error: ModelError, tries: int) -> ModelError:
    """The same failure, saying how often it was tried."""
    last = type(error)(f"{error}; gave up after {tries} requests")
    if isinstance(error, RateLimited) and isinstance(last, RateLimited):
        last.retry_after = error.retry_after
    return last
