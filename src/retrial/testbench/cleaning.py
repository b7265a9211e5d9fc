"""Text of strangers made fit for a prompt and a terminal, and the same on every run and machine."""

from __future__ import annotations

import re

from retrial.testbench.wording import MAX_MESSAGE, clipped

__all__ = ["cleaned"]

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_ADDRESSES = re.compile(r" at 0x[0-9a-fA-F]+")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'\"<>:,;)]*")


def cleaned(text: str, limit: int = MAX_MESSAGE) -> str:
    r"""``text`` without control characters, escape sequences, memory addresses and temporary paths, bounded.

    >>> cleaned("<A object at 0x7f00> \x1b[31mred")
    '<A object> red'
    """
    text = text[: limit * 4].encode("utf-8", "backslashreplace").decode("utf-8")
    text = _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))
    return clipped(_TEMPORARY.sub("<temporary path>", _ADDRESSES.sub("", text)), limit)
