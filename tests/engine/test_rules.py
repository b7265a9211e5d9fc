"""The ten rules of the engine, each as a test."""

from __future__ import annotations

import asyncio

import pytest

from retrial.core.budget import Budget
from retrial.core.events import event_to_json
from retrial.core.tasks import Outcome, Status
from retrial.engine import Engine, Failed
from retrial.errors import (
    ConfigError,
    DuplicateKey,
    EvaluatorError,
    HandlerMissing,
    ModelUnavailable,
    ReplayIncomplete,
    ReplayMismatch,
    ResumeRefused,
)
from retrial.evaluate import ValidationHandler
from retrial.log.journal import MemoryJournal
from worlds import Model, ask, engine_with, journal_of, learner, learning, reply


class Does:
    """An algorithm made of one function."""

    name, version, max_calls = "does", "1", 10

    def __init__(self, function, version="1", **parameters):
        self.function, self.version, self._parameters = function, version, parameters

    def parameters(self):
        return self._parameters

    async def __call__(self, run, given):
        return Outcome(Status.COMPLETED, await self.function(run))


async def run_of(function, model=None, **options):
    engine = engine_with(model or Model(lambda request: reply("yes")))
    return await engine.run(Does(function), {}, run_id="r", **options), await engine.journal.events("r")


async def test_rule_1_keys_are_the_names_that_the_author_gives():
    """A key is the path of names, and nothing counts."""

    async def function(run):
        await run.child("trial.2").child("deep").model("actor", ask("q"))

    _, events = await run_of(function)
    assert [event.key for event in events if event.kind == "model.completed"] == ["trial.2/deep/actor"]


async def test_rule_1_a_name_used_twice_in_one_scope_is_refused():
    """The second use of a name raises before anything leaves, and names the key."""
    model = Model(lambda request: reply("yes"))

    async def function(run):
        await run.model("actor", ask("q"))
        await run.child("x").model("actor", ask("q"))
        await run.model("actor", ask("q"))

    with pytest.raises(DuplicateKey, match="'actor' is used twice"):
        await run_of(function, model)
    assert len(model.keys) == 2


@pytest.mark.parametrize("name", ["", "a/b", "a\nb"])
async def test_rule_1_a_name_that_is_no_segment_is_refused(name):
    """A name that would break a path is refused with its value."""

    async def function(run):
        await run.model(name, ask("q"))

    with pytest.raises(ConfigError, match="cannot name an effect"):
        await run_of(function)


async def test_rule_2_the_same_key_with_another_request_is_a_mismatch():
    """Resuming with another question under a recorded key names the key and the field that differs."""

    async def first(run):
        await run.model("actor", ask("old question"))
        await run.tool("none", "missing", {})

    async def second(run):
        await run.model("actor", ask("new question"))

    engine = engine_with(Model(lambda request: reply("yes")))
    assert (await engine.run(Does(first), {}, run_id="r")).status is Status.FAILED
    with pytest.raises(ReplayMismatch, match=r"'actor'.*messages\[0\].content was 'old question'.*'new question'"):
        await engine.resume("r", Does(second))


async def test_rule_2_every_effect_carries_the_digest_of_its_request():
    """Both events of an effect hold one SHA-256, and it changes with the request."""

    async def function(run):
        await run.model("a", ask("q"))
        await run.model("b", ask("q2"))

    _, events = await run_of(function)
    marks = {event.key: event.digest for event in events if event.kind.startswith("model.")}
    assert len({*marks.values()}) == 2
    assert all(len(mark) == 64 for mark in marks.values())


async def test_rule_4_gather_answers_in_argument_order_with_failures_as_values():
    """The slowest first argument comes first, and a call that failed leaves a value that names it."""

    async def answer(request):
        text = request.messages[0].content
        await asyncio.sleep(0.02 if text == "slow" else 0)
        if text == "bad":
            raise ModelUnavailable("down")
        return reply(text)

    async def function(run):
        ends = await run.gather(*(run.model(text, ask(text)) for text in ("slow", "bad", "fast")))
        assert isinstance(ends[1], Failed)
        assert ends[1].error.keys == ("bad",)
        return [ends[0].text, ends[2].text]

    result, _ = await run_of(function, Model(answer))
    assert result.value == ["slow", "fast"]


async def test_rule_5_a_batch_is_refused_as_a_whole():
    """Three calls for which the budget holds two start not one of them."""
    model = Model(lambda request: reply("yes"))

    async def function(run):
        await run.gather(*(run.model(f"m.{i}", ask("q")) for i in range(3)))

    result, _ = await run_of(function, model, budget=Budget(max_calls=2))
    assert result.status is Status.BUDGET_EXCEEDED
    assert model.keys == []
    assert "allows 2 model calls: 0 used, 3 more asked for" in result.error


async def test_rule_5_a_branch_cannot_outgrow_its_allowance():
    """A branch that makes more calls than it said is refused, whatever the budget."""

    async def function(run):
        async def two(scope):
            await scope.model("a", ask("q"))
            await scope.model("b", ask("q"))

        await run.gather(run.branch("x", two, max_calls=1))

    result, _ = await run_of(function)
    assert result.status is Status.BUDGET_EXCEEDED


