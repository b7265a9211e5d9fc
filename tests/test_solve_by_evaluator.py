"""The three lines of a newcomer, for tasks without tests."""

from __future__ import annotations

import sqlite3

import pytest

import retrial
from retrial.assembly import model_name, solve_async
from retrial.core.tasks import Task
from retrial.errors import ConfigError
from retrial.models import FakeLLMClient
from worlds import Model, reply, said

LESSON = "Next time, convert the distance to kilometres."


def improving(wrong, right, answers=None):
    """A model that is right once it was told a lesson, and that plays the judge by ``answers``."""

    def answer(request):
        if request.role == "judge":
            return reply(answers[right in said(request)])
        if request.role == "reflector":
            return reply(LESSON)
        return reply(right if LESSON in said(request) else wrong)

    return Model(answer)


@pytest.mark.parametrize("evaluator", [None, "normalised", "numeric", {"kind": "numeric", "relative": 0.01}])
async def test_an_answer_is_enough(evaluator, tmp_path):
    """An expected answer and a kind of match; the answer stands in no prompt."""
    model = improving("26", "42")
    result = await solve_async(
        "How far is it?", model=model, answer="42", evaluator=evaluator, store=tmp_path / "store.db"
    )
    assert (result.passed, result.output, len(result.attempts)) == (True, "42", 2)
    assert not any("42" in said(request) for request in model.requests)


async def test_a_query_is_judged_on_a_database_that_the_task_names(tmp_path):
    """The host's read-only database is there without further words."""
    with sqlite3.connect(tmp_path / "school.db") as connection:
        connection.executescript("CREATE TABLE student (name TEXT); INSERT INTO student VALUES ('Ada')")
    connection.close()
    spec = {"kind": "sql", "database": str(tmp_path / "school.db")}
    task = Task(id="q", prompt="Who?", answer="SELECT name FROM student", evaluator=spec)
    model = improving("SELECT nam FROM student", "SELECT name AS who FROM student")
    result = await solve_async(task, model=model, store=tmp_path / "store.db")
    assert result.passed
    assert "no such column: nam" in said(model.asked("reflector")[0])


async def test_a_judge_that_is_the_actor_is_refused_and_another_one_is_marked(tmp_path):
    """Equal names are refused before anything is paid for; other names and permission are recorded in the verdict."""
    answers = {True: '{"passed": true}', False: '{"passed": false, "reason": "no unit"}'}
    spec = {"kind": "judge", "rubric": ["names the unit"]}
    actor, other = improving("42", "42 km"), improving("", "42 km", answers)
    both = improving("42", "42 km", answers)
    actor.name, other.name, both.name = "openai:a", "openai:b", "openai:a"
    store = tmp_path / "store.db"
    with pytest.raises(ConfigError, match="would judge its own work"):
        await solve_async("How far?", model=both, evaluator=spec, store=store)
    assert both.requests == []
    result = await solve_async("How far?", model=actor, judge_model=other, evaluator=spec, store=store)
    assert [attempt.verdict.trust for attempt in result.attempts] == ["other_model", "other_model"]
    allowed = await solve_async("How far?", model=both, evaluator={**spec, "allow_same_model": True}, store=store)
    assert (allowed.passed, allowed.attempts[0].verdict.trust) == (True, "same_model")


def test_without_anything_that_could_fail_nothing_starts():
    """No tests, no answer, no evaluator: refused, with what to give."""
    with pytest.raises(ConfigError, match="answer='...' or an evaluator"):
        retrial.solve("p", model=lambda request: "x")
    with pytest.raises(ConfigError, match="leave '42' out"):
        retrial.solve(Task(prompt="p", answer="41"), answer="42", model=lambda request: "x")


def test_models_have_names():
    """A name is itself, a client says its own, a function is scripted."""
    assert model_name("openai:a") == "openai:a"
    assert model_name(FakeLLMClient(lambda request: "x", name="mine")) == "mine"
    assert model_name(lambda request: "x") == "scripted"


@pytest.mark.parametrize("actor", [7, ["debate"], b"debate"])
def test_an_actor_that_is_none_is_refused_with_what_it_can_be(actor, tmp_path):
    """Before anything is asked or stored."""
    with pytest.raises(ConfigError, match="give a function, or a spec"):
        retrial.solve(
            "q", validator=lambda task, output: True, model=lambda request: "", actor=actor, store=tmp_path / "s.db"
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"answr": "42"}, "solve takes no 'answr'; did you mean 'answer'?"),
        (
            {"answer": "42", "evaluator": {"kind": "numeric", "abslute": 1}},
            "takes no 'abslute'; did you mean 'absolute'?",
        ),
    ],
)
def test_a_misspelt_option_is_named_with_the_nearest(options, words):
    """Not what is missing without it, nor the name of a method of ours."""
    with pytest.raises(ConfigError) as raised:
        retrial.solve("How far is it?", **options)
    assert words in str(raised.value)
