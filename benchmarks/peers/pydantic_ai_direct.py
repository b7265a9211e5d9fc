"""The plain loop over pydantic-ai's direct calls: what its client layer costs, with nothing remembered."""

from __future__ import annotations

from importlib.metadata import version

import measure
from pydantic_ai import ModelRequest, ModelResponse, TextPart
from pydantic_ai.direct import model_request
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


async def function(messages: list, _info: object) -> ModelResponse:
    prompt = messages[-1].parts[-1].content
    text = await measure.answer(prompt, reflecting=measure.REASON in prompt)
    return ModelResponse(parts=[TextPart(text)], usage=RequestUsage(input_tokens=1, output_tokens=1))


MODEL = FunctionModel(function)


async def ask(prompt: str) -> str:
    response = await model_request(MODEL, [ModelRequest.user_text_prompt(prompt)])
    return response.text or ""


async def solve(_: int) -> bool:
    lessons: list[str] = []
    for _trial in range(3):
        output = await ask("\n".join([measure.TASK, *lessons]))
        passed, reason = measure.passes(output)
        if passed:
            return True
        lessons.append(await ask(f"{measure.TASK}\n{output}\n{reason}"))
    return False


async def main(crowd: measure.Crowd) -> None:
    await crowd.solve(solve)


measure.run("pydantic-ai direct loop", version("pydantic-ai-slim"), durable=False, main=main)
