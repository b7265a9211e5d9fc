"""Adopting a run, claiming it, and what the journal must never mix up."""

from __future__ import annotations

import asyncio

import pytest

from retrial.core.budget import Budget
from retrial.core.effects import CallHost, RunTests
from retrial.core.reports import TestReport
from retrial.core.tasks import Outcome, Status
from retrial.errors import ConfigError, DuplicateKey, JournalError, ModelUnavailable, ReplayIncomplete, RunBusy
from retrial.log.journal import MemoryJournal
from retrial.log.views import transcript, usage_of
from worlds import Crash, Model, ask, engine_with, learner, learning, reply, said


class Does:
    """An algorithm made of one function and its parameters."""

    name, version, max_calls = "does", "1", 10

    def __init__(self, function, **parameters):
        self.function, self._parameters = function, parameters

    def parameters(self):
        return self._parameters

    async def __call__(self, run, given):
        return Outcome(Status.COMPLETED, await self.function(run))


class World:
    """A model that repeats what it is asked, is down for ``boom``, and takes the process down for ``crash``."""

    def __init__(self):
        self.crashing = False
        self.model = Model(self.answer)
        self.engine = engine_with(self.model)

    def answer(self, request):
        if said(request) == "boom":
            raise ModelUnavailable("down")
        if self.crashing:
            raise Crash
        return reply(f"reply to {said(request)}")

    def asks(self, text, *, then_boom=False, size=1):
        async def function(run):
            first = await run.model("ask", ask(text))
            if then_boom:
                await run.model("other", ask("boom"))
            return first.text

        return Does(function, size=size)


async def test_an_outcome_of_another_request_is_never_returned():
    """Adopted with another question, then killed before the answer: the old answer is not taken for the new one."""
    world = World()
    await world.engine.run(world.asks("A", then_boom=True), {}, run_id="r")
    world.crashing = True
    with pytest.raises(Crash):
        await world.engine.resume("r", world.asks("B", size=2), adopt=True)
    world.crashing = False
    assert (await world.engine.resume("r", world.asks("B", size=2), adopt=True)).value == "reply to B"
    (exchange,) = [one for one in transcript(await world.engine.journal.events("r")) if one.key == "ask"]
    assert (said(exchange.request), exchange.response.text) == ("B", "reply to B")


async def test_an_adopted_run_is_resumed_and_replayed_as_what_it_became():
    """Once adopted and finished, the run replays under the algorithm that adopted it, and under no other."""
    world = World()
    await world.engine.run(world.asks("boom"), {}, run_id="r")
    done = await world.engine.resume("r", world.asks("fine", size=2), adopt=True)
    assert await world.engine.replay("r", world.asks("fine", size=2)) == done
    assert await world.engine.resume("r", world.asks("fine", size=2)) == done
    with pytest.raises(Exception, match="size"):
        await world.engine.replay("r", world.asks("boom"))


async def test_what_was_paid_before_an_adoption_is_counted():
    """Both answers under one key are in the usage."""
    world = World()
    await world.engine.run(world.asks("A", then_boom=True), {}, run_id="r")
    result = await world.engine.resume("r", world.asks("B", size=2), adopt=True)
    assert result.usage.calls == usage_of(await world.engine.journal.events("r")).calls == 2


async def test_a_repeatable_effect_that_was_adopted_is_not_repeated_again():
    """Performed once for the new request, it is taken from the journal by the next resume."""
    world, performed = World(), []

    async def host(effect, key):
        performed.append(effect.arguments["x"])
        return effect.arguments["x"]

    world.engine.handle(CallHost, host)

    def algorithm(x):
        async def function(run):
            await run.host("h", "h", {"x": x}, repeatable=True)
            await run.model("m", ask("boom"))

        return Does(function, x=x)

    await world.engine.run(algorithm(1), {}, run_id="r")
    await world.engine.resume("r", algorithm(2), adopt=True)
    await world.engine.resume("r", algorithm(2))
    assert performed == [1, 2]


async def test_trials_of_the_algorithm_before_are_not_shown_for_the_one_after():
    """A loop that was adopted shows the trials that the adopting one went through."""
    model = Model(learner)
    async with engine_with(model) as engine:
        await engine.run(learning(), {"task": "t"}, run_id="r", budget=Budget(max_calls=3))

        async def right_away(run):
            run.child("trial.1").note(
                "reflexion.feedback",
                {"attempt": {"trial": 1, "output": "x", "verdict": {"passed": True, "score": 1.0}}},
            )

        result = await engine.resume("r", Does(right_away), adopt=True)
    assert ([one.output for one in result.attempts], result.lessons) == (["x"], ())


