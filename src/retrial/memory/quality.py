"""What can be wrong with a lesson. Pure functions of texts; what to do about a fault is the caller's decision.

A hard fault makes a lesson useless (``empty``, ``code``); a soft one makes it doubtful. The faults are those of the
seeds: a lesson is a rule for the next try, in words, that is not a retelling and does not patch one test case.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

__all__ = ["HARD_FAULTS", "REASONS", "faults", "normalised"]

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
}
"""What to tell a reflector that is asked again."""

MAX_WORDS = 120
"""Two to four sentences are asked for; more than this many words are not short any more."""

_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_FORWARD = re.compile(
    r"\b(next time|in (?:the )?future|from now on|going forward|next (?:try|attempt|trial)|should|must|need(?:s)? to|"
    r"have to|has to|will|i'll|instead|always|never|ensure|make sure|remember to|avoid|do not|don't|be sure|try to)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"(?:^|[.!?:;]\s+)(?:first,?\s+|then,?\s+)?(use|check|look|call|handle|return|convert|validate|add|keep|split|strip|"
    r"sort|test|read|write|state|name|give|put|include|exclude|compare|count|compute|consider|start|begin|stop|verify|"
    r"extract|remove|replace|round|join|treat|skip|raise|catch|prefer|choose|apply|follow|parse|iterate)\b",
    re.IGNORECASE,
)
_LIKE_CODE = re.compile(r"[=([{:]|^(?:import|from|return)\b")
_SPECIAL_CASE = re.compile(r"\b(special[- ]case|hard[- ]?cod)", re.IGNORECASE)


def normalised(text: str) -> str:
    """Return the text as lessons are compared: lower case, words alone.

    >>> normalised("Use the email, not the id.") == normalised("use the EMAIL not the id")
    True
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


def faults(text: str, earlier: Iterable[str] = (), answers: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what is wrong with a lesson, hard faults first; empty for a good one.

    ``earlier`` are lessons that exist already, ``answers`` the values that the failed checks expected, as source text.

    >>> faults("I called it with the wrong ID and got an error.")
    ('narrates',)
    >>> faults("Next time, split on whitespace before joining.")
    ()
    """
    if not text.strip():
        return ("empty",)
    found = {
        "code": _has_code(text),
        "narrates": not _FORWARD.search(text) and not _IMPERATIVE.search(text),
        "too_long": len(text.split()) > MAX_WORDS,
        "duplicate": normalised(text) in {normalised(other) for other in earlier},
        "copies_answer": _copies(text, answers),
        "patches_a_case": bool(_SPECIAL_CASE.search(text)),
    }
    return tuple(name for name, present in found.items() if present)


def _has_code(text: str) -> bool:
    """Whether there is a fence, or a line that is a statement. An identifier inside a sentence is neither."""
    return "```" in text or any(_is_statement(_LIST_MARK.sub("", line).strip()) for line in text.splitlines())


def _is_statement(line: str) -> bool:
    """Whether a line is a Python statement that does something, and not prose that happens to parse."""
    if len(line) > 500 or not _LIKE_CODE.search(line):
        return False
    try:
        (node,) = ast.parse(f"{line} pass" if line.endswith(":") else line).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Await)
    # "Note: something" parses as an annotation.
    return not (isinstance(node, ast.AnnAssign) and node.value is None)


def _copies(text: str, answers: Iterable[str]) -> bool:
    """Whether an expected value of some length stands in the text."""
    return any(len(answer) >= 6 and answer in text for answer in (item.strip("'\" ") for item in answers))
