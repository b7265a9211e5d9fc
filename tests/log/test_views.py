"""What people see, as folds."""

from __future__ import annotations

import random

import pytest

from retrial.core.events import Event, fact
from retrial.core.tasks import Status
from retrial.log import views
from worlds import Fan, Model, engine_with, fan_model, learner, learning, reply


async def run_of(algorithm, answer, **options):
    async with engine_with(Model(answer)) as engine:
        result = await engine.run(algorithm, {"task": "t"}, run_id="r", **options)
        return result, await engine.journal.events("r")


async def test_the_result_is_a_fold_of_the_journal():
    """What the engine returned can be had from the events alone."""
    result, events = await run_of(learning(), learner)
    assert views.result_of(events) == result


async def test_trials_hold_attempt_verdict_and_lesson_together():
    """One entry a trial, in order, with the lesson that its failure taught."""
    _, events = await run_of(learning(), learner)
    found = views.trials(events)
    assert [(trial.attempt.trial, trial.attempt.output) for trial in found] == [
        (1, "wrong 0"),
        (2, "wrong 1"),
        (3, "right"),
    ]
    assert [trial.lesson is None for trial in found] == [False, False, True]
    assert found[0].lesson.created_at.startswith("20")
    assert found[1].attempt.lessons_used == (found[0].lesson.id,)


async def test_usage_adds_up_what_models_used():
    """Calls, tokens and cost are those of the replies; one without a price leaves the cost unknown."""
    result, _ = await run_of(learning(), lambda request: reply(learner(request).text, tokens=2, cost=0.25))
    assert (result.usage.calls, result.usage.tokens, result.usage.cost_usd) == (5, 20, 1.25)
    unpriced, _ = await run_of(learning(), lambda request: reply(learner(request).text, cost=None))
    assert unpriced.usage.cost_usd is None


async def test_views_do_not_depend_on_the_order_of_parallel_events():
    """However the events of a batch are interleaved, every view but the order of the timeline is the same."""
    _, events = await run_of(Fan(), fan_model)
    middle = events[1:-1]
    for seed in range(20):
        by_key: dict[str, list[Event]] = {}
        for event in middle:
            by_key.setdefault(event.key, []).append(event)
        queues = list(by_key.values())
        chance, shuffled = random.Random(seed), []
        while queues := [queue for queue in queues if queue]:
            shuffled.append(chance.choice(queues).pop(0))
        other = [events[0], *shuffled, events[-1]]
        assert views.usage_of(other) == views.usage_of(events)
        assert views.status_of(other) is views.status_of(events)
        assert {span.key for span in views.timeline(other)} == {span.key for span in views.timeline(events)}
        assert {exchange.key: exchange.response for exchange in views.transcript(other)} == {
            exchange.key: exchange.response for exchange in views.transcript(events)
        }


async def test_the_timeline_has_every_effect_with_its_time():
    """Each effect has a start and a length, and one that never came back is open."""
    _, events = await run_of(learning(), learner)
    spans = views.timeline(events)
    assert {span.outcome for span in spans} == {"completed"}
    assert all(span.start >= 0 and span.seconds >= 0 for span in spans)
    cut = next(index for index, event in enumerate(events) if event.kind == "model.requested") + 1
    assert views.timeline(events[:cut])[0].outcome == "open"


@pytest.mark.parametrize("cut", range(1, 20))
async def test_every_beginning_of_a_journal_folds(cut):
    """A journal that ends anywhere has a result, which says that it was interrupted."""
    _, events = await run_of(learning(), learner)
    part = events[:cut]
    assert views.result_of(part).status is Status.CANCELLED
    assert views.transcript(part) is not None
    assert views.usage_of(part).calls <= 5


async def test_idle_time_between_sessions_is_no_work():
    """Seconds are those of sessions, and the days between two of them do not count."""
    _, events = await run_of(learning(), learner)
    day = 86_400.0
    resumed = fact("r", 4, "run", "run.resumed", {"in_doubt": []}, at=events[3].at + day)
    moved = [fact("r", e.seq + 1, e.key, e.kind, e.data, at=e.at + day) for e in events[4:]]
    assert views.usage_of([*events[:4], resumed, *moved]).seconds < 60
