"""A model with a rubric as the evaluator, where nothing better exists (seed 1, second part).

It is asked in a call of its own, at temperature 0, and sees the task, the rubric and the attempt only: never the
actor's reasoning, which would make it sympathetic to the story.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrial.core.messages import Message, ModelRequest
from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.reply import ask_strictly, score_of
from retrial.prompts import Prompt, bullets

__all__ = ["JUDGE", "Judge"]


class Judge:
    """Judges an output by asking a model whether it meets a rubric.

    Args:
        rubric: the items to check, each such that two people would agree on it: a word limit, a required fact.
        role: the role in which the model is asked; another role can be played by another model.
        trust: ``other_model``, or ``same_model`` where the judge may be the actor; whoever knows the models sets it.
        allow_same_model: whether a judge that is the actor's model is marked instead of refused.
        prompt: a template with ``{{task}}``, ``{{rubric}}`` and ``{{attempt}}`` in place of the printed one.
    """

    max_calls = 2

    def __init__(
        self,
        rubric: str | Sequence[str],
        *,
        role: str = "judge",
        trust: str = "same_model",
        allow_same_model: bool = False,
        prompt: str | None = None,
    ) -> None:
        items = [rubric] if isinstance(rubric, str) else [str(item) for item in rubric]
        if not items or not all(item.strip() for item in items):
            raise ConfigError(f"judge: rubric={rubric!r} is empty, so nothing could fail; write items to check")
        self._rubric = rubric if isinstance(rubric, str) else items
        self._role, self._trust, self._allow = role, trust, allow_same_model
        self._prompt = JUDGE if prompt is None else Prompt("judge", prompt)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator; the prompt in full, since verdicts depend on its every word."""
        return {
            "kind": "judge",
            "rubric": self._rubric,
            "role": self._role,
            "trust": self._trust,
            "allow_same_model": self._allow,
            "prompt": self._prompt.text,
        }

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``; a reply that cannot be read twice fails it, marked as unparsed."""
        rubric = self._rubric if isinstance(self._rubric, str) else bullets(self._rubric)
        prompt = self._prompt.render(task=task.statement, rubric=rubric, attempt=output)
        request = ModelRequest(role=self._role, messages=(Message(role="user", content=prompt),), temperature=0.0)
        reply, raw = await ask_strictly(run, "judge", request)
        if reply is None:
            return Verdict(
                passed=False,
                score=0.0,
                reason=raw.strip() or "the judge answered nothing",
                trust=self._trust,
                unparsed=True,
            )
        passed = bool(reply["passed"])
        reason = "" if passed else str(reply.get("reason") or "").strip() or "the judge gave no reason"
        hint = "" if passed else str(reply.get("fix_hint") or "").strip()
        check = Check(name="rubric", passed=passed, message=reason, kind="judge")
        return Verdict(
            passed=passed, score=score_of(reply), reason=reason, fix_hint=hint, checks=(check,), trust=self._trust
        )


JUDGE = Prompt(
    "judge",
    """\
You check one attempt against a rubric. Be strict and literal.

<task>{{task}}</task>
<rubric>{{rubric}}</rubric>
<attempt>{{attempt}}</attempt>

Check every rubric item. Respond in JSON:
{"passed": true|false, "reason": "each failed item and why; empty if passed"}""",
)
