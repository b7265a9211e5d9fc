"""What the spec of an evaluator holds, however deep its parts lie. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

__all__ = ["asks_a_person", "within"]

_NESTED = ("parts", "judges")


def within(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a spec and every spec in it, the outer ones first; what is no spec is passed over.

    >>> [one["kind"] for one in within({"kind": "all_of", "parts": [{"kind": "exact"}, {"kind": "judge"}]})]
    ['all_of', 'exact', 'judge']
    """
    yield spec
    for name in _NESTED:
        for part in cast("Sequence[object]", spec.get(name) or ()):
            if isinstance(part, Mapping):
                yield from within(cast("Mapping[str, Any]", part))


def asks_a_person(spec: Mapping[str, Any]) -> bool:
    """Return whether a person judges, alone or beside others."""
    return any(one.get("kind") == "person" for one in within(spec))
