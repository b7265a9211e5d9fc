"""This project: Reflexion over the journal in memory."""

from __future__ import annotations

import measure

from retrial import __version__
from retrial.algorithms import Reflexion
from retrial.core.messages import ModelRequest
from retrial.engine import Engine
from retrial.evaluate import ValidationHandler
from retrial.models import FakeLLMClient, LLMHandler


async def model(request: ModelRequest) -> str:
    prompt = "\n".join(message.content or "" for message in request.messages)
    return await measure.answer(prompt, reflecting=request.role == "reflector")


async def main(crowd: measure.Crowd) -> None:
    engine = Engine()
    LLMHandler(FakeLLMClient(model)).attach(engine)
    ValidationHandler({"unit": lambda answer, _: measure.passes(answer)}).attach(engine)
    reflexion = Reflexion(validator="unit")

    async def one(_: int) -> bool:
        return (await engine.run(reflexion, {"task": measure.TASK})).passed

    async with engine:
        await crowd.solve(one)


measure.run("retrial, in memory", __version__, durable=False, main=main)
