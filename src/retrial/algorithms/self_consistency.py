"""Self-consistency: answer several times, independently, and take what most of the answers say (Wang et al., 2022).

The control for every algorithm that spends more calls on one exact answer: where it does as well, it is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from retrial.algorithms.answers import ANSWER_LAST, answer_in, majority
from retrial.algorithms.batch import unless_all_failed
from retrial.algorithms.given import task_of
from retrial.algorithms.parameters import described, refuse_unless
from retrial.core.messages import Message, ModelRequest
from retrial.core.tasks import Outcome, Status
from retrial.engine.run import Run
from retrial.prompts import Prompt

__all__ = ["SelfConsistency"]


@dataclass(frozen=True)
class SelfConsistency:
    """Costs ``samples`` calls, all at once. A sample whose call fails does not vote.

    Its input is ``{"task": text or an encoded Task}``. Its value is ``{"answer", "votes", "samples", "answers"}``: the
    answer that most samples gave (the first given of equally many), how many gave it, and every sample's answer, None
    for one that failed.
    """

    samples: int = 5
    """1 to 40."""
    _: KW_ONLY
    temperature: float | None = None
    """0 to 2; None for the provider's default. At 0 all samples are one."""
    prompts: Mapping[str, Prompt] = field(default_factory=lambda: PROMPTS)
    """``answer``."""

    name = "self_consistency"
    version = "1"

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            ConfigError: naming the parameter and its value.
        """
        refuse_unless(self, {"samples": (1 <= self.samples <= 40, "1 to 40")})

    @property
    def max_calls(self) -> int:
        """The most model calls that one run can make."""
        return self.samples

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that decides what a run does, the prompts as their digests."""
        return described(self)

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        """Sample and count.

        Raises:
            EffectError: if every sample fails.
        """
        prompt = self.prompts["answer"].render(task=task_of(given).prompt)
        request = ModelRequest(messages=(Message(role="user", content=prompt),), temperature=self.temperature)
        ends = await run.gather(*(run.model(f"sample.{number + 1}", request) for number in range(self.samples)))
        replies = unless_all_failed("every sample failed", ends)
        answers = [None if reply is None else answer_in(reply.text) for reply in replies]
        answer, votes = majority(answers)
        run.note("self_consistency.answers", {"answers": answers, "votes": votes})
        value = {"answer": answer, "votes": votes, "samples": self.samples, "answers": answers}
        return Outcome(Status.COMPLETED, value)


PROMPTS = {"answer": Prompt("self_consistency.answer", f"{{{{task}}}}\n\n{ANSWER_LAST}")}
