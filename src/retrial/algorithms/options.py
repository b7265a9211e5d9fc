"""What can be said to the loop of ``reflexion``: its parameters, their bounds, and what follows from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from typing import Any

from retrial.algorithms.acting import Actor, actor_calls, actor_spec
from retrial.algorithms.experience import Experience
from retrial.algorithms.parameters import refuse_unless
from retrial.algorithms.reflecting import Reflector
from retrial.errors import ConfigError
from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.validator import Validator
from retrial.prompts import Prompt

__all__ = ["LIMIT_TRIALS", "Options"]

LIMIT_TRIALS = 10
"""No loop may be longer: gains are front-loaded, and a model that failed ten times repeats itself."""
CARRIES = ("lessons", "checks", "both", "nothing")


@dataclass(frozen=True)
class Options:
    """What the loop is told, checked when it is told; the defaults are those of ``Reflexion(validator=...)``."""

    validator: str | None = None
    """The name of a registered validator; with ``evaluator`` given, None."""
    _: KW_ONLY
    evaluator: Evaluator | None = None
    """What judges; None for the validator, or for a critic."""
    max_trials: int = 3
    """1 to 10."""
    keep_reflections: int | None = 5
    """The newest lessons in the prompt, at least 1; None for all."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """By role: ``actor``, ``reflector``, and ``reflector.system`` where the reflector has a system message."""
    actor: Actor = None
    """Who acts: a host function ``prompt -> output`` by name, another algorithm, or None for the model."""
    reflector: str | None = None
    """The name of a host function that writes lessons; None for the model in the role ``reflector``."""
    keep: str = "last"
    """Which attempt a run without a pass returns: ``last``, or ``best`` (highest score, the earliest of equals)."""
    patience: int | None = None
    """Stop after this many trials without a higher score than before, at least 1; None for never."""
    threshold: float = 1.0
    """A validator's score from which an attempt counts as passed, above 0 and at most 1."""
    carry: str = "lessons"
    """What a fresh trial is told: ``lessons``, ``checks`` (the last evaluator's words), ``both`` or ``nothing``."""
    ask_again: str = "never"
    """When a reflector is asked a second time: ``never``, on a ``hard`` fault, on ``any`` fault."""
    distinct_lessons: bool = False
    """Whether a lesson that repeats another is left out of the prompt."""
    store_lessons: bool = False
    """Whether lessons are remembered under the task's id."""
    start_from_stored: bool = False
    """Whether to begin with the lessons that are remembered for the task."""
    across_tasks: bool = False
    """Whether what is remembered is for other tasks as well, and lessons of others, where relevant, are recalled."""
    confirm: bool = False
    """Whether a passing attempt is judged once more in a fresh process."""
    experience: Experience | None = None
    """How it learns across tasks; None for not at all."""

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        keep = self.keep_reflections
        checks = {
            "max_trials": (1 <= self.max_trials <= LIMIT_TRIALS, f"1 to {LIMIT_TRIALS}"),
            "keep_reflections": (keep is None or keep >= 1, "at least 1, or None for all"),
            "keep": (self.keep in ("last", "best"), "'last' or 'best'"),
            "patience": (self.patience is None or self.patience >= 1, "at least 1, or None for never"),
            "threshold": (0 < self.threshold <= 1, "above 0 and at most 1"),
            "carry": (self.carry in CARRIES, ", ".join(repr(one) for one in CARRIES)),
            "ask_again": (self.ask_again in ("never", "hard", "any"), "'never', 'hard' or 'any'"),
        }
        refuse_unless(self, checks)
        if self.validator is not None and self.evaluator is not None:
            raise ConfigError(f"validator={self.validator!r} and an evaluator are both given; choose one")
        if self.threshold != 1.0 and self.validator is None:
            raise ConfigError(f"threshold={self.threshold!r} is for a validator's score; tell the evaluator instead")
        if self.tells_checks and "{{checks}}" not in self.prompts["actor"].text:
            raise ConfigError(f"carry={self.carry!r} needs an actor prompt that holds {{{{checks}}}}")
        if self.validator is None and self.evaluator is None:
            warnings.warn(
                "no evaluator is given, so a model will judge: the least trustworthy choice there is",
                UserWarning,
                stacklevel=3,
            )

    @cached_property
    def judge(self) -> Evaluator:
        """The evaluator in use."""
        if self.evaluator is not None:
            return self.evaluator
        return Critic() if self.validator is None else Validator(self.validator, threshold=self.threshold)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        judging = self.judge.max_calls * (2 if self.confirm else 1)
        lessons = self.reflecting.max_calls * (self.max_trials - 1) if self.learns else 0
        return self.max_trials * (actor_calls(self.actor) + judging) + lessons

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return self._parameters

    @cached_property
    def _parameters(self) -> Mapping[str, Any]:
        described = {
            "evaluator": self.judge.spec(),
            "prompts": {one.name: one.digest for one in self.prompts.values()},
            "actor": actor_spec(self.actor),
        }
        plain = [one.name for one in fields(self) if one.name not in ("validator", *described)]
        found = {name: getattr(self, name) for name in plain} | described
        # Younger than the first journals, whose runs can so still be resumed.
        return {name: value for name, value in found.items() if name != "across_tasks" or value}

    @cached_property
    def reflecting(self) -> Reflector:
        """What writes lessons."""
        return Reflector(prompts=self.prompts, ask_again=self.ask_again, function=self.reflector)

    @property
    def tells_lessons(self) -> bool:
        """Whether lessons stand in the actor's prompt."""
        return self.carry in ("lessons", "both")

    @property
    def tells_checks(self) -> bool:
        """Whether the last evaluator's words do."""
        return self.carry in ("checks", "both")

    @property
    def learns(self) -> bool:
        """Whether a lesson has a use: in the next prompt, or in the memory."""
        return self.tells_lessons or self.store_lessons


PROMPTS = {
    "actor": Prompt(
        "reflexion.actor",
        """\
{{task}}

{{#if lessons}}
Lessons from earlier attempts at this task:
<lessons>
{{lessons}}
</lessons>
Follow them.
{{/if}}""",
    ),
    "reflector.system": Prompt(
        "reflexion.reflector.system",
        """\
You are reviewing a failed attempt at a task. Say in one to three sentences what to do differently next time, so that \
the next attempt can follow it. Name the cause and a general approach. Do not solve the task and do not write code.""",
    ),
    "reflector": Prompt(
        "reflexion.reflector",
        """\
<task>{{task}}</task>
<attempt>{{attempt}}</attempt>
<reason>{{reason}}</reason>""",
    ),
}
