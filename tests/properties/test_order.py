"""Whoever finishes first, the result is the same."""

from __future__ import annotations

from worlds import Fan, Model, engine_with, fan_model, learner, learning


async def one_run(algorithm, given, answer, seed):
    model = Model(answer, seed)
    async with engine_with(model) as engine:
        result = await engine.run(algorithm, given, run_id="the run")
        events = await engine.journal.events("the run")
    return result, frozenset(event.key for event in events), tuple(event.key for event in events), sorted(model.keys)


async def test_500_random_completion_orders_give_one_result_and_one_set_of_keys():
    """Five hundred orders of completion, many of them different, come to one value, one set of keys, one set of calls."""
    runs = [await one_run(Fan(), {"task": "t"}, fan_model, seed) for seed in range(500)]
    assert len({repr(result.value) for result, *_ in runs}) == 1
    assert len({keys for _, keys, *_ in runs}) == 1
    assert len({tuple(calls) for *_, calls in runs}) == 1
    assert len({order for _, _, order, _ in runs}) > 100


async def test_usage_does_not_depend_on_the_order():
    """Calls and tokens are the same for every order of completion."""
    used = {
        (result.usage.calls, result.usage.tokens)
        for result, *_ in [await one_run(Fan(), {"task": "t"}, fan_model, seed) for seed in range(20)]
    }
    assert len(used) == 1


async def test_the_loop_gives_one_result_for_every_delay():
    """Reflexion calls one thing at a time, so delays change nothing, not even the order of its events."""
    runs = [await one_run(learning(), {"task": "t"}, learner, seed) for seed in range(20)]
    assert len({(repr(result.value), order) for result, _, order, _ in runs}) == 1
