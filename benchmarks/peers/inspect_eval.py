"""inspect_ai: one eval of all tasks with a solver that is the loop, and its .eval log."""

from __future__ import annotations

import os
from importlib.metadata import version

os.environ["INSPECT_DISPLAY"] = "none"  # Read when it is imported; its screen would be measured too.

import measure
from inspect_ai import Task, eval_async
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer
from inspect_ai.solver import Generate, TaskState, solver


@modelapi(name="peer")
class Scripted(ModelAPI):
    """Answers after the latency, with its usage stated so that no tokens are counted."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - the base class names it so
        tools: list,
        tool_choice: object,
        config: GenerateConfig,
    ) -> ModelOutput:
        prompt = input[-1].text
        text = await measure.answer(prompt, reflecting=measure.REASON in prompt)
        output = ModelOutput.from_content("peer", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    def max_connections(self) -> int:
        return 10_000


@solver
def loop():
    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the protocol
        model = get_model()
        lessons: list[str] = []
        for _trial in range(3):
            state.output = await model.generate("\n".join([measure.TASK, *lessons]))
            passed, reason = measure.passes(state.output.completion)
            if passed:
                break
            critique = f"{measure.TASK}\n{state.output.completion}\n{reason}"
            lessons.append((await model.generate(critique)).completion)
        return state

    return solve


@scorer(metrics=[accuracy()])
def unit():
    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the protocol
        return Score(value=CORRECT if measure.passes(state.output.completion)[0] else INCORRECT)

    return score


async def evaluate(crowd: measure.Crowd, tasks: int) -> int:
    samples = [Sample(input=measure.TASK, target=measure.RIGHT, id=number) for number in range(tasks)]
    (log,) = await eval_async(
        Task(dataset=MemoryDataset(samples), solver=loop(), scorer=unit()),
        model="peer/model",
        log_dir=str(crowd.folder),
        max_samples=crowd.concurrency,
        max_connections=crowd.concurrency,
    )
    if log.status != "success" or not log.results:
        raise RuntimeError(log.error)
    return round(log.results.scores[0].metrics["accuracy"].value * tasks)


async def main(crowd: measure.Crowd) -> None:
    await evaluate(crowd, 1)
    await crowd.solve_together(evaluate)


measure.run("inspect_ai eval", version("inspect-ai"), durable=True, main=main)
