"""From a configuration to an answer."""

from __future__ import annotations

import asyncio

import pytest

import retrial
from retrial.errors import ConfigError
from retrial.recipes import rebuild, recorded, unit_tests
from seed_worlds import LESSON, RIGHT, SLUGIFY, WRONG


def model():
    replies = iter([WRONG, LESSON, RIGHT])
    return lambda request: next(replies)


def test_three_lines_solve_a_task(tmp_path):
    """The newcomer's lines return the code, that it passed, and the lesson."""
    result = retrial.solve(SLUGIFY.prompt, tests=list(SLUGIFY.tests), model=model(), store=tmp_path / "s.db")
    assert result.passed
    assert result.output.startswith("import re")
    assert [lesson.text for lesson in result.lessons] == [LESSON]
    assert result.attempts[0].verdict.isolation.level in ("jailed", "confined")


async def test_solve_works_within_a_running_event_loop(tmp_path):
    """A notebook has a loop already; solve still returns."""
    await asyncio.sleep(0)
    assert retrial.solve(
        "p", tests=[("slugify('A b')", "a-b")], model=lambda request: RIGHT, store=tmp_path / "s.db"
    ).passed


def test_the_store_is_the_given_one_the_variable_or_the_default(tmp_path, monkeypatch):
    """RETRIAL_STORE names the file, and without it the working folder holds it."""
    monkeypatch.chdir(tmp_path)
    retrial.solve("p", tests=["assert slugify('A') == 'a'"], model=lambda request: RIGHT)
    assert (tmp_path / ".retrial" / "retrial.db").exists()
    monkeypatch.setenv("RETRIAL_STORE", str(tmp_path / "other.db"))
    retrial.solve("p", tests=["assert slugify('A') == 'a'"], model=lambda request: RIGHT)
    assert (tmp_path / "other.db").exists()


def test_what_cannot_work_is_said_before_anything_is_paid_for(tmp_path):
    """No tests, tests given twice, and a dollar budget for an unpriced model."""
    asked = []
    with pytest.raises(ConfigError, match="no tests"):
        retrial.solve("p", model=asked.append, store=tmp_path / "s.db")
    with pytest.raises(ConfigError, match="brings its own tests"):
        retrial.solve(SLUGIFY, tests=["assert 1"], model=asked.append, store=tmp_path / "s.db")
    assert asked == []


def test_a_dollar_budget_needs_a_price(monkeypatch):
    """A model that nobody prices is refused under a dollar budget, by name."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with pytest.raises(ConfigError, match="'openai:unheard-of-model' has none; limit calls or tokens"):
        retrial.assemble("openai:unheard-of-model", budget=retrial.Budget(max_cost_usd=1.0))


async def test_a_local_server_costs_nothing_and_is_allowed_under_a_dollar_budget(monkeypatch):
    """A model on this machine is free, whether its address is given or in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    await retrial.assemble("openai:unheard-of-model", budget=retrial.Budget(max_cost_usd=1.0)).close()


async def test_a_role_can_have_a_model_of_its_own(tmp_path):
    """The reflector's model writes the lessons, the other one acts."""
    replies = iter([WRONG, RIGHT])
    result = await retrial.solve_async(
        SLUGIFY,
        model=lambda request: next(replies),
        reflector_model=lambda request: "Next time, use words.",
        store=tmp_path / "s.db",
    )
    assert [lesson.text for lesson in result.lessons] == ["Next time, use words."]


async def test_a_run_is_rebuilt_from_what_it_recorded(tmp_path):
    """A recipe's run can be replayed by whoever opens the store."""
    algorithm, metadata = recorded("unit_tests", {"trials": 2, "carry": "both"})
    async with retrial.assemble(model(), store=tmp_path / "s.db") as engine:
        from retrial.core.codec import encode

        result = await engine.run(algorithm, {"task": encode(SLUGIFY)}, metadata=metadata)
        start = (await engine.journal.events(result.run_id))[0].data
        assert await engine.replay(result.run_id, rebuild(start)) == result
    assert rebuild(start) == unit_tests(trials=2, carry="both") or rebuild(start).parameters() == algorithm.parameters()


def test_a_run_of_a_program_says_that_its_program_is_needed():
    """A run without a recipe cannot be rebuilt, and the error says what can."""
    with pytest.raises(ConfigError, match="from that program"):
        rebuild({"algorithm": "mine", "metadata": {}})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"task": ""}, "say in words"),
        ({"task": None}, "say in words"),
        ({"tests": "assert f(1) == 1"}, "put it into a list"),
        ({"tests": [3]}, "a test is 3"),
        ({"tests": [("f(1)", 2, 3)]}, "a test is"),
        ({"tests": [("f(1)", object())]}, "cannot be written as a literal"),
        ({"tests": ["assert f(1) =="]}, "no valid tests"),
        ({"tests": ["assert 1 == 1"]}, "no valid tests"),
        ({"timeout": 1e9}, "at most 3600"),
        ({"timeout": 0}, "above 0"),
        ({"store": ":memory:"}, "keeps nothing"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_paid_for(tmp_path, arguments, told):
    """Each mistake is a ConfigError with what to do, and no model is asked."""
    asked = []
    given = {"task": "p", "tests": ["assert f() == 1"], "store": tmp_path / "s.db", **arguments}
    with pytest.raises(ConfigError, match=told):
        retrial.solve(**given, model=asked.append)
    assert asked == []
