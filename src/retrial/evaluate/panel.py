"""Several judges about one output: other models, other rubrics, or one asked again. How far they agree is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Failed, Run
from retrial.errors import ConfigError
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.trust import lowest

__all__ = ["Panel"]


class Panel:
    """Judges an output by asking several judges at once.

    Args:
        judges: at least two evaluators, in a spec their specs.
        decide: ``majority`` (more than half of the judges that could be read say passed; the score is their share), or
            ``mean`` (the mean of their scores reaches ``threshold``; the score is that mean).
        threshold: for ``mean``, above 0 and at most 1.

    A judge whose reply could not be read has no vote; if nobody has one, the verdict is marked as unparsed. The note
    ``panel.votes`` holds the votes and the agreement: the share of the votes that say what the larger part says.
    """

    def __init__(self, judges: Sequence[Evaluator], *, decide: str = "majority", threshold: float = 0.5) -> None:
        if len(judges) < 2:
            raise ConfigError(f"panel: {len(judges)} judges are no panel; give at least two")
        if decide not in ("majority", "mean"):
            raise ConfigError(f"panel: decide={decide!r} is not possible; it can be 'majority' or 'mean'")
        if not 0 < threshold <= 1:
            raise ConfigError(f"panel: threshold={threshold!r} is not possible; it is above 0 and at most 1")
        self._judges = tuple(judges)
        self._decide, self._threshold = decide, threshold

    @property
    def max_calls(self) -> int:
        """The most model calls that one judgement makes: those of all judges."""
        return sum(judge.max_calls for judge in self._judges)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        judges = [judge.spec() for judge in self._judges]
        return {"kind": "panel", "judges": judges, "decide": self._decide, "threshold": self._threshold}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``; a judge that cannot be reached ends the judgement, as it would alone."""
        ends = await run.gather(
            *(
                run.branch(
                    f"judge.{number}", lambda scope, judge=judge: judge(scope, task, output), max_calls=judge.max_calls
                )
                for number, judge in enumerate(self._judges, 1)
            )
        )
        verdicts: list[Verdict] = []
        for end in ends:
            if isinstance(end, Failed):
                raise end.error
            verdicts.append(end)
        votes = [verdict for verdict in verdicts if not verdict.unparsed]
        trust = lowest(verdict.trust for verdict in verdicts)
        ayes = sum(verdict.passed for verdict in votes)
        agreement = max(ayes, len(votes) - ayes) / len(votes) if votes else 0.0
        told = [None if verdict.unparsed else verdict.passed for verdict in verdicts]
        run.note("panel.votes", {"votes": told, "agreement": agreement})
        if not votes:
            return replace(verdicts[0], trust=trust)
        return self._decided(verdicts, votes, ayes, trust)

    def _decided(self, verdicts: list[Verdict], votes: list[Verdict], ayes: int, trust: str) -> Verdict:
        """The verdict of those who have a vote."""
        mean = sum(vote.score for vote in votes) / len(votes)
        passed = ayes * 2 > len(votes) if self._decide == "majority" else mean >= self._threshold
        score = ayes / len(votes) if self._decide == "majority" else mean
        against = [f"- {vote.reason}" for vote in votes if not vote.passed]
        reason = f"{len(votes) - ayes} of {len(votes)} judges did not accept it\n" + "\n".join(dict.fromkeys(against))
        checks = tuple(
            Check(name=f"judge {number}", passed=verdict.passed, message=verdict.reason, kind="judge")
            for number, verdict in enumerate(verdicts, 1)
            if not verdict.unparsed
        )
        hint = next((vote.fix_hint for vote in votes if vote.fix_hint and not vote.passed), "")
        return Verdict(
            passed=passed,
            score=score if passed else min(score, 0.99),
            reason="" if passed else reason.strip(),
            fix_hint="" if passed else hint,
            checks=checks,
            trust=trust,
        )
