"""Splitting the budget of an invocation: equal shares for the tasks, and what is left for extractions of insights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrial.algorithms.extraction import CLIP, Extraction
from retrial.algorithms.reflexion import Reflexion
from retrial.core.budget import UNLIMITED, Budget
from retrial.engine.run import Algorithm
from retrial.errors import ConfigError

__all__ = ["Allotment", "allot", "nothing_more", "shares"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allotment:
    """Who may use what."""

    share: Budget
    """Each task's."""
    learning: Budget | None = None
    """That of all extractions together; None without a limit."""
    extractor_calls: int = 0
    """The most calls that extractions of the tasks' own trials can make within it."""
    extractor_reads: int = 0
    """How many characters one of those calls is shown at most."""


def allot(budget: Budget, algorithms: Sequence[Algorithm], at_once: int) -> Allotment:
    """Split ``budget`` among the algorithms' tasks, ``at_once`` of which are worked on at a time.

    The most calls that extractions can need are set aside where every task keeps a call at least, and of tokens and
    dollars the same part as of calls. Together it is never more than the budget.

    >>> from retrial.recipes import insight_bank
    >>> found = allot(Budget(max_calls=20), [insight_bank()] * 6, 1)
    >>> found.share.max_calls, found.learning.max_calls
    (3, 2)

    Raises:
        ConfigError: if a share holds nothing.
    """
    count = len(algorithms)
    known = [one for one in algorithms if isinstance(one, Reflexion) and one.experience and one.experience.keeps]
    settings = known[0].experience if known else None
    if settings is None:
        return Allotment(share=shares(budget, count, at_once))
    batches = -(-sum(one.max_trials for one in known) // settings.batch)
    calls = batches * Extraction(batch=settings.batch, group=settings.group).max_calls
    part = calls / (calls + sum(one.max_calls for one in algorithms))
    kept = Budget(
        max_calls=None if budget.max_calls is None else max(budget.max_calls - calls, min(budget.max_calls, count)),
        max_tokens=None if budget.max_tokens is None else budget.max_tokens - int(budget.max_tokens * part),
        max_cost_usd=None if budget.max_cost_usd is None else budget.max_cost_usd * (1 - part),
        max_seconds=budget.max_seconds,
    )
    share = shares(kept, count, at_once)
    left = Budget(
        max_calls=None if budget.max_calls is None else min(budget.max_calls - count * (share.max_calls or 0), calls),
        max_tokens=None if budget.max_tokens is None else budget.max_tokens - count * (share.max_tokens or 0),
        max_cost_usd=None if budget.max_cost_usd is None else budget.max_cost_usd * part,
        max_seconds=share.max_seconds,
    )
    return Allotment(
        share=share,
        learning=None if left == UNLIMITED else left,
        extractor_calls=calls if left.max_calls is None else min(calls, left.max_calls),
        extractor_reads=min(settings.batch, settings.group or settings.batch) * 4 * CLIP,
    )


def nothing_more(budget: Budget) -> Budget | None:
    """Return what extractions may use where runs go on whose limits are ``budget``: nothing, unless there is no limit.

    What an invocation set aside for them may be used up by then; the next ``retrial run --insights`` goes on with them.

    >>> nothing_more(Budget(max_calls=3)).max_calls, nothing_more(Budget())
    (0, None)
    """
    limited = replace(budget, max_seconds=None) != UNLIMITED
    return Budget(max_calls=0) if limited else None


def shares(budget: Budget, count: int, at_once: int) -> Budget:
    """Return each task's equal share of a budget.

    Raises:
        ConfigError: if a share holds nothing.
    """
    share = budget.share(count, at_once)
    for name, given, part in (
        ("calls", budget.max_calls, share.max_calls),
        ("tokens", budget.max_tokens, share.max_tokens),
    ):
        if given is not None and not part:
            why = "allows none" if count == 1 else f"is less than one for each of {count} tasks"
            how = "" if count == 1 else ", or take fewer tasks with --limit"
            raise ConfigError(f"--budget-{name} {given} {why}; give at least {count}{how}")
    return share
