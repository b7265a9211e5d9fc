"""Tests that a model writes for itself: having them written, reading them, and whether they are true (``test-acc``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retrial.algorithms.given import task_of
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.syntax import UNREADABLE, tree_of
from retrial.core.tasks import Outcome, Status, Task
from retrial.engine.run import Run
from retrial.errors import EvaluatorError
from retrial.evaluate.unit_tests import UnitTests
from retrial.prompts import Prompt

__all__ = ["PROMPTS", "TestAccuracy", "asserts_in", "write_tests"]


@dataclass(frozen=True, kw_only=True)
class TestAccuracy:
    """Are a model's own tests true of a solution that is known to be right? Costs two calls at most.

    Its input is ``{"task": an encoded Task}`` whose ``answer`` is that solution. Its value is ``{"tests", "hold",
    "accuracy"}``: the tests, whether each holds, and the share of those that do. COMPLETED if all of them hold.
    """

    __test__ = False  # pytest takes it for a test by its name.
    max_tests: int = 6
    """How many of its tests are used, 1 to 20."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``tests``."""

    name = "test_accuracy"
    version = "1"
    max_calls = 2

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        refuse_unless(self, {"max_tests": (1 <= self.max_tests <= 20, "1 to 20")})

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Write tests and run them against the solution.

        Raises:
            EffectError, EvaluatorError: if a model or the sandbox fails, or no test can be read.
        """
        task = task_of(given)
        tests = await write_tests(run, task, self.prompts["tests"], self.max_tests)
        verdict = await UnitTests().judge(run, "solution", task, task.answer or "", tests, style="asserts")
        hold = [check.passed for check in verdict.checks]
        value = {"tests": tests, "hold": hold, "accuracy": sum(hold) / len(tests)}
        return Outcome(Status.COMPLETED if verdict.passed else Status.NO_SOLUTION, value)


async def write_tests(run: Run, task: Task, prompt: Prompt, most: int) -> tuple[str, ...]:
    """Have tests written, once more if none can be read.

    Raises:
        EvaluatorError: if there is none then either, since nothing could fail; a resume asks anew.
    """
    text = prompt.render(task=task.statement, count=str(most))
    keys: list[str] = []
    for name in ("tests", "tests.again"):
        call = run.model(name, ModelRequest(role="tester", messages=(Message(role="user", content=text),)))
        keys.append(call.key)
        tests = asserts_in((await call).text)[:most]
        if tests:
            run.note("written_tests.tests", {"tests": tests})
            return tests
    error = EvaluatorError(f"the model wrote no test for task {task.id!r} that Python can read, so nothing could fail")
    error.keys = tuple(keys)
    raise error


def asserts_in(reply: str) -> tuple[str, ...]:
    r"""Return the different asserts of a reply that Python can parse; whether they are true is another matter.

    >>> asserts_in("Here:\n```python\nassert f(1) == 2\nassert f(\nassert f(1) == 2\nassert True\n```")
    ('assert f(1) == 2',)
    """
    found: dict[str, None] = {}
    for line in re.split(r"\n(?=\s*assert\b)", "\n" + reply):
        text = line.strip().partition("\n```")[0]
        while text.startswith("assert"):
            try:
                tree = tree_of(text).body
            except UNREADABLE:
                text = text.rpartition("\n")[0].rstrip()
                continue
            first = tree[0]
            if isinstance(first, ast.Assert) and any(isinstance(node, ast.Call) for node in ast.walk(first.test)):
                found[ast.get_source_segment(text, first) or text] = None
            break
    return tuple(found)


PROMPTS = {
    "tests": Prompt(
        "written_tests.tests",
        """\
Write {{count}} unit tests for the function that is described below, each one line of the form
assert name(arguments) == expected

<task>{{task}}</task>

Cover ordinary and edge cases. Be sure of each expected value. Return only the asserts.""",
    )
}
