"""Who passed what when the code is Rust: one build, then one process for each test.

Code and test share a process, so that the report says ``shared_process``. A test has passed only if it sent back, on a
connection of its own, what it was sent after it had started. The code is checked without ``unsafe`` first, so it can
neither reach that connection nor the memory in which the test keeps the answer; ending the process ends without one.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import time

from retrial.core.reports import Check, TestReport
from retrial.errors import EvaluatorError, SandboxError
from retrial.sandbox.program import Ended, Limits, Program
from retrial.testbench.cleaning import cleaned
from retrial.testbench.plan import Given
from retrial.testbench.rust_build import build, toolchain
from retrial.testbench.rust_tests import RustPlan, plan_rust
from retrial.testbench.rust_text import without_opaque
from retrial.testbench.session import Session
from retrial.testbench.wording import clipped, gone

__all__ = ["examine_rust"]

_MAX_TIMEOUTS = 2
_RECORD = re.compile(rb"([PF]) ([0-9a-f]*) ([0-9a-f]*) ([0-9a-f]*)\.")
_PANIC = re.compile(r"panicked at ([^\n]*?):(\d+):\d+:\n((?:.|\n)*?)(?=\nnote: run with|\Z)")
_VALUES = re.compile(r"^assertion `left (?:==|!=) right` failed(?:: (.*?))?\n  left: (.*)\n right: (.*)$", re.DOTALL)


def examine_rust(tests: tuple[str, ...], session: Session) -> TestReport:
    """Build the code of a session with its tests and run these, one after the other.

    Raises:
        EvaluatorError: if there is no test, or the tests are no Rust.
        SandboxError: if there is no compiler, or the sandbox fails.
    """
    rules = session.rules
    plan = plan_rust(tests, rules.entry_point)
    if not plan.given:
        raise EvaluatorError("no tests: nothing in the given tests asserts anything")
    toolchain()
    error, checks = _load_error(session), list[Check]()
    if not error:
        built = build(rules.code, plan.module, plan.source, session)
        if built.test_error:
            raise EvaluatorError(f"no valid tests: they are no Rust: {cleaned(built.test_error)}")
        error = built.error
        if built.fd >= 0:
            try:
                session.begin()
                checks = _Tests(plan, session, built.fd).run()
            finally:
                os.close(built.fd)
    if session.interrupted:
        raise SandboxError("the run was interrupted")
    if error:
        checks = [_check(given, "not run: the code could not be loaded", kind="not_run") for given in plan.given]
    return TestReport(
        checks=tuple(checks),
        load_error=cleaned(error),
        code=rules.code,
        output=cleaned(session.output, 64 << 10),
        isolation=session.sandbox.isolation,
        shared_process=True,
    )


def _load_error(session: Session) -> str:
    """What can be said about the code before it is compiled."""
    code, entry = session.rules.code, session.rules.entry_point
    if not code.strip():
        return "the reply holds no code"
    code = without_opaque(code)
    if re.search(r"\bextern\s+crate\b", code):
        # It could make the name of the standard library stand for the code itself; macros cannot.
        return "the code uses `extern crate`, which is not available here: use the standard library by its name"
    defined = re.findall(r"\bfn\s+(\w+)", code)
    if entry is not None and entry not in defined and not re.search(rf"\b{re.escape(entry)}\b", code):
        return (
            f"{entry} is not defined; the code defines{': ' if defined else ' '}{', '.join(defined[:10]) or 'nothing'}"
        )
    return ""


class _Tests:
    """The tests of one program, each run in a process of its own."""

    def __init__(self, plan: RustPlan, session: Session, program: int) -> None:
        self._plan = plan
        self._session = session
        self._program = program
        self._timeouts = 0

    def run(self) -> list[Check]:
        """One record for each test."""
        return [self._one(number, given) for number, given in enumerate(self._plan.given)]

    def _one(self, number: int, given: Given) -> Check:
        rules, left = self._session.rules, self._session.deadline - time.monotonic()
        if self._timeouts >= _MAX_TIMEOUTS:
            return _check(given, f"not run: {self._timeouts} tests did not finish before it", kind="not_run")
        if left <= 0 or self._session.interrupted:
            return _check(given, f"not run: the {rules.timeout:g} s for all tests were used up", kind="not_run")
        nonce = secrets.token_hex(16).encode()
        ended, answer = self._start(number, nonce, min(left, rules.test_timeout))
        self._session.output = self._session.output or ended.output
        call = _call(given, rules.entry_point)
        if answer.startswith(nonce) and (match := _RECORD.fullmatch(answer[len(nonce) :])):
            return self._judged(given, call, match)
        if ended.timed_out:
            self._timeouts += 1
            return _check(given, gone("timeout", f"{rules.test_timeout:g} s", call), call=call, kind="timeout")
        return _panicked(given, call, ended, rules.code)

    def _start(self, number: int, nonce: bytes, seconds: float) -> tuple[Ended, bytes]:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                ours.sendall(nonce)
                argv = (f"/proc/self/fd/{self._program}", str(theirs.fileno()), str(number))
                program = Program(argv=argv, fds=(self._program, theirs.fileno()), paths=(toolchain(),))
                child = self._session.begin_child(program, Limits(seconds=seconds))
            ended = self._session.end_child(child)
            ours.setblocking(False)
            answer = b""
            try:
                while len(answer) < 1 << 16 and (part := ours.recv(1 << 16)):
                    answer += part
            except OSError:
                pass
        return ended, answer

    def _judged(self, given: Given, call: str, record: re.Match[bytes]) -> Check:
        types, left, right = (bytes.fromhex(part.decode()).decode("utf-8", "replace") for part in record.groups()[1:])
        if record[1] == b"P":
            strange = _own_types(types) - self._plan.words
            if not strange:
                return Check(name=given.name, passed=True, input=cleaned(call))
            held = f"a {min(strange)} of its own"
            return _check(given, f"{call} gives {held}, where the test expects plain data", call=call)
        left, right = clipped(left), clipped(right)
        text = f"{call} is {left}, expected {right if given.subject_is_call or right == 'true' else 'anything else'}"
        return _check(given, text, call=call, actual=left, expected=right)


def _own_types(types: str) -> set[str]:
    """The types that the code defines, or that hide one, among those that a test compared."""
    hidden = {"dyn"} if re.search(r"\bdyn\b", types) else set[str]()
    return hidden | {name.rpartition("::")[2] for name in re.findall(r"\bprogram(?:::\w+)+", types)}


def _call(given: Given, entry: str | None) -> str:
    text = " ".join(given.subject.split()).removesuffix(";")
    return re.sub(r"\bcandidate\b", entry, text) if entry else text


def _panicked(given: Given, call: str, ended: Ended, code: str) -> Check:
    """What is known of a test that ended without an answer."""
    found = _PANIC.findall(ended.output)
    if ended.exit_code != 101 or not found:
        if ended.exit_code is None:
            return _check(given, f"{call} wrote too much", call=call, kind="died")
        how = f"exit code {ended.exit_code}" if ended.exit_code >= 0 else f"killed by signal {-ended.exit_code}"
        how = "it ran out of stack" if "has overflowed its stack" in ended.output else how
        return _check(given, gone("died", how, call), call=call, kind="died")
    file, line, text = found[-1]
    values = _VALUES.match(text.rstrip())
    if values and file != "main.rs":
        left, right = clipped(values[2]), clipped(values[3])
        note = f": {clipped(values[1], 200)}" if values[1] else ""
        return _check(given, f"{call}: {left} is not {right}{note}", call=call, actual=left, expected=right)
    lines = code.split("\n")
    where = (
        f" (line {line}: {lines[int(line) - 1].strip()[:200]})" if file == "main.rs" and int(line) <= len(lines) else ""
    )
    return _check(given, f"{call} panicked: {clipped(text.strip(), 1500)}{where}", call=call, kind="exception")


def _check(
    given: Given,
    message: str,
    *,
    call: str | None = None,
    actual: str | None = None,
    expected: str | None = None,
    kind: str = "assert",
) -> Check:
    return Check(
        name=given.name,
        passed=False,
        message=cleaned(message),
        input=None if call is None else cleaned(call),
        actual=None if actual is None else cleaned(actual),
        expected=None if expected is None else cleaned(expected),
        kind=kind,
    )
