"""A person as the evaluator: accepts, or says what is wrong.

``PersonHandler`` stands on the other side, asks in the terminal, and imports core alone.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

from retrial.core.effects import CallHost, Handlers
from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import EvaluatorError, HostError

__all__ = ["Person", "PersonHandler"]


class Person:
    """Judges an output by asking the host function ``person``, once; the answer is recorded like any other."""

    max_calls = 0

    def __init__(self, question: str = "Does this do what the task asks for?") -> None:
        self._question = question

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "person", "question": self._question}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``.

        Raises:
            EvaluatorError: if the function answers with something that is no verdict.
        """
        given = {"task": task.statement, "output": output, "question": self._question}
        said: Any = await run.host("person", "person", given)
        answer = cast("Mapping[str, Any]", said if isinstance(said, Mapping) else {})
        if not isinstance(answer.get("passed"), bool):
            raise EvaluatorError(f"the person function answered {said!r}; return {{'passed': bool, 'reason': str}}")
        passed = bool(answer["passed"])
        reason = "" if passed else str(answer.get("reason") or "").strip() or "the person gave no reason"
        check = Check(name=self._question, passed=passed, message=reason, kind="person")
        return Verdict(passed=passed, score=float(passed), reason=reason, checks=(check,), trust="person")


class PersonHandler:
    """Asks whoever sits at the terminal.

    Args:
        ask: shows a text and returns the line that was typed, raising EOFError where nobody can answer; None for the
            terminal. Questions of runs that work at once are asked one after another.
    """

    def __init__(self, ask: Callable[[str], str] | None = None) -> None:
        self._ask = ask if ask is not None else _at_the_terminal
        self._turn = asyncio.Lock()

    def attach(self, engine: Handlers) -> None:
        """Take the calls of ``person``."""
        engine.handle(CallHost, self, "person")

    async def __call__(self, effect: CallHost, key: str) -> dict[str, Any]:
        """Ask, until the answer is yes, or no with a reason.

        Raises:
            HostError: if nobody can be asked.
        """
        given = effect.arguments
        shown = f"\nTask\n{_plain(given['task'])}\n\nAnswer\n{_plain(given['output'])}\n\n{given['question']} [y/n] "
        async with self._turn:
            try:
                return await asyncio.to_thread(self._verdict, shown)
            except EOFError as error:
                raise HostError(
                    f"nobody can be asked (at {key!r}): there is no terminal; resume the run in one"
                ) from error

    def _verdict(self, shown: str) -> dict[str, Any]:
        while (said := self._ask(shown).strip().casefold()) not in ("y", "yes", "n", "no"):
            shown = "Please answer y or n: "
        if said in ("y", "yes"):
            return {"passed": True, "reason": ""}
        while not (reason := self._ask("What is wrong? ").strip()):
            pass
        return {"passed": False, "reason": reason}


def _at_the_terminal(shown: str) -> str:
    """Show a text on standard error and read a line, so that standard output stays what it is."""
    if not sys.stdin.isatty():
        raise EOFError
    sys.stderr.write(shown)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


def _plain(text: str) -> str:
    """A text that a terminal shows and does not obey."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)
