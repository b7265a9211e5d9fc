"""What can be done next, as commands that work where they are printed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

__all__ = ["command", "larger", "remedy"]

_LIMITS = {" model calls": "--budget-calls", " tokens": "--budget-tokens", "allows $": "--budget-usd"}
"""By what the words of a refusal hold: the option that sets the limit."""


def command(words: str, store: str | None = None) -> str:
    """Return the text of a command; it names the store where the default is another one.

    >>> command("show last", "my runs.db")
    "retrial show last --store 'my runs.db'"
    """
    from retrial.assembly import store_path

    if not store or store == store_path(None):
        return f"retrial {words}"
    return f"retrial {words} --store {shlex.quote(store)}"


def larger(refusals: Iterable[str]) -> str:
    """Return how to enlarge the limits that ended runs, from the words of their ends.

    >>> larger(["the budget allows 2 s: 2.1 s used"])
    'with a larger budget (--budget-seconds N)'
    """
    names = [
        next((option for words, option in _LIMITS.items() if words in refusal), "--budget-seconds")
        for refusal in refusals
    ]
    return f"with a larger budget ({', '.join(f'{name} N' for name in dict.fromkeys(names))})"


def remedy(error_type: str, again: str) -> str:
    """Return what to change where resuming alone would end in the same way; empty where it may help.

    ``error_type`` is what a run's last event calls the error, ``again`` the command that resumes the run.
    """
    if error_type == "EvaluatorError":
        return "resuming would end in the same way: mend the tests, or whatever judges, and run the task again"
    if error_type == "NoRecordedReply":
        return f"the recording cannot answer; ask another model: {again} --model PROVIDER:NAME"
    if error_type in ("ConfigError", "PromptError", "HandlerMissing"):
        return "resuming would end in the same way: mend what the error names, and run the task again"
    return ""
