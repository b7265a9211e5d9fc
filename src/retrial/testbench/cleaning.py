"""Text of strangers made fit for a prompt and a terminal, and the same on every run and machine."""

from __future__ import annotations

import re

from retrial.core.printable import printable
from retrial.testbench.wording import MAX_MESSAGE, clipped

__all__ = ["cleaned"]

_ADDRESSES = re.compile(r" at 0x[0-9a-fA-F]+")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'\"<>:,;)]*")


def cleaned(text: str, limit: int = MAX_MESSAGE) -> str:
    r"""``text`` without control characters, escape sequences, memory addresses and temporary paths, bounded.

    >>> cleaned("<A object at 0x7f00> \x1b[31mred")
    '<A object> red'
    """
    text = printable(text[: limit * 4])
    return clipped(_TEMPORARY.sub("<temporary path>", _ADDRESSES.sub("", text)), limit)
