"""What is asked, what was tried, how it was judged and what was learnt. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, cast

from retrial.core.budget import Usage
from retrial.core.keys import digest
from retrial.core.reports import Check, Isolation
from retrial.errors import ConfigError

__all__ = ["Attempt", "Lesson", "Outcome", "Result", "Status", "Task", "Verdict", "answer_of"]


LONGEST_TIMEOUT = 3600.0
"""Seconds that the tests of one attempt may take at most."""


class Status(StrEnum):
    """How a run stands. The last three can be resumed."""

    COMPLETED = "COMPLETED"
    NO_SOLUTION = "NO_SOLUTION"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def final(self) -> bool:
        """Whether the run has nothing left to do."""
        return self in (Status.COMPLETED, Status.NO_SOLUTION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is asked."""

    prompt: str
    """The task in words, as the actor reads it."""
    id: str = ""
    """A stable name; left empty, it becomes the SHA-256 of prompt and tests (see ``identified``)."""
    tests: tuple[str, ...] = ()
    """Visible tests: they steer the trials."""
    hidden_tests: tuple[str, ...] = ()
    """Hidden tests: they score the result and never reach a prompt."""
    style: str = "asserts"
    """How the tests are written: asserts, check, table, unittest, pytest, doctest or rust (see ``RunTests``)."""
    hidden_style: str = "asserts"
    """How the hidden tests are written."""
    entry_point: str | None = None
    """The name that the code must define."""
    completes: bool = False
    """Whether the prompt is code that a reply may continue with a body only (HumanEval)."""
    modules: tuple[str, ...] = ()
    """Modules outside the standard library that the code may import."""
    timeout: float = 30.0
    """Seconds for all tests of one attempt, above 0."""
    answer: str | None = None
    """The expected answer, where the task has one: text, a number or a query. It never reaches a prompt."""
    answers: tuple[str, ...] = ()
    """Other answers that are right as well."""
    evaluator: Mapping[str, Any] | None = None
    """What judges, as ``{"kind": ..., ...}``; None for what the recipe chooses."""
    known_good: Mapping[str, str] = field(default_factory=dict[str, str])
    """Outputs that a sound evaluator accepts, by label; for the gate, and never in a prompt."""
    known_bad: Mapping[str, str] = field(default_factory=dict[str, str])
    """Outputs that a sound evaluator refuses, by label; for the gate, and never in a prompt."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values that nothing interprets."""
    stated: str = ""
    """The task itself, where a loop around it says more in the prompt, such as lessons; empty if it is the prompt."""

    def __post_init__(self) -> None:
        """Refuse a time limit that no clock can keep.

        Raises:
            ConfigError: naming the value.
        """
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise ConfigError(f"timeout={self.timeout!r} must be above 0 and at most {LONGEST_TIMEOUT:g} seconds")

    @property
    def statement(self) -> str:
        """What judges and memories read: the task itself, whatever else the prompt says.

        >>> Task(prompt="p").statement, Task(prompt="p, and mind the dates", stated="p").statement
        ('p', 'p')
        """
        return self.stated or self.prompt

    @property
    def accepted(self) -> tuple[str, ...]:
        """Every answer that is right, the expected one first."""
        return self.answers if self.answer is None else (self.answer, *self.answers)

    def identified(self) -> Task:
        """Return the task with an id: its own, or the SHA-256 of prompt and tests.

        >>> len(Task(prompt="p", tests=("assert f()",)).identified().id)
        64
        """
        if self.id:
            return self
        parts: list[object] = [self.prompt, self.tests, self.hidden_tests]
        if self.accepted or self.evaluator:
            parts += [self.accepted, self.evaluator]
        return replace(self, id=digest(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An evaluator's answer about one output."""

    passed: bool
    """Whether the output is accepted."""
    score: float
    """0 to 1; 1 where passed, unless an evaluator says otherwise."""
    reason: str = ""
    """Why it failed, in words that the reflector can use; empty if passed."""
    answer: str = ""
    """The part of the output that was judged, such as the code taken from a reply; empty for all of it."""
    fix_hint: str = ""
    """What the evaluator would change, where it says so."""
    checks: tuple[Check, ...] = ()
    """What was checked one by one, in order."""
    trust: str = "tests"
    """How far to believe it: tests, match, schema, rubric, person, other_model, same_model."""
    isolation: Isolation | None = None
    """Where generated code ran; None where none did."""
    shared_process: bool = False
    """Whether tests and code shared a process, or may have (Rust, a command): the code can tamper with what is said."""
    reflectable: bool = True
    """Whether a lesson could help."""
    flaky: bool = False
    """Whether an equal output got another verdict before."""
    unparsed: bool = False
    """Whether a judge's reply could not be read; statistics leave it out."""

    @property
    def passed_count(self) -> int:
        """The number of checks that passed."""
        return sum(check.passed for check in self.checks)

    @property
    def valid_count(self) -> int:
        """The number of checks that count, which invalid tests do not."""
        return sum(check.kind != "bad_test" for check in self.checks)

    @property
    def bad_test_count(self) -> int:
        """The number of tests that are invalid, whatever the output: they are no part of the score."""
        return len(self.checks) - self.valid_count


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one trial produced."""

    trial: int
    """Which trial, counted from 1."""
    output: str
    """The actor's reply."""
    verdict: Verdict
    """How it was judged."""
    lessons_used: tuple[str, ...] = ()
    """The ids of the lessons in the actor's prompt, oldest first."""
    steps: tuple[str, ...] = ()
    """What led to the output, step by step, where the actor is an agent; empty for a plain model call."""

    @property
    def answer(self) -> str:
        """What was judged: of a reply with code in it the code, else the output."""
        return self.verdict.answer or self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What one failure taught about one task."""

    id: str
    """A stable name: a digest of run, trial and text."""
    text: str
    """The lesson, as the next actor reads it."""
    task_id: str = ""
    """The task that it is about."""
    trial: int = 0
    """The trial whose failure it came from, counted from 1; 0 for one that was given."""
    run_id: str = ""
    """The run that it came from."""
    created_at: str = ""
    """When, as ISO 8601 in UTC; whoever keeps the lesson, a journal or a memory, says so."""
    origin: str = "reflector"
    """reflector, fallback (the evaluator's output), person or given."""
    faults: tuple[str, ...] = ()
    """What is wrong with it as a lesson: empty, code, narrates, too_long, duplicate, copies_answer, patches_a_case,
    overrides."""
    refused: tuple[str, ...] = ()
    """What was wrong with the reflector's first reply, where it was asked again; empty otherwise."""
    evidence: tuple[str, ...] = ()
    """The names of the checks that failed."""
    state: str = "active"
    """active, quarantined (kept and never recalled) or deleted (the text is gone)."""
    version: int = 1
    """Counted from 1; each edit of the text adds one, and the memory keeps what it said before."""
    scope: str = "task"
    """task: recalled for its own task alone; any: for other tasks too, where it is relevant."""
    expires_at: str = ""
    """When it ceases to be recalled, as ISO 8601 in UTC; empty for never."""
    environment: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it was learnt under, as far as the memory knows: models by role, digests of evaluator and prompts."""
    uses: int = 0
    """In how many trials it stood in the prompt since it has said what it says; counted from the journal."""
    wins: int = 0
    """How many of those trials passed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an algorithm ends with."""

    status: Status
    """COMPLETED or NO_SOLUTION."""
    value: Any
    """JSON values, of the shape that the algorithm documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run came to."""

    status: Status
    """How it stands."""
    value: Any
    """What the algorithm returned; for a run that was ended, the last value that it kept."""
    usage: Usage
    """What it used, sessions before a resume included."""
    run_id: str
    """The run, for ``show``, ``resume`` and ``replay``."""
    attempts: tuple[Attempt, ...] = ()
    """For the loop: one attempt a trial, oldest first."""
    lessons: tuple[Lesson, ...] = ()
    """For the loop: the lessons in the order they were learnt, those given at the start first."""
    error: str = ""
    """Why it did not end by itself; empty otherwise."""
    in_doubt: tuple[str, ...] = ()
    """Keys of effects that had left and not come back when an earlier session ended, and were issued again."""

    @property
    def passed(self) -> bool:
        """Whether the run ended with an accepted answer."""
        return self.status is Status.COMPLETED

    @property
    def output(self) -> str:
        """The answer that the run returns, empty if there is none."""
        return answer_of(self.value)


def answer_of(value: object) -> str:
    """Return the answer in what an algorithm returned: its ``candidate``, ``answer`` or ``text``; empty if none.

    >>> answer_of({"answer": "12", "rounds": 1}), answer_of(None)
    ('12', '')
    """
    if not isinstance(value, Mapping):
        return ""
    held = cast("Mapping[str, Any]", value)
    return next((held[name] for name in ("candidate", "answer", "text") if isinstance(held.get(name), str)), "")
