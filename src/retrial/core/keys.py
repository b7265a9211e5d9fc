"""Names of effects, and digests.

A key is a call path such as ``trial.2/actor``: names that the author of an algorithm gives, joined by slashes. Nothing
here counts, so a key depends on the text of the program and never on who finished first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, cast

from retrial.core.codec import canonical_json
from retrial.errors import ConfigError

__all__ = ["digest", "digest_of_text", "first_difference", "join", "valid_name"]


def valid_name(name: str) -> str:
    """Return ``name`` if it can be one segment of a key.

    >>> valid_name("trial.2")
    'trial.2'

    Raises:
        ConfigError: if it is empty, holds a slash or a control character.
    """
    if not name or "/" in name or not name.isprintable():
        raise ConfigError(f"{name!r} cannot name an effect: use printable characters without '/'")
    return name


def join(path: str, name: str) -> str:
    """Put ``name`` under ``path``.

    >>> join("trial.2", "actor"), join("", "actor")
    ('trial.2/actor', 'actor')
    """
    return f"{path}/{name}" if path else name


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical JSON of ``value``, as 64 hexadecimal digits.

    Raises:
        ConfigError: if ``value`` is not JSON.
    """
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of canonical JSON that is at hand."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def first_difference(recorded: Any, present: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """Return where two JSON values first differ as (place, recorded, present), or None.

    >>> first_difference({"a": [1, 2]}, {"a": [1, 3]})
    ('a[1]', 2, 3)
    """
    if isinstance(recorded, Mapping) and isinstance(present, Mapping):
        left, right = cast("Mapping[str, Any]", recorded), cast("Mapping[str, Any]", present)
        for key in sorted({*left, *right}):
            found = first_difference(left.get(key), right.get(key), f"{place}.{key}" if place else key)
            if found:
                return found
        return None
    if isinstance(recorded, list) and isinstance(present, list):
        ours, theirs = cast("list[Any]", recorded), cast("list[Any]", present)
        for index in range(max(len(ours), len(theirs))):
            one = ours[index] if index < len(ours) else None
            two = theirs[index] if index < len(theirs) else None
            found = first_difference(one, two, f"{place}[{index}]")
            if found:
                return found
        return None
    return None if recorded == present else (place or "value", cast("Any", recorded), present)
