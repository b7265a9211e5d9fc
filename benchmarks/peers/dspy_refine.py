"""DSPy's Refine with its DummyLM. It is synchronous, so each task takes a thread, as many as tasks at once."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import dspy
import measure
from dspy.utils import DummyLM


class Scripted(DummyLM):
    """Gives its answers after the latency; copies share them, as Refine makes one a trial."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(measure.LATENCY)
        return super().forward(*args, **kwargs)


def reward(_given: dict[str, Any], prediction: dspy.Prediction) -> float:
    return float(measure.passes(prediction.answer)[0])


def solve(_: int) -> bool:
    lesson = {"discussion": measure.REASON, "advice": f'{{"self": "{measure.LESSON}"}}'}
    answers = [{"answer": measure.WRONG}, lesson, {"answer": measure.RIGHT}]
    with dspy.context(lm=Scripted(answers)):
        refine = dspy.Refine(dspy.Predict("question -> answer"), N=3, reward_fn=reward, threshold=1.0)
        return measure.passes(refine(question=measure.TASK).answer)[0]


async def main(crowd: measure.Crowd) -> None:
    pool = ThreadPoolExecutor(min(crowd.concurrency, crowd.tasks))
    loop = asyncio.get_running_loop()
    await crowd.solve(lambda number: loop.run_in_executor(pool, solve, number))
    pool.shutdown()


measure.run("DSPy Refine, DummyLM, threads", version("dspy"), durable=False, main=main)
