"""A pydantic-ai Agent whose output validator asks for the lesson and has the model retry with it."""

from __future__ import annotations

from importlib.metadata import version

import measure
from pydantic_ai import Agent, ModelResponse, ModelRetry, TextPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


async def function(messages: list, _info: object) -> ModelResponse:
    prompt = str(messages[-1].parts[-1].content)
    text = await measure.answer(prompt, reflecting=False)
    return ModelResponse(parts=[TextPart(text)], usage=RequestUsage(input_tokens=1, output_tokens=1))


AGENT = Agent(FunctionModel(function), output_type=str, retries=2)


@AGENT.output_validator
async def unit(output: str) -> str:
    passed, reason = measure.passes(output)
    if not passed:
        raise ModelRetry(await measure.answer(f"{measure.TASK}\n{output}\n{reason}", reflecting=True))
    return output


async def solve(_: int) -> bool:
    result = await AGENT.run(measure.TASK)
    return result.output == measure.RIGHT


async def main(crowd: measure.Crowd) -> None:
    await crowd.solve(solve)


measure.run("pydantic-ai Agent, output_validator", version("pydantic-ai-slim"), durable=False, main=main)
