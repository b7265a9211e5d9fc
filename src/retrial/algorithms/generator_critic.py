"""Generator and critic: one conversation in which an answer is patched until something accepts it.

The contrast to Reflexion: the answer stays in the conversation, and what the evaluator says of it is the next user
turn. Cheap where a mistake is small; a wrong approach stays in view and is patched instead of left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from retrial.algorithms.given import task_of
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Attempt, Outcome, Status
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.validator import Validator
from retrial.prompts import Prompt

__all__ = ["GeneratorCritic"]


@dataclass(frozen=True)
class GeneratorCritic:
    """Costs at most ``max_rounds`` calls and the evaluator's for each.

    Its input is ``{"task": text or an encoded Task}``. Its value is ``{"candidate", "rounds", "score", "reason"}``: the
    last answer (for code, the code itself), how many there were, its score, and why it was not accepted.
    """

    validator: str | None = None
    """The name of a registered validator; None for ``evaluator``, or for a model in the role ``critic``."""
    _: KW_ONLY
    evaluator: Evaluator | None = None
    """What judges in place of a validator."""
    max_rounds: int = 3
    """Answers, 1 to 10."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``answer`` and ``critique``."""

    name = "generator_critic"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        refuse_unless(self, {"max_rounds": (1 <= self.max_rounds <= 10, "1 to 10")})
        if self.validator is not None and self.evaluator is not None:
            raise ConfigError(f"validator={self.validator!r} and an evaluator are both given; choose one")

    @property
    def critic(self) -> Evaluator:
        """The evaluator in use."""
        if self.evaluator is not None:
            return self.evaluator
        return Critic() if self.validator is None else Validator(self.validator)

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return self.max_rounds * (1 + self.critic.max_calls)

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Answer, hear what is wrong, and patch the answer.

        Raises:
            EffectError, EvaluatorError: if the model or the evaluator fails.
        """
        task, critic, value = task_of(given), self.critic, None
        run.keep(lambda: value)
        said = [Message(role="user", content=self.prompts["answer"].render(task=task.prompt))]
        for number in range(1, self.max_rounds + 1):
            scope = run.child(f"round.{number}")
            output = (await scope.model("generator", ModelRequest(messages=tuple(said)))).text
            verdict = await critic(scope, task, output)
            attempt = Attempt(trial=number, output=output, verdict=verdict)
            scope.note("generator_critic.answer", {"attempt": attempt})
            value = {"candidate": attempt.answer, "rounds": number, "score": verdict.score, "reason": verdict.reason}
            if verdict.passed:
                return Outcome(Status.COMPLETED, value)
            said.append(Message(role="assistant", content=output or "(nothing)"))
            said.append(Message(role="user", content=self.prompts["critique"].render(reason=verdict.reason)))
        return Outcome(Status.NO_SOLUTION, value)


PROMPTS = {
    "answer": Prompt("generator_critic.answer", "{{task}}"),
    "critique": Prompt(
        "generator_critic.critique",
        """\
This was not accepted:
<reason>
{{reason}}
</reason>
Correct your answer, and return it whole and nothing else.""",
    ),
}