@pytest.mark.parametrize("name", ["tests.failed", "debate.completed", "x.requested", "run.finished"])
async def test_a_note_cannot_take_the_name_of_an_engine_s_event(name):
    """A note whose kind would read as an effect or as the end of the run is refused."""

    async def function(run):
        run.note(name, {})

    with pytest.raises(ConfigError, match="give the note another name"):
        await engine_with().run(Does(function), {})


async def test_a_call_is_started_once():
    """Awaiting one call twice, or gathering it twice, is refused and pays once."""
    world = World()

    async def twice(run):
        call = run.model("m", ask("q"))
        await call
        await call

    async def gathered(run):
        call = run.model("m", ask("q"))
        await run.gather(call, call)

    for function in (twice, gathered):
        world.model.keys.clear()
        with pytest.raises(DuplicateKey, match="awaited twice"):
            await world.engine.run(Does(function), {})
        assert len(world.model.keys) == 1


async def test_a_reply_that_was_paid_for_is_kept_when_the_algorithm_is_wrong():
    """A duplicate key in the same turn loses nothing: the reply is in the journal and is not asked for again."""
    world = World()

    async def wrong(run):
        await run.model("m", ask("q"))
        run.note("said", {})
        run.note("said", {})

    with pytest.raises(DuplicateKey):
        await world.engine.run(Does(wrong), {}, run_id="r")
    assert "model.completed" in [event.kind for event in await world.engine.journal.events("r")]

    async def mended(run):
        return (await run.model("m", ask("q"))).text

    assert (await world.engine.resume("r", Does(mended))).value == "reply to q"
    assert world.model.keys == ["m"]


async def test_nothing_is_done_before_a_resumed_session_holds_the_run():
    """Of two that resume at once, the loser does not even run tests: the claim is on disk before anything is done."""
    journal, ran = MemoryJournal(), []

    async def tests(effect, key):
        ran.append(key)
        await asyncio.sleep(0)
        return TestReport(checks=())

    async def function(run):
        await run.tests("t", RunTests(output="x", tests=("assert 1",)))

    engine = engine_with(None, journal)
    engine.handle(RunTests, tests)
    run_id = await engine.create(Does(function), {})
    original = journal.append

    def lost(events, *, last=False):
        done = asyncio.get_running_loop().create_future()
        done.set_exception(RunBusy("another process goes on with it"))
        return done

    journal.append = lost
    with pytest.raises(JournalError):
        await engine.resume(run_id, Does(function))
    journal.append = original
    assert ran == []


async def test_a_larger_budget_is_remembered_by_the_next_resume():
    """Resumed with more and failed in between, the run goes on with what it was last given."""
    down = [False]

    def answer(request):
        if down[0]:
            raise ModelUnavailable("down")
        return learner(request)

    async with engine_with(Model(answer)) as engine:
        await engine.run(learning(), {"task": "t"}, run_id="r", budget=Budget(max_calls=2))
        down[0] = True
        assert (await engine.resume("r", learning(), budget=Budget(max_calls=6))).status is Status.FAILED
        down[0] = False
        assert (await engine.resume("r", learning())).passed


async def test_parameters_may_be_tuples():
    """What JSON turns into a list is still the same parameter."""

    async def function(run):
        return 1

    engine = engine_with()
    result = await engine.run(Does(function, agents=("a", "b")), {}, run_id="r")
    assert await engine.replay("r", Does(function, agents=("a", "b"))) == result


async def test_replaying_a_run_that_was_killed_before_its_end_says_to_resume_it():
    """All effects came back and the end is missing: that is incomplete, not a mismatch."""
    engine = engine_with(Model(learner))
    await engine.run(learning(), {"task": "t"}, run_id="r")
    journal = MemoryJournal()
    await journal.append((await engine.journal.events("r"))[:-1])
    with pytest.raises(ReplayIncomplete, match="not finished"):
        await engine_with(None, journal).replay("r", learning())


async def test_a_missing_handler_is_no_outcome():
    """A failure to find a handler is not recorded, even where it is tolerated, and is found by a resume."""

    async def function(run):
        (lost,) = await run.gather(run.host("h", "later", {}))
        await run.model("m", ask("boom"))
        return str(lost)

    world = World()
    await world.engine.run(Does(function), {}, run_id="r")
    assert not [event for event in await world.engine.journal.events("r") if event.kind.startswith("host.")]
