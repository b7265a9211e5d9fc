"""How much a run may use and has used. Pure: whoever holds a Budget decides when to ask.

Calls are exact, because they are reserved before they are made. Tokens and cost are known only afterwards, so they are
looked at before each reservation and may overshoot by one batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from retrial.errors import BudgetExceeded, ConfigError

__all__ = ["UNLIMITED", "Budget", "Usage", "reserve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was used. Add two with ``+``."""

    calls: int = 0
    """Model calls that were answered."""
    input_tokens: int = 0
    """Tokens read by models."""
    output_tokens: int = 0
    """Tokens written by models."""
    cost_usd: float | None = 0.0
    """US dollars; None once a model without a known price took part."""
    seconds: float = 0.0
    """Seconds during which the run was being worked on."""

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add field by field.

        >>> (Usage(calls=1, output_tokens=5) + Usage(calls=2, cost_usd=None)).calls
        3
        """
        priced = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if priced else None,
            seconds=self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that may be used; None for no limit."""

    max_calls: int | None = None
    """Model calls, at least 0. Exact."""
    max_tokens: int | None = None
    """Tokens read and written, at least 0. May overshoot by one batch."""
    max_cost_usd: float | None = None
    """US dollars, at least 0. May overshoot by one batch; every model must have a known price."""
    max_seconds: float | None = None
    """Seconds of work, above 0; looked at before each new call."""

    def __post_init__(self) -> None:
        """Refuse limits below zero.

        Raises:
            ConfigError: naming the limit and its value.
        """
        for name in ("max_calls", "max_tokens", "max_cost_usd", "max_seconds"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                message = f"budget {name}={value!r} must be at least 0; leave it out for no limit"
                raise ConfigError(message)

    def share(self, parts: int, at_once: int = 1) -> Budget:
        """Split into ``parts`` equal allowances, of which ``at_once`` are used at a time; what is left over is lost.

        >>> Budget(max_calls=10).share(4).max_calls
        2
        """
        return Budget(
            max_calls=None if self.max_calls is None else self.max_calls // parts,
            max_tokens=None if self.max_tokens is None else self.max_tokens // parts,
            max_cost_usd=None if self.max_cost_usd is None else self.max_cost_usd / parts,
            max_seconds=None if self.max_seconds is None else self.max_seconds * min(at_once, parts) / parts,
        )

    def less(self, used: Usage) -> Budget:
        """Return what is left after ``used``; a cost that is not known takes nothing away.

        >>> Budget(max_calls=10).less(Usage(calls=4)).max_calls
        6
        """
        return Budget(
            max_calls=None if self.max_calls is None else max(self.max_calls - used.calls, 0),
            max_tokens=None if self.max_tokens is None else max(self.max_tokens - used.tokens, 0),
            max_cost_usd=None if self.max_cost_usd is None else max(self.max_cost_usd - (used.cost_usd or 0.0), 0.0),
            max_seconds=None if self.max_seconds is None else max(self.max_seconds - used.seconds, 0.0),
        )

    def beyond(self, used: Usage) -> Budget:
        """Return the limits for a run that used ``used`` before and may use this much more.

        >>> Budget(max_calls=2).beyond(Usage(calls=4)).max_calls
        6
        """
        return Budget(
            max_calls=None if self.max_calls is None else self.max_calls + used.calls,
            max_tokens=None if self.max_tokens is None else self.max_tokens + used.tokens,
            max_cost_usd=None if self.max_cost_usd is None else self.max_cost_usd + (used.cost_usd or 0.0),
            max_seconds=None if self.max_seconds is None else self.max_seconds + used.seconds,
        )


UNLIMITED = Budget()
"""No limit at all."""


def reserve(budget: Budget, used: Usage, calls: int) -> None:
    """Allow ``calls`` more model calls, or refuse all of them.

    ``calls=0`` asks whether work that calls no model may go on; only time is looked at then.

    >>> reserve(Budget(max_calls=2), Usage(calls=1), 1)
    >>> reserve(Budget(max_calls=2), Usage(calls=1), 2)
    Traceback (most recent call last):
    retrial.errors.BudgetExceeded: the budget allows 2 model calls: 1 used, 2 more asked for

    Raises:
        BudgetExceeded: naming the limit, what is used and what was asked for.
        ConfigError: if cost is limited and an unpriced model took part.
    """
    if budget.max_calls is not None and calls and used.calls + calls > budget.max_calls:
        raise BudgetExceeded(
            f"the budget allows {budget.max_calls} model calls: {used.calls} used, {calls} more asked for"
        )
    if budget.max_tokens is not None and calls and used.tokens >= budget.max_tokens:
        raise BudgetExceeded(f"the budget allows {budget.max_tokens} tokens: {used.tokens} used")
    if budget.max_cost_usd is not None and calls:
        if used.cost_usd is None:
            raise ConfigError(
                "a dollar budget needs a price for every model, and one that answered has none; "
                "limit calls or tokens instead"
            )
        if used.cost_usd >= budget.max_cost_usd and used.cost_usd > 0:
            raise BudgetExceeded(f"the budget allows ${budget.max_cost_usd:.4f}: ${used.cost_usd:.4f} used")
    if budget.max_seconds is not None and used.seconds >= budget.max_seconds:
        raise BudgetExceeded(f"the budget allows {budget.max_seconds:g} s: {used.seconds:.1f} s used")
