"""Literal tests, judged by the supervisor itself: only the candidate runs, and all calls travel in one frame."""

from __future__ import annotations

from typing import Any

from retrial.core.reports import Check
from retrial.testbench.cleaning import cleaned
from retrial.testbench.decoding import Decoder
from retrial.testbench.encoding import Encoder
from retrial.testbench.literal import Opaque, Outcome, judge_literal
from retrial.testbench.plan import LiteralTest, Plan
from retrial.testbench.session import Lost, Session, missing_name
from retrial.testbench.wire import Malformed, decode_frame
from retrial.testbench.wording import clipped, gone, raised

__all__ = ["NeedsJudge", "run_straight"]

_MAX_ANSWER = 64 << 10


class NeedsJudge(Exception):
    """An answer is too big to be taken apart outside a sandbox."""


def run_straight(plan: Plan, session: Session, checks: dict[int, list[Check]]) -> None:
    """Judge every literal test of ``plan`` and put the outcome into ``checks``.

    Raises:
        LoadFailed: if the code cannot be loaded.
        NeedsJudge: if an answer is too big; the candidate is ended then.
    """
    waiting = list(plan.literal or ())
    while waiting:
        try:
            session.ready()
        except Lost as lost:
            for test in waiting:
                checks[test.index] = [_lost(plan, test, lost)]
            return
        known = [test for test in waiting if test.function in session.exported]
        for test in waiting:
            if test not in known:
                text = missing_name(test.function, session.exported)
                checks[test.index] = [_check(plan, test, text, kind="exception")]
        waiting = _round(plan, session, known, checks)


def _round(plan: Plan, session: Session, tests: list[LiteralTest], checks: dict[int, list[Check]]) -> list[LiteralTest]:
    """Ask for all calls at once; give those that are still to be made after the candidate was lost."""
    if not tests:
        return []
    encoder = Encoder(_refuse)
    calls = [
        [
            test.function,
            [encoder.item(value) for value in test.args],
            {key: encoder.item(value) for key, value in test.kwargs.items()},
        ]
        for test in tests
    ]
    try:
        session.ready().send(encoder.frame("batch", calls), session.deadline)
        for place, test in enumerate(tests):
            try:
                frame = session.answer(_MAX_ANSWER, session.rules.test_timeout)
            except Lost as lost:
                checks[test.index] = [_lost(plan, test, lost)]
                return tests[place + 1 :]
            if frame is None:
                session.lose("nonsense")
                raise NeedsJudge
            try:
                checks[test.index] = [_judged(plan, test, frame)]
            except (Malformed, IndexError, TypeError, ValueError, KeyError):
                checks[test.index] = [_lost(plan, test, session.lose("nonsense"))]
                return tests[place + 1 :]
    except Lost:
        return tests
    return []


def _judged(plan: Plan, test: LiteralTest, frame: bytes) -> Check:
    head, nodes = decode_frame(frame)
    if head[0] == "raise":
        steps = [[int(line), str(name), str(text)] for line, name, text in head[6]]
        missing = head[8] if isinstance(head[8], str) else None
        return _check(plan, test, raised(test.call, str(head[1]), str(head[5]), steps, missing), kind="exception")
    if head[0] != "value":
        raise Malformed("no answer to a call")
    value = Decoder(nodes, _special).value(head[1])
    truth = bool(head[3]) if len(head) > 3 and _holds_opaque(value) else None
    shown = clipped(str(head[4])) if len(head) > 4 else None
    outcome = judge_literal(test, value, truth=truth, shown=shown)
    return _check(plan, test, outcome.message, kind="assert", outcome=outcome)


def _holds_opaque(value: Any) -> bool:
    return isinstance(value, Opaque)


def _special(tag: str, parts: list[Any]) -> Any:
    """What is no plain data: the base value where there is one, else something that equals nothing plain."""
    if tag == "B":
        return parts[0]
    if tag == "h":
        return Opaque(str(parts[2]))
    if tag == "K":
        return Opaque(f"class {parts[1]}")
    raise Malformed("an unknown kind of value")


def _check(plan: Plan, test: LiteralTest, message: str, *, kind: str, outcome: Outcome | None = None) -> Check:
    return Check(
        name=plan.given[test.index].name,
        passed=outcome is not None and outcome.passed,
        message=cleaned(message),
        input=cleaned(test.call),
        actual=None if outcome is None or outcome.actual is None else cleaned(outcome.actual),
        expected=None if outcome is None or outcome.expected is None else cleaned(outcome.expected),
        kind=kind,
    )


def _lost(plan: Plan, test: LiteralTest, lost: Lost) -> Check:
    return _check(plan, test, gone(lost.kind, lost.detail, test.call), kind=lost.kind)


def _refuse(_encoder: Encoder, value: Any) -> list[Any]:
    raise TypeError(f"{value!r} is no plain data")
