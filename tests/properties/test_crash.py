"""A run that is killed after any event is resumed to the same result, and nothing that came back is asked again."""

from __future__ import annotations

import pytest

from retrial.log.views import in_doubt
from worlds import Crash, CrashingJournal, Fan, Model, engine_with, fan_model, journal_of, learner, learning

WORLDS = {"reflexion": (learning, learner), "fan": (Fan, fan_model)}


async def whole_run(name):
    algorithm, answer = WORLDS[name]
    model = Model(answer)
    async with engine_with(model) as engine:
        result = await engine.run(algorithm(), {"task": "t"}, run_id="the run")
        return result, await engine.journal.events("the run"), model


async def crashed_run(name, limit, seed):
    algorithm, answer = WORLDS[name]
    journal = CrashingJournal(limit)
    model = Model(answer, seed)
    with pytest.raises(Crash):
        await engine_with(model, journal).run(algorithm(), {"task": "t"}, run_id="the run")
    return journal.stored, model


@pytest.mark.parametrize("name", WORLDS)
async def test_a_crash_after_every_event_loses_nothing_and_repeats_nothing(name):
    """After a crash behind any event, resume comes to the same value and issues no call again that had come back."""
    algorithm, answer = WORLDS[name]
    result, events, _ = await whole_run(name)
    for limit in range(1, len(events)):
        stored, _ = await crashed_run(name, limit, seed=limit)
        came_back = {event.key for event in stored if event.kind in ("model.completed", "host.completed")}
        model = Model(answer, seed=limit + 1)
        resumed = await engine_with(model, await journal_of(stored)).resume("the run", algorithm())
        assert resumed.value == result.value, limit
        assert resumed.status is result.status
        assert not came_back & {*model.keys}, limit
        assert resumed.usage.calls == result.usage.calls


@pytest.mark.parametrize("name", WORLDS)
async def test_calls_in_doubt_are_reported_and_issued_again(name):
    """What had left and not come back when the process died is named in the result, and is asked once more."""
    algorithm, answer = WORLDS[name]
    _, events, _ = await whole_run(name)
    seen = set()
    for limit in range(1, len(events)):
        stored, _ = await crashed_run(name, limit, seed=limit)
        doubt = in_doubt(stored)
        model = Model(answer)
        resumed = await engine_with(model, await journal_of(stored)).resume("the run", algorithm())
        assert resumed.in_doubt == doubt
        assert {key for key in doubt if "validator" not in key} <= {*model.keys}
        seen |= {len(doubt)}
    assert max(seen) >= 1


@pytest.mark.parametrize("name", WORLDS)
async def test_two_crashes_are_as_good_as_one(name):
    """A run that is killed again while it is being resumed still comes to the same value."""
    algorithm, answer = WORLDS[name]
    result, events, _ = await whole_run(name)
    for limit in range(1, len(events) - 3, 3):
        stored, _ = await crashed_run(name, limit, seed=limit)
        journal = CrashingJournal(limit + 4)
        await journal.append(stored)
        with pytest.raises(Crash):
            await engine_with(Model(answer), journal).resume("the run", algorithm())
        resumed = await engine_with(Model(answer), await journal_of(journal.stored)).resume("the run", algorithm())
        assert resumed.value == result.value


@pytest.mark.parametrize("name", WORLDS)
async def test_a_finished_run_replays_without_a_single_call(name):
    """Replay of a finished run gives the same Result and asks nothing of anybody."""
    algorithm, _ = WORLDS[name]
    result, events, _ = await whole_run(name)
    replayed = await engine_with(None, await journal_of(events)).replay("the run", algorithm())
    assert replayed == result
