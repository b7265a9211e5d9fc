"""What came back from something that was executed: plain values, no judgement about lessons or trials."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Check", "CommandReport", "Isolation", "TestReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was checked about an attempt, and what came of it."""

    name: str
    """What the check is called: for an assert its source text, for other evaluators the criterion."""
    passed: bool
    """Whether the check held."""
    message: str = ""
    """One sentence for a person and for the reflector, such as ``add(4, 1) is 0, expected 5``; empty if passed."""
    input: str | None = None
    """The call or input that was tried, as source text; None where there is none."""
    actual: str | None = None
    """What came out, as a bounded repr; None where nothing did."""
    expected: str | None = None
    """What should have come out, as a bounded repr; None where the check states no value."""
    kind: str = "assert"
    """assert, exception, died, timeout, not_run, or bad_test (the check itself is invalid and counts for nobody)."""

    @property
    def failure(self) -> str:
        """Why it did not hold, in a line: what was tried, what came of it, what was expected.

        >>> Check(name="assert f(2) == 4", passed=False, input="f(2)", actual="3", expected="4").failure
        'f(2) returned 3, expected 4'
        """
        if self.input is not None and self.actual is not None and self.expected is not None:
            return f"{self.input} returned {self.actual}, expected {self.expected}"
        return self.message or f"{self.name} did not hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How the code was kept from the machine: what probes observed, never what was asked for."""

    level: str
    """jailed, confined, limited, or none where nothing was executed."""
    mechanism: str = ""
    """The parts in use, such as ``namespaces+seccomp+rlimits``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """Who passed what when tests ran against a candidate. Shapes: one check a test, in the order given."""

    __test__ = False

    checks: tuple[Check, ...]
    """One record a given test (several for a ``check`` function or a parametrised test), in order; a test without a
    record is ``not_run``."""
    load_error: str = ""
    """Why the candidate could not be loaded (its own fault: syntax, missing name, an import that the task does not
    declare); empty if it loaded."""
    finished: bool = True
    """Whether the judge sent its end mark; without it nothing has passed as a whole."""
    code: str = ""
    """The code that was taken from the reply and run."""
    output: str = ""
    """The first bytes of what the candidate printed, control characters stripped."""
    isolation: Isolation = field(default_factory=lambda: Isolation(level="none"))
    """Where the candidate ran."""
    shared_process: bool = False
    """Whether candidate and tests shared a process, as in Rust: a pass is then worth less than one across processes."""

    @property
    def passed_count(self) -> int:
        """The number of checks that passed."""
        return sum(check.passed for check in self.checks)

    @property
    def valid_count(self) -> int:
        """The number of checks that count: those given less the invalid ones."""
        return sum(check.kind != "bad_test" for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReport:
    """What a command did."""

    exit_code: int | None
    """The exit code; negative for a signal; None where the time ran out or nothing was run."""
    output: str = ""
    """The first and last bytes of standard output and error, control characters stripped."""
    timed_out: bool = False
    """Whether it was ended for taking too long."""
    isolation: Isolation = field(default_factory=lambda: Isolation(level="none"))
    """Where it ran."""
    refusal: str = ""
    """Why the reply could not be applied, so that nothing was run; its own fault. Empty if it was applied."""
    checks: tuple[Check, ...] = ()
    """One record a test, where the command left a report; skipped tests are ``not_run``."""
    report_error: str = ""
    """Why there are no checks although a report was asked for; empty if there are, or none was asked for."""
    restored: tuple[str, ...] = ()
    """Protected files that the reply wanted to change, and that it did not."""
