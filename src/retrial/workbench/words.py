"""What a command printed, made the same on every run and machine, and fit for a prompt. Pure functions of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrial.testbench.cleaning import cleaned

__all__ = ["steady"]

_TIMINGS = (
    (re.compile(r"\bin \d+(?:\.\d+)? ?m?s(?:econds)?\b(?: \(\d+:\d\d:\d\d\))?"), "in some time"),
    (re.compile(r"\(\d+(?:\.\d+)? ?m?s\)"), "(some time)"),
    (re.compile(r"\bduration_ms:? \d+(?:\.\d+)?"), "duration_ms some"),
    (re.compile(r"^([^\w\n]*+(?:Time|Duration):?[ \t]+)\d.*$", re.MULTILINE), r"\1some"),
)
_HEADERS = re.compile(r"^(?:platform .* -- Python|rootdir: |plugins: |cachedir: |configfile: ).*\n?", re.MULTILINE)


def steady(text: str, places: Sequence[str] = (), limit: int = 20_000) -> str:
    """Return a text without timings, without the ``places`` in which this machine keeps things, and cleaned.

    >>> steady("FAILED /home/me/x/tests/test_a.py::test_b  1 failed in 0.12s", ["/home/me/x"])
    'FAILED tests/test_a.py::test_b  1 failed in some time'
    """
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(f"{place}/", "").replace(place, ".")
    text = _HEADERS.sub("", text)
    for pattern, words in _TIMINGS:
        text = pattern.sub(words, text)
    return cleaned(text, limit)
