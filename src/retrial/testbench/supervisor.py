"""Who passed what: from a request to a report.

Starts the candidate and, where tests are more than literal, the judge; passes frames between them; keeps the records.
Runs no generated code at all: it parses tests, moves bytes and compares plain data.
"""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path

from retrial.core.effects import RunTests
from retrial.core.reports import Check, TestReport
from retrial.errors import ConfigError, EvaluatorError, SandboxError
from retrial.sandbox.program import Sandbox
from retrial.testbench.cleaning import cleaned
from retrial.testbench.extract import extract_code
from retrial.testbench.extract_rust import extract_rust
from retrial.testbench.judged import run_judged
from retrial.testbench.plan import Given, Plan
from retrial.testbench.rust import examine_rust
from retrial.testbench.session import LoadFailed, Rules, Session
from retrial.testbench.straight import NeedsJudge, run_straight
from retrial.testbench.styles import RUST, STYLES

__all__ = ["check_tests", "examine", "open_session"]


def open_session(effect: RunTests, sandbox: Sandbox) -> Session:
    """The session in which a request is examined.

    Raises:
        SandboxError: if a module that the task declares is not installed.
    """
    extract = extract_rust if effect.style == RUST else extract_code
    code = extract(effect.output, effect.entry_point, effect.prompt)
    rules = Rules(
        code=code,
        entry_point=effect.entry_point,
        timeout=effect.timeout,
        test_timeout=min(effect.test_timeout or effect.timeout, effect.timeout),
        modules=effect.modules,
        paths=tuple(_paths(effect.modules)),
    )
    return Session(rules, sandbox)


def examine(effect: RunTests, session: Session) -> TestReport:
    """Run the tests of a request. Blocks; ends every process that it started.

    Raises:
        EvaluatorError: if there is no test, or none that is valid.
        SandboxError: if the sandbox fails.
    """
    _check_request(effect)
    if effect.style == RUST:
        return examine_rust(effect.tests, session)
    checks: dict[int, list[Check]] = {}
    session.begin()
    try:
        if session.rules.code.strip():
            # The process starts while the tests are read.
            session.launch()
        plan = _plan(effect)
        load_error, finished = _attempt(plan, session, checks)
    finally:
        session.close()
    if session.interrupted:
        raise SandboxError("the run was interrupted")
    if not finished:
        _fill(plan, checks, "not run: the tests did not come to their end")
    elif not plan.inside or not checks:
        # Asserts of a check function that finished may stand in branches that were not taken.
        _fill(plan, checks, "not run: the code could not be loaded" if load_error else "not run")
    return TestReport(
        checks=tuple(_in_order(plan, checks)),
        load_error=cleaned(load_error),
        finished=finished,
        code=session.rules.code,
        output=cleaned(session.output, 64 << 10),
        isolation=session.sandbox.isolation,
    )


def _check_request(effect: RunTests) -> None:
    if not effect.tests:
        raise EvaluatorError("no tests: a task without tests can be judged by nothing; give it at least one")
    if effect.style not in (*STYLES, RUST):
        near = difflib.get_close_matches(effect.style, (*STYLES, RUST), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join((*STYLES, RUST))}"
        raise ConfigError(f"unknown test style {effect.style!r}; {hint}")
    if effect.timeout <= 0 or (effect.test_timeout is not None and effect.test_timeout <= 0):
        raise ConfigError(f"timeouts must be above 0, not {effect.timeout!r} and {effect.test_timeout!r}")


def check_tests(effect: RunTests) -> None:
    """Refuse tests by which nothing can be judged, before there is anything to judge. Starts no process.

    Raises:
        EvaluatorError: if there is no test, or none that is valid; ConfigError for an unknown style.
    """
    _check_request(effect)
    if effect.style != RUST:
        _plan(effect)


def _plan(effect: RunTests) -> Plan:
    plan = STYLES[effect.style](effect)
    if not plan.given:
        raise EvaluatorError("no tests: nothing in the given tests asserts anything")
    if all(given.bad for given in plan.given):
        first = plan.given[0]
        raise EvaluatorError(f"no valid tests: {first.name!r} cannot be used, because {first.bad}")
    return plan


def _attempt(plan: Plan, session: Session, checks: dict[int, list[Check]]) -> tuple[str, bool]:
    """Run a plan; why the code could not be loaded, and whether the tests came to their end."""
    if not session.rules.code.strip():
        return "the reply holds no code", True
    try:
        return "", _run(plan, session, checks)
    except LoadFailed as failure:
        if checks:
            # It loaded once and did not when it was started again.
            _fill(plan, checks, f"not run: {failure.text}")
            return "", True
        if failure.kind == "timeout":
            first = next(index for index, given in enumerate(plan.given) if not given.bad)
            checks[first] = [_unmade(plan.given[first], failure.text, kind="timeout")]
        _fill(plan, checks, "not run: the code could not be loaded")
        return failure.text, True


def _run(plan: Plan, session: Session, checks: dict[int, list[Check]]) -> bool:
    if plan.literal is not None:
        try:
            run_straight(plan, session, checks)
        except NeedsJudge:
            checks.clear()
        else:
            return True
    return run_judged(plan, session, checks)


def _fill(plan: Plan, checks: dict[int, list[Check]], reason: str) -> None:
    """Give every valid test without a record one that says that it was not run."""
    for index, given in enumerate(plan.given):
        if not given.bad and index not in checks:
            checks[index] = [_unmade(given, reason)]


def _unmade(given: Given, message: str, *, kind: str = "not_run") -> Check:
    return Check(name=given.name, passed=False, message=cleaned(message), kind=kind)


def _in_order(plan: Plan, checks: dict[int, list[Check]]) -> list[Check]:
    found: list[Check] = []
    for index, given in enumerate(plan.given):
        if given.bad:
            message = f"the test is invalid: {given.bad}"
            found.append(Check(name=given.name, passed=False, message=message, kind="bad_test"))
        else:
            found += checks.get(index, [])
    return found + checks.get(len(plan.given), [])


def _paths(modules: tuple[str, ...]) -> list[str]:
    """The folders in which declared modules are installed."""
    folders: list[str] = []
    for name in modules:
        root = name.partition(".")[0]
        spec = importlib.util.find_spec(root)
        if spec is None:
            raise SandboxError(
                f"the task allows the module {name!r}, which is not installed here: "
                f"install it, or take it out of the task's modules"
            )
        if spec.origin and spec.origin not in ("built-in", "frozen"):
            place = Path(spec.origin)
            folders.append(str(place.parent.parent if spec.submodule_search_locations else place.parent))
    return list(dict.fromkeys(folders))
