"""The answer is the expected number, within a tolerance; thousands separators and units may stand in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.answers import Number, numbers_in, short
from retrial.evaluate.match import expected_of, given_answer

__all__ = ["Numeric"]


class Numeric:
    """Judges an output by the last number in it.

    Args:
        absolute: how far it may be from the expected number, at least 0.
        relative: the same as a share of the expected number, at least 0; the larger of the two bounds counts.
        unit: the unit that belongs to the number, such as ``km``; of several numbers the last with the unit is read.
        unit_required: whether a number without the unit is wrong.
        extract: a regular expression that takes the answer out of a reply, as in ``match``.
        show_expected: whether the reason says the expected number.
    """

    max_calls = 0

    def __init__(
        self,
        *,
        absolute: float = 0.0,
        relative: float = 1e-9,
        unit: str | None = None,
        unit_required: bool = False,
        extract: str | None = None,
        show_expected: bool = False,
    ) -> None:
        for name, value in (("absolute", absolute), ("relative", relative)):
            if not (value >= 0 and math.isfinite(value)):
                raise ConfigError(f"numeric: {name}={value!r} is not possible; it is at least 0")
        if unit_required and not unit:
            raise ConfigError("numeric: unit_required=True needs a unit")
        given_answer("", extract)
        self._absolute, self._relative = absolute, relative
        self._unit, self._unit_required = unit, unit_required
        self._extract, self._show_expected = extract, show_expected

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {
            "kind": "numeric",
            "absolute": self._absolute,
            "relative": self._relative,
            "unit": self._unit,
            "unit_required": self._unit_required,
            "extract": self._extract,
            "show_expected": self._show_expected,
        }

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` by the task's number.

        Raises:
            EvaluatorError: if the task has no answer, or one that is no number.
        """
        wanted: list[Fraction] = []
        for text in expected_of(task):
            numbers = numbers_in(text)
            if not numbers:
                raise EvaluatorError(f"task {task.id!r}: the answer {text!r} holds no number; judge it by 'normalised'")
            wanted.append(numbers[-1].value)
        number = self._read(given_answer(output, self._extract))
        reason = self._fault(output, number, wanted)
        shown = f"{float(wanted[0]):.12g}" if self._show_expected else None
        if reason and shown and number is not None:
            reason += f"; expected {shown}"
        passed = not reason
        actual = number.text if number is not None else short(output)
        check = Check(name="numeric", passed=passed, message=reason, actual=actual, expected=shown, kind="match")
        answer = number.text if number is not None else ""
        return Verdict(passed=passed, score=float(passed), reason=reason, answer=answer, checks=(check,), trust="match")

    def _read(self, answer: str) -> Number | None:
        """The number that is meant: the last one with the unit, else the last one."""
        numbers = numbers_in(answer)
        with_unit = [one for one in numbers if self._unit and one.unit.casefold() == self._unit.casefold()]
        return (with_unit or numbers or [None])[-1]

    def _fault(self, output: str, number: Number | None, wanted: list[Fraction]) -> str:
        """What is wrong, empty if nothing is."""
        if number is None:
            return "the answer is empty" if not output.strip() else f"the answer {short(output)} holds no number"
        if self._unit_required and self._unit and number.unit.casefold() != self._unit.casefold():
            return f"the answer {number.text!r} needs its unit {self._unit!r}"
        if any(self._near(number.value, one) for one in wanted):
            return ""
        return f"the answer was read as {number.text}, which is not the expected number"

    def _near(self, value: Fraction, wanted: Fraction) -> bool:
        bound = max(Fraction(self._absolute), Fraction(self._relative) * abs(wanted))
        return abs(value - wanted) <= bound
