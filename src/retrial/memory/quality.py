"""What can be wrong with a lesson. Pure functions of texts; what to do about a fault is the caller's decision.

A hard fault makes a lesson useless (``empty``, ``code``); a soft one makes it doubtful. The faults are those of the
seeds: a lesson is a rule for the next try, in words, that is not a retelling and does not patch one test case.
How often each is found, and how often rightly: ``benchmarks/lessons_quality.py``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from retrial.core.printable import printable
from retrial.core.syntax import UNREADABLE, tree_of
from retrial.memory.advice import narrates, overrides, patches_a_case
from retrial.memory.copying import copies, repeats

__all__ = ["HARD_FAULTS", "REASONS", "faults", "storable", "tidy"]

HARD_FAULTS = frozenset({"empty", "code"})
"""Faults that make a lesson useless."""

REASONS = {
    "empty": "it is empty",
    "code": "it contains code",
    "narrates": "it retells what happened instead of saying what to do next time",
    "too_long": "it is longer than a short paragraph",
    "duplicate": "it repeats an earlier lesson",
    "copies_answer": "it copies an expected value from the tests",
    "patches_a_case": "it adds a special case for one input instead of a general rule",
    "overrides": "it tells the actor to leave its task instead of how to do it",
}
"""What to tell a reflector that is asked again."""

MAX_WORDS = 120
"""Two to four sentences are asked for; more than this many words are not short any more."""
MAX_CHARACTERS = 2000
"""No lesson is kept longer than this: it stands in every later prompt."""

_CUT = " […]"
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LIKE_CODE = re.compile(r"[=([{:]|^(?:import|from|return)\b")
_OTHER_CODE = re.compile(r"^(?:let|fn|pub|use|const|var|struct|impl|match|#include|SELECT)\b.*[;{]$")


def faults(text: str, earlier: Iterable[str] = (), answers: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what is wrong with a lesson, hard faults first; empty for a good one.

    ``earlier`` are lessons that exist already, ``answers`` what it must not hand over: values that failed checks
    expected, as source text, or the answer of the task. More than 2,000 characters are not looked at.

    >>> faults("I called it with the wrong ID and got an error.")
    ('narrates',)
    >>> faults("Next time, split on whitespace before joining.")
    ()
    """
    if not text.strip():
        return ("empty",)
    too_long = len(text) > MAX_CHARACTERS or len(text.split()) > MAX_WORDS
    text = _squeezed(text[:MAX_CHARACTERS])
    found = {
        "code": _has_code(text),
        "narrates": narrates(text),
        "too_long": too_long,
        "duplicate": repeats(text, earlier),
        "copies_answer": copies(text, answers),
        "patches_a_case": patches_a_case(text),
        "overrides": overrides(text),
    }
    return tuple(name for name, present in found.items() if present)


def _squeezed(text: str) -> str:
    """A text with single spaces and no empty lines, so that no pattern has to try every way to divide a gap."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def storable(found: Iterable[str]) -> bool:
    """Whether a lesson with these faults may be remembered for later runs.

    >>> storable(("narrates",)), storable(("duplicate",)), storable(("overrides",))
    (True, False, False)
    """
    return not {"duplicate", "overrides"} & {*found}


def tidy(text: str) -> str:
    r"""Return a reflector's reply as it is judged and kept: without control characters, at most 2,000 characters.

    >>> tidy("  Use \x1b[31mkm\x1b[0m.\r\n"), len(tidy("word " * 9999))
    ('Use km.', 2000)
    """
    text = printable(text).strip()
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[: MAX_CHARACTERS - len(_CUT)] + _CUT


def _has_code(text: str) -> bool:
    """Whether there is a fence, or a line that is a statement. An identifier inside a sentence is neither."""
    return "```" in text or any(_is_statement(_LIST_MARK.sub("", line).strip()) for line in text.splitlines())


def _is_statement(line: str) -> bool:
    """Whether a line is a statement that does something, and not prose that happens to parse."""
    if _OTHER_CODE.match(line):
        return True
    if len(line) > 500 or not _LIKE_CODE.search(line):
        return False
    try:
        (node,) = tree_of(f"{line} pass" if line.endswith(":") else line).body
    except UNREADABLE:
        return False
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    # "Note: something" parses as an annotation.
    return not (isinstance(node, ast.AnnAssign) and node.value is None)
