"""Text of strangers without what could steer a terminal or hide what stands there."""

from __future__ import annotations

import re

__all__ = ["printable"]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(
    # With the marks of direction, and the tags in which a whole text can hide.
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]"
)


def printable(text: str) -> str:
    r"""Return ``text`` without escape sequences, control characters and invisible ones; lines end with ``\n``.

    >>> printable("\x1b[31mred\x1b[0m\r\nand\x00 more")
    'red\nand more'
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))