async def test_rule_5_what_a_branch_left_over_is_given_back():
    """An allowance that was not used up can be spent after the batch."""

    async def function(run):
        async def one(scope):
            await scope.model("a", ask("q"))

        await run.gather(run.branch("x", one, max_calls=3))
        await run.model("b", ask("q"))
        await run.model("c", ask("q"))

    result, _ = await run_of(function, budget=Budget(max_calls=3))
    assert (result.status, result.usage.calls) == (Status.COMPLETED, 3)


async def test_rule_5_a_dollar_budget_refuses_an_unpriced_model():
    """Once a reply without a price has come, a dollar budget cannot be kept, and that is said."""

    async def function(run):
        await run.model("a", ask("q"))
        await run.model("b", ask("q"))

    with pytest.raises(ConfigError, match="needs a price"):
        await run_of(function, Model(lambda request: reply("x", cost=None)), budget=Budget(max_cost_usd=1))


async def test_rule_5_seconds_are_looked_at_before_each_new_call():
    """A run that has taken its time is ended before the next call."""

    async def slow(request):
        await asyncio.sleep(0.06)
        return reply("x")

    async def function(run):
        await run.model("a", ask("q"))
        await run.model("b", ask("q"))

    result, _ = await run_of(function, Model(slow), budget=Budget(max_seconds=0.05))
    assert (result.status, result.usage.calls) == (Status.BUDGET_EXCEEDED, 1)


async def test_rule_6_a_failure_that_ended_the_run_is_tried_again_and_a_tolerated_one_is_final():
    """Resume issues exactly the call whose failure ended the run, and keeps a failure that was tolerated."""
    down = {"tolerated", "fatal"}

    def answer(request):
        text = request.messages[0].content
        if text in down:
            raise ModelUnavailable(f"{text} is down")
        return reply(text)

    async def function(run):
        await run.model("good", ask("good"))
        (lost,) = await run.gather(run.model("tolerated", ask("tolerated")))
        last = await run.model("fatal", ask("fatal"))
        return [isinstance(lost, Failed), last.text]

    model = Model(answer)
    engine = engine_with(model)
    failed = await engine.run(Does(function), {}, run_id="r")
    assert (failed.status, failed.error) == (Status.FAILED, "fatal is down")
    down.clear()
    model.keys.clear()
    resumed = await engine.resume("r", Does(function))
    assert (resumed.value, model.keys) == ([True, "fatal"], ["fatal"])


async def test_rule_7_nothing_leaves_before_what_came_before_it_is_durable():
    """When a handler is called, its request and every earlier outcome are in the journal already."""
    journal = MemoryJournal()

    def answer(request):
        stored = journal._runs["r"]
        text = request.messages[0].content
        assert stored[-1].data["effect"]["request"]["messages"][0]["content"] == text
        assert sum(event.kind == "model.completed" for event in stored) == int(text)
        return reply("x")

    async def function(run):
        for number in range(3):
            await run.model(f"m.{number}", ask(str(number)))

    await engine_with(Model(answer), journal).run(Does(function), {}, run_id="r")


async def test_rule_8_another_version_or_other_parameters_are_refused_with_the_choices():
    """A resume names what differs and what can be done."""

    async def stops(run):
        await run.tool("t", "missing", {})

    engine = engine_with()
    await engine.run(Does(stops, size=3), {}, run_id="r")
    for other in (Does(stops, version="2", size=3), Does(stops, size=4)):
        with pytest.raises(ResumeRefused, match=r"--restart.*--adopt"):
            await engine.resume("r", other)


async def test_rule_8_adopt_reuses_what_still_matches_and_performs_the_rest():
    """With adopt, recorded answers to unchanged questions are kept and changed questions are asked."""

    async def old(run):
        await run.model("same", ask("same"))
        await run.model("changed", ask("old"))
        await run.tool("t", "missing", {})

    async def new(run):
        first = await run.model("same", ask("same"))
        second = await run.model("changed", ask("new"))
        return [first.text, second.text]

    model = Model(lambda request: reply(request.messages[0].content))
    engine = engine_with(model)
    await engine.run(Does(old), {}, run_id="r")
    model.keys.clear()
    result = await engine.resume("r", Does(new, version="2"), adopt=True)
    assert (result.value, model.keys) == (["same", "new"], ["changed"])


async def test_rule_8_replay_of_an_unfinished_run_says_so():
    """A run that was cut off cannot be replayed, only resumed."""
    engine = engine_with(Model(learner))
    await engine.run(learning(), {"task": "t"}, run_id="r", budget=Budget(max_calls=2))
    with pytest.raises(ReplayIncomplete, match="resume it"):
        await engine.replay("r", learning())


async def test_rule_8_replay_notices_another_end():
    """An algorithm that asks the same and concludes something else is caught."""

    async def one(run):
        return (await run.model("m", ask("q"))).text

    async def other(run):
        return (await run.model("m", ask("q"))).text.upper()

    engine = engine_with(Model(lambda request: reply("yes")))
    await engine.run(Does(one), {}, run_id="r")
    with pytest.raises(ReplayMismatch, match="was 'yes' and is 'YES'"):
        await engine.replay("r", Does(other))


