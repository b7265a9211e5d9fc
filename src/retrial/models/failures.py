"""What a provider's failure means for a run. Knows the exceptions of pydantic-ai by name, and imports none of them.

By name, because the classes became finer from release to release: an error whose class is unknown here is still placed
by the class that it inherits from, or by its status code.
"""

from __future__ import annotations

import os
import re

from retrial.core.budget import Usage
from retrial.core.messages import ModelResponse
from retrial.errors import (
    ConfigError,
    ModelError,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    RetrialError,
)

__all__ = ["answer_in", "failure_of", "scrub"]

_EXCERPT = 300
"""The most characters of a provider's own words that a message repeats."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")

_LATER = "try later or choose another model"

_MEANINGS: tuple[tuple[str, type[ModelError], str], ...] = (
    ("ModelQuotaExceededError", ModelRejected, "the account's credit is used up; top it up or choose another model"),
    (
        "ModelContextWindowExceededError",
        ModelRejected,
        "the request is longer than the model's context; carry fewer lessons or choose a model with a longer one",
    ),
    (
        "ModelAuthenticationError",
        ModelRejected,
        "the key was refused; check the environment variable that holds it",
    ),
    ("ModelNotFoundError", ModelRejected, "the provider does not know this model; check its name"),
    ("ModelRequestRejectedError", ModelRejected, "the provider refuses the request as it is; change it"),
    ("ModelRateLimitError", RateLimited, "the provider asks to wait; lower the request rate or try later"),
    ("ModelTimeoutError", ModelTimeout, "no answer in time; raise the timeout or try later"),
    ("ModelRequestTimeout", ModelTimeout, "no answer in time; raise the timeout or try later"),
    ("ModelOverloadedError", ModelUnavailable, f"the provider is overloaded; {_LATER}"),
    ("ModelUnavailableError", ModelUnavailable, f"the provider is not available; {_LATER}"),
    ("ModelServerError", ModelUnavailable, f"the provider failed; {_LATER}"),
    ("ModelConnectionError", ModelUnavailable, "the connection failed; check the network and the base URL"),
    ("UnexpectedModelBehavior", ModelUnavailable, "the server sent no model reply; check the base URL"),
)
"""The first class that an error belongs to decides: what it is to us, and what it means with the next step."""


def scrub(text: str) -> str:
    """Replace the value of every environment variable that holds a secret by its name in brackets.

    A variable holds one if its name ends in KEY, TOKEN, SECRET, PASSWORD or CREDENTIALS. Values under eight characters
    are left alone: they would match ordinary words, and no provider's key is that short.
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name.upper()) and value in text:
            text = text.replace(value, f"[{name}]")
    return text


def answer_in(error: Exception, model: str) -> ModelResponse | None:
    """Return the reply that ``error`` stands for, or None.

    A model that a content filter stopped, or that ran out of tokens, has answered: that is an attempt, not a fault.
    """
    names = _class_names(error)
    if "ContentFilterError" in names:
        return ModelResponse(finish_reason="content_filter", usage=Usage(calls=1, cost_usd=None), model=model)
    if "OutputTokenLimitExceeded" in names:
        return ModelResponse(finish_reason="length", usage=Usage(calls=1, cost_usd=None), model=model)
    return None


def failure_of(error: Exception, model: str) -> RetrialError:
    """Return our exception for one of pydantic-ai; ``model`` is ``provider:name``.

    The message is one sentence that names the model and the next step, followed by the provider's own words, without
    any secret.
    """
    names = _class_names(error)
    if "UserError" in names:
        return ConfigError(f"{model}: this model cannot be asked that way ({_own_words(error)})")
    kind, meaning = next(
        ((kind, meaning) for name, kind, meaning in _MEANINGS if name in names),
        _by_status(getattr(error, "status_code", None), type(error).__name__),
    )
    failure = kind(f"{model}: {meaning} ({_own_words(error)})")
    if isinstance(failure, RateLimited):
        failure.retry_after = getattr(error, "retry_after", None)
    return failure


def _by_status(status: object, name: str) -> tuple[type[ModelError], str]:
    """The meaning of an HTTP status (None without one), for classes that are not known here."""
    if status == 429:
        return RateLimited, "the provider asks to wait; lower the request rate or try later"
    if status == 408:
        return ModelTimeout, "no answer in time; raise the timeout or try later"
    if isinstance(status, int) and 400 <= status < 500:
        return ModelRejected, "the provider refuses the request as it is; change it"
    return ModelUnavailable, f"the call failed with {name}; {_LATER}"


def _class_names(error: Exception) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _own_words(error: Exception) -> str:
    """What the provider said, on one line, cut short."""
    said = " ".join(scrub(str(error)).split()) or type(error).__name__
    return said if len(said) <= _EXCERPT else said[:_EXCERPT] + "…"
