"""The least there is: the loop as a plain function that remembers nothing."""

from __future__ import annotations

import platform

import measure


async def solve(_: int) -> bool:
    lessons: list[str] = []
    for _trial in range(3):
        prompt = "\n".join([measure.TASK, *lessons])
        output = await measure.answer(prompt, reflecting=False)
        passed, reason = measure.passes(output)
        if passed:
            return True
        critique = f"{measure.TASK}\n{output}\n{reason}"
        lessons.append(await measure.answer(critique, reflecting=True))
    return False


async def main(crowd: measure.Crowd) -> None:
    await crowd.solve(solve)


measure.run("plain asyncio loop", platform.python_version(), durable=False, main=main)
