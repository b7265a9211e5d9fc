"""How outcomes are said: bounded representations and one-sentence messages.

Knows plain values and texts, never a process. Everything here is the same on every run and machine: no addresses, no
temporary paths, no timings. The text of this module is also part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false

__all__ = ["MAX_MESSAGE", "clipped", "comparison", "gone", "raised", "short", "undefined"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_MESSAGE = 4096
"""Characters of one message."""

MAX_REPR = 300
"""Characters of one representation."""

_MAX_PARTS = 120
_BRACKETS = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}
_WORDS = {
    "==": "expected {}",
    "is": "expected {}",
    "!=": "expected anything else",
    "is not": "expected anything else",
    "in": "expected one of {}",
    "not in": "expected none of {}",
    "<": "expected less than {}",
    "<=": "expected at most {}",
    ">": "expected more than {}",
    ">=": "expected at least {}",
}


def clipped(text: str, limit: int = MAX_REPR) -> str:
    """``text``, or its beginning with its length noted.

    >>> clipped("abcdef", 3)
    'abc... (6 characters)'
    """
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def short(value: Any) -> str:
    """A bounded representation of a plain value.

    >>> short([1, 2])
    '[1, 2]'
    """
    kind: Any = type(value)
    try:
        if kind in _BRACKETS and len(value) > _MAX_PARTS:
            opening, closing = _BRACKETS[kind]
            parts = [part for part, _ in zip(value, range(_MAX_PARTS), strict=False)]
            text = clipped(", ".join(map(repr, parts)), MAX_REPR - 20).split("... (")[0]
            return f"{opening}{text}, ...{closing} ({len(value)} items)"
        if kind is str and len(value) > MAX_REPR:
            return f"{value[:MAX_REPR]!r}... ({len(value)} characters)"
        return clipped(repr(value))
    except RecursionError:
        return f"<{kind.__name__}, too deeply nested to show>"
    except ValueError:
        return f"<{kind.__name__}, too long to show>"


def comparison(left: str, actual: str, op: str, expected: str) -> str:
    """Why a comparison failed.

    >>> comparison("add(4, 1)", "0", "==", "5")
    'add(4, 1) is 0, expected 5'
    """
    return f"{left} is {actual}, {_WORDS[op].format(expected)}"


def raised(call: str, name: str, text: str, where: list[Any], missing: str | None = None) -> str:
    """What an exception of the solution said, and where.

    >>> raised("f(1)", "ValueError", "no", [[3, "f", "raise ValueError('no')"]])
    "f(1) raised ValueError: no (line 3: raise ValueError('no'))"
    """
    if missing:
        return f"{call} imports {missing}, and {missing.partition('.')[0]} is not available here"
    if name == "MemoryError":
        return f"{call} ran out of memory"
    head = f"{call} raised {name}" + (f": {clipped(text, 1500)}" if text else "")
    steps = [f"line {line}: {source}" if source else f"line {line}" for line, _, source in where[-3:]]
    return f"{head} ({' -> '.join(steps)})" if steps else head


def undefined(name: str, names: list[str]) -> str:
    """Why a name cannot be used: ``names`` is what the code defines instead, the likeliest first.

    >>> undefined("add", ["addition"])
    'add is not defined; the code defines: addition'
    """
    return f"{name} is not defined; the code defines{': ' if names else ' '}{', '.join(names[:10]) or 'nothing'}"


def gone(kind: str, detail: str, call: str) -> str:
    """Why a call has no answer: ``detail`` is a limit in words for a timeout, an exit in words for a death.

    >>> gone("timeout", "5 s", "f(3)")
    'f(3) did not finish within 5 s'
    >>> gone("died", "exit code 0", "f(3)")
    'the program ended while f(3) was running (exit code 0)'
    """
    if kind == "timeout":
        return f"{call} did not finish within {detail}"
    if kind == "died":
        return f"the program ended while {call} was running ({detail})"
    return f"not run: {detail}"
