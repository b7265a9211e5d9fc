"""One evaluator and one output: what the tests of evaluators ask."""

from __future__ import annotations

from retrial.core.tasks import Outcome, Status, Task
from worlds import engine_with


class Judges:
    """An algorithm that asks one evaluator."""

    name, version, max_calls = "judges", "1", 20

    def __init__(self, evaluator, task, output):
        self.evaluator, self.task, self.output, self.verdict = evaluator, task, output, None

    def parameters(self):
        return {}

    async def __call__(self, run, given):
        self.verdict = await self.evaluator(run, self.task, self.output)
        return Outcome(Status.COMPLETED, None)


async def judged(evaluator, output, task=None, *, model=None, handlers=()):
    """What ``evaluator`` says about ``output`` (None if it broke), and how the run ended."""
    algorithm = Judges(evaluator, task or Task(id="t", prompt="the task"), output)
    async with engine_with(model) as engine:
        for handler in handlers:
            handler.attach(engine)
        result = await engine.run(algorithm, {})
    return algorithm.verdict, result


async def verdict_on(evaluator, output, task=None, **world):
    """The verdict alone."""
    verdict, result = await judged(evaluator, output, task, **world)
    assert verdict is not None, result.error
    return verdict
