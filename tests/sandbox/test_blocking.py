"""How an event loop meets a sandbox: opened once, and work in threads that a cancellation ends."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from retrial.errors import SandboxError
from retrial.sandbox.blocking import OpenedOnce, interruptible


def test_a_sandbox_is_opened_once_by_many_threads():
    """All get the one that the first opened."""
    opened = []

    def opening():
        time.sleep(0.01)
        opened.append(object())
        return opened[-1]

    once = OpenedOnce(opening)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: once(), range(32)))
    assert found == set(opened)
    assert len(opened) == 1


def test_a_sandbox_that_could_not_be_opened_is_tried_again():
    """A failure is not remembered."""
    answers = iter([SandboxError("no namespaces"), "a sandbox"])

    def opening():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    once = OpenedOnce(opening)
    with pytest.raises(SandboxError):
        once()
    assert once() == "a sandbox"


async def test_work_comes_back_with_its_value_or_its_error():
    """A thread changes nothing about what the work comes to."""

    def fail():
        raise SandboxError("gone")

    assert await interruptible(lambda: 7, lambda: None) == 7
    with pytest.raises(SandboxError, match="gone"):
        await interruptible(fail, lambda: None)


async def test_a_cancellation_interrupts_though_every_thread_is_busy():
    """Whatever waits for its interruption is interrupted, and is over when the cancellation is."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    ends = [threading.Event() for _ in range(2)]
    left = []
    jobs = [asyncio.create_task(interruptible(lambda end=end: left.append(end.wait(30)), end.set)) for end in ends]
    await asyncio.sleep(0.05)
    for job in jobs:
        job.cancel()
    done = await asyncio.wait_for(asyncio.gather(*jobs, return_exceptions=True), 10)
    assert all(isinstance(one, asyncio.CancelledError) for one in done)
    assert left == [True, True]


async def test_work_that_still_waits_for_a_thread_is_not_begun():
    """A cancellation of what is queued is over at once, and nothing is done later."""
    pool = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(pool)
    end, done = threading.Event(), []
    first = asyncio.create_task(interruptible(lambda: end.wait(30), end.set))
    await asyncio.sleep(0.05)
    queued = asyncio.create_task(interruptible(lambda: done.append("later"), lambda: done.append("interrupted")))
    await asyncio.sleep(0.05)
    queued.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(queued, 2)
    end.set()
    await first
    pool.shutdown()
    assert done == []


async def test_an_interrupt_that_fails_leaves_the_cancellation_what_it_is(caplog):
    """It is logged; the work is still waited for."""
    ended = []

    def work():
        time.sleep(0.2)
        ended.append(True)

    def fail():
        raise SandboxError("the keeper is gone")

    job = asyncio.create_task(interruptible(work, fail))
    await asyncio.sleep(0.05)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert ended == [True]
    assert "the keeper is gone" in caplog.text
