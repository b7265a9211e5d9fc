"""What model calls cost. The price list comes with ``genai-prices``; a model on one's own machine costs nothing."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from retrial.errors import ConfigError

__all__ = ["cost_usd", "is_loopback", "price_known", "upper_bound_usd"]

_OWN_HARDWARE = frozenset({"ollama", "vllm"})
"""Providers that are programs which the user runs."""

_UNBILLED = frozenset({"recorded", "scripted"})
"""Sources of replies that no provider bills."""

_PRICE_LISTS: Mapping[str, str] = {
    "bedrock": "aws",
    "google-cloud": "google",
    "openai-responses": "openai",
    "xai": "x-ai",
}
"""What genai-prices calls a provider, where it uses another name."""


def cost_usd(
    model: str,
    *,
    input_tokens: int,
    output_tokens: int,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
    base_url: str | None = None,
) -> float | None:
    """Return the price of one call in US dollars, or None where no price is known.

    Args:
        model: ``provider:name``.
        input_tokens: tokens read, those read from or written to a cache included.
        output_tokens: tokens written.
        cache_read_tokens: how many of the input tokens came from the provider's cache.
        cache_write_tokens: how many of the input tokens were put into it.
        base_url: where the model is served, if not at the provider's usual address; a loopback address costs nothing.
    """
    provider, _, name = model.partition(":")
    if provider in _UNBILLED or (base_url and is_loopback(base_url)):
        return 0.0
    if provider in _OWN_HARDWARE:
        hosted = name.endswith("-cloud") or "ollama.com" in (base_url or "")
        return None if hosted else 0.0
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - the price list is loaded when first needed
    except ImportError as error:
        raise ConfigError(f'the price of {model!r} needs the price list; install "genai-prices"') from error
    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cache_read_tokens,
        cache_write_tokens=cache_write_tokens,
    )
    try:
        return float(calc_price(usage, name, provider_id=_PRICE_LISTS.get(provider, provider)).total_price)
    except LookupError:
        return None


def price_known(model: str, base_url: str | None = None) -> bool:
    """Whether a dollar budget can be held for ``model``: it has a price, or costs nothing.

    >>> price_known("ollama:qwen2.5-coder")
    True
    """
    return cost_usd(model, input_tokens=1, output_tokens=1, base_url=base_url) is not None


def upper_bound_usd(model: str, input_tokens: int, output_tokens: int, base_url: str | None = None) -> float | None:
    """Return the most that so many tokens can cost in US dollars: nothing comes from a cache. None without a price."""
    return cost_usd(model, input_tokens=input_tokens, output_tokens=output_tokens, base_url=base_url)


def is_loopback(url: str) -> bool:
    """Whether ``url`` points at this machine.

    >>> is_loopback("http://127.0.0.1:8091/v1"), is_loopback("https://api.openai.com/v1")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