async def test_rule_9_views_see_what_notes_say():
    """A semantic event stands under its own kind with its data, and is written once over a resume."""

    async def function(run):
        run.child("trial.1").note("swarm.handoff", {"from": "a", "to": "b"})
        await run.model("m", ask("q"))
        await run.tool("t", "missing", {})

    engine = engine_with(Model(lambda request: reply("yes")))
    await engine.run(Does(function), {}, run_id="r")
    await engine.resume("r", Does(function))
    notes = [event for event in await engine.journal.events("r") if event.kind == "swarm.handoff"]
    assert [(note.key, note.data) for note in notes] == [("trial.1/swarm.handoff", {"from": "a", "to": "b"})]


async def test_rule_10_a_broken_validator_is_no_failing_verdict():
    """A validator that raises ends the run as FAILED, costs no trial, and is asked again on resume."""
    broken = [True]

    def validate(answer, context):
        if broken[0]:
            raise RuntimeError("no disk")
        return True, ""

    model = Model(learner)
    engine = engine_with(model)
    ValidationHandler({"right": validate}).attach(engine)
    failed = await engine.run(learning(), {"task": "t"}, run_id="r")
    assert (failed.status, failed.attempts) == (Status.FAILED, ())
    assert "no disk" in failed.error
    broken[0] = False
    assert (await engine.resume("r", learning())).passed
    assert len(model.keys) == 1


async def test_a_fault_of_the_program_is_raised_and_leaves_a_resumable_run():
    """An exception that is none of ours reaches the caller, and the run can go on once the fault is mended."""
    faulty = [True]

    async def function(run):
        first = await run.model("m", ask("q"))
        if faulty[0]:
            raise ZeroDivisionError("oops")
        return first.text

    model = Model(lambda request: reply("yes"))
    engine = engine_with(model)
    with pytest.raises(ZeroDivisionError):
        await engine.run(Does(function), {}, run_id="r")
    faulty[0] = False
    assert (await engine.resume("r", Does(function))).value == "yes"
    assert model.keys == ["m"]


async def test_a_cancelled_run_says_so_and_is_resumed():
    """Cancelling a run records it as CANCELLED; resume goes on and reports the call that was under way."""
    waiting = asyncio.Event()

    async def answer(request):
        if waiting.is_set():
            return reply("yes")
        waiting.set()
        await asyncio.sleep(60)
        return reply("too late")

    async def function(run):
        return (await run.model("m", ask("q"))).text

    engine = engine_with(Model(answer))
    task = asyncio.create_task(engine.run(Does(function), {}, run_id="r"))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await engine.journal.events("r"))[-1].data["status"] == "CANCELLED"
    resumed = await engine.resume("r", Does(function))
    assert (resumed.value, resumed.in_doubt) == ("yes", ("m",))


async def test_random_and_now_are_the_same_on_replay():
    """Randomness depends on run and name alone, and the time that was read stays."""

    async def function(run):
        return [run.random("dice").random(), run.random("other").random(), run.now("then")]

    result, events = await run_of(function)
    assert result.value[0] != result.value[1]
    again = await engine_with(None, await journal_of(events)).replay("r", Does(function))
    assert again.value == result.value


async def test_an_effect_that_nothing_handles_says_what_to_attach():
    """The error names the effect, and the run can be resumed once a handler is attached."""

    async def function(run):
        await run.host("h", "ask_person", {})

    result = await Engine().run(Does(function), {})
    assert result.error == "nothing handles CallHost 'ask_person'; attach a handler to the engine first"
    assert issubclass(HandlerMissing, Exception)


async def test_create_writes_a_run_down_without_working_on_it():
    """A created run has one event, no owner, and is worked on by resume."""
    model = Model(learner)
    engine = engine_with(model)
    run_id = await engine.create(learning(), {"task": "t"}, metadata={"by": "me"})
    (event,) = await engine.journal.events(run_id)
    assert (event.data["owner"], event.data["metadata"], model.keys) == ("", {"by": "me"}, [])
    assert (await engine.resume(run_id, learning())).passed


async def test_events_are_written_with_nothing_that_json_cannot_say():
    """An input that is no JSON is refused before anything is paid for."""
    with pytest.raises(ConfigError, match="not a JSON value"):
        await engine_with(Model(learner)).run(learning(), {"task": "t", "odd": {1, 2}})


async def test_a_surrogate_in_a_reply_survives_the_journal():
    """Text that no encoding can write is kept and replayed as it was."""

    async def function(run):
        return (await run.model("m", ask("q"))).text

    result, events = await run_of(function, Model(lambda request: reply("a\ud800b")))
    assert result.value == "a\ud800b"
    assert all(event_to_json(event).isascii() for event in events)


def test_evaluator_errors_are_no_effect_errors():
    """Whoever catches a failing world does not catch a broken evaluator."""
    assert not issubclass(EvaluatorError, ModelUnavailable.__mro__[1])
