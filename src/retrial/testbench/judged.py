"""Tests that need a judge process: the supervisor passes frames between judge and candidate and keeps the records."""

from __future__ import annotations

import secrets
import time
from typing import Any

from retrial.core.reports import Check
from retrial.errors import EvaluatorError, SandboxError
from retrial.testbench.cleaning import cleaned
from retrial.testbench.plan import Plan
from retrial.testbench.process import Closed, Process, Slow, exit_words
from retrial.testbench.program import judge_program
from retrial.testbench.session import LoadFailed, Lost, Session
from retrial.testbench.wire import MAX_FRAME, Malformed, decode_frame, encode_frame
from retrial.testbench.wording import clipped

__all__ = ["run_judged"]

_KINDS = ("assert", "exception", "died", "timeout", "not_run")
_MAX_RECORDS = 5000


def run_judged(plan: Plan, session: Session, checks: dict[int, list[Check]]) -> bool:
    """Run the programs of ``plan`` in a judge process; True if it sent its end mark.

    Raises:
        EvaluatorError: if the tests need a module that is not there.
        LoadFailed: if the code cannot be loaded.
        SandboxError: if the judge does not start.
    """
    judge = session.start("judge.pyc", judge_program(plan.suite), (*session.rules.paths, *plan.paths))
    try:
        session.ready()
        return _Relay(plan, session, judge, checks).run()
    except Lost:
        return False
    finally:
        judge.kill()


class _Relay:
    """Frames between one judge and the candidate of a session."""

    def __init__(self, plan: Plan, session: Session, judge: Process, checks: dict[int, list[Check]]) -> None:
        self._plan = plan
        self._session = session
        self._judge = judge
        self._checks = checks
        self._nonce = secrets.token_hex(16)
        self._began = time.monotonic()
        self._count = 0

    def run(self) -> bool:
        """Pass frames until the judge is through, or the time is."""
        session = self._session
        try:
            self._greet()
            while True:
                frame = self._judge.receive(session.deadline)
                if frame is None:
                    return False
                if frame[:1] == b"E":
                    return decode_frame(frame[1:])[0] == self._nonce
                self._take(frame[:1], frame[1:])
        except Slow:
            self._stuck()
            return False
        except (Closed, Malformed, IndexError, TypeError, ValueError):
            return False

    def _take(self, kind: bytes, rest: bytes) -> None:
        """Do what one frame of the judge is about."""
        if kind == b"B":
            self._began = time.monotonic()
        elif kind == b"C":
            self._pass_on(rest)
        elif kind == b"K":
            self._session.lose("nonsense")
        elif kind == b"R":
            self._record(decode_frame(rest)[0])
        elif kind == b"M":
            self._refuse(decode_frame(rest)[0])

    def _greet(self) -> None:
        try:
            self._judge.receive(self._session.deadline)
        except Closed:
            if self._session.interrupted:
                raise
            ended = self._judge.wait(0.5)
            text = f"the process for the tests did not start ({exit_words(ended)}): {clipped(ended.output, 500)!r}"
            raise SandboxError(text) from None
        plan = self._plan
        asserts = [[given.name, given.subject, given.subject_is_call] for given in plan.given]
        notes = [list(note) for note in plan.notes]
        job = {
            "programs": [list(program) for program in plan.programs()],
            "inside": plan.inside,
            "mentioned": list(plan.mentioned),
            "classes": list(plan.classes),
            "entry": self._session.rules.entry_point,
            "exported": dict(self._session.exported),
            "paths": [*self._session.rules.paths, *plan.paths],
            "nonce": self._nonce,
            "asserts": notes if plan.suite else [*asserts, ["check(candidate)", "check(candidate)", False]],
            "tests": [given.name for given in plan.given],
        }
        self._judge.send(encode_frame(job), self._session.deadline, b"J")
        self._began = time.monotonic()

    def _pass_on(self, frame: bytes) -> None:
        """Give a frame of the judge to the candidate, and its answer, or why there is none, to the judge."""
        session = self._session
        try:
            process = session.ready()
            left = self._began + session.rules.test_timeout - time.monotonic()
            process.send(frame, session.deadline)
            answer = session.answer(MAX_FRAME, max(left, 0.01))
        except Lost as found:
            lost = found
            if lost.kind == "timeout":
                lost = Lost("timeout", f"{session.rules.test_timeout:g} s")
        except LoadFailed as failure:
            lost = Lost("not_run", failure.text)
        except Slow:
            lost = session.lose("timeout", session.rules.test_timeout)
        else:
            self._judge.send(answer or b"", session.deadline, b"V")
            return
        self._judge.send(encode_frame([lost.kind, lost.detail]), time.monotonic() + 1, b"G")

    def _record(self, record: list[Any]) -> None:
        nonce, index, passed, kind, message, given, actual, expected, told = record
        if nonce != self._nonce or type(index) is not int or not 0 <= index <= len(self._plan.given):
            raise Malformed("a record of something else")
        self._count += 1
        if self._count > _MAX_RECORDS:
            raise Malformed("too many records")
        name = self._plan.given[index].name if index < len(self._plan.given) else "check(candidate)"
        if self._plan.suite and isinstance(told, str):
            name = cleaned(told, 300)
        check = Check(
            name=name,
            passed=passed is True,
            message="" if passed is True else cleaned(str(message)),
            kind=kind if kind in _KINDS else "exception",
            **{
                field: None if value is None else cleaned(str(value))
                for field, value in (("input", given), ("actual", actual), ("expected", expected))
            },
        )
        self._checks.setdefault(index, []).append(check)

    def _refuse(self, told: list[Any]) -> None:
        """The tests cannot be loaded for a reason that no solution can bring about."""
        if told[0] == self._nonce:
            module = cleaned(str(told[1]), 100)
            raise EvaluatorError(
                f"the tests import {module}, which is not available where they run: "
                f"use the standard library, or add it to the task's modules"
            )

    def _stuck(self) -> None:
        """The time ran out while a test was busy by itself, or right after a call."""
        for index, given in enumerate(self._plan.given):
            if index not in self._checks and not given.bad:
                seconds = f"{self._session.rules.timeout:g} s"
                message = f"the test did not finish within {seconds}"
                self._checks[index] = [Check(name=given.name, passed=False, message=message, kind="timeout")]
                return
