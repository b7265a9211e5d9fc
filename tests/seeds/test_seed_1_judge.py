"""Seed 1, second part: retry by the verdict of a judge with a rubric."""

from __future__ import annotations

import pytest

from retrial.assembly import algorithm_for, assemble
from retrial.cli.screen import Screen
from retrial.cli.story import as_values, of_trials
from retrial.core.codec import encode
from retrial.core.tasks import Status, Task
from retrial.errors import ConfigError
from retrial.evaluate.judge import JUDGE
from retrial.log.views import trials
from retrial.recipes import judge, rebuild, recorded
from retrial.taskfile import load_tasks
from worlds import Model, reply, said

TASK = Task(id="laptop", prompt="Write a product text for the laptop.")
RUBRIC = ["at most 50 words", "names the warranty"]
LESSON = "I left out the warranty. Next time, check every item of the rubric before answering."
FAILED = '{"passed": false, "reason": "no warranty"}'
PASSED = '{"passed": true, "reason": ""}'


async def run(verdicts, **options):
    """Run the recipe with these replies of the judge, one after another."""
    replies = iter(verdicts)
    attempts = iter(range(1, 99))

    def answer(request):
        if request.role == "judge":
            return reply(next(replies))
        return reply(LESSON if request.role == "reflector" else f"Attempt {next(attempts)}")

    model = Model(answer)
    async with assemble(model) as engine:
        result = await engine.run(judge(rubric=RUBRIC, **options), {"task": encode(TASK)})
    return result, model


async def test_the_stub_of_the_seed():
    """No warranty, then passed: two actor calls, one reflector call, and the lesson in the second prompt."""
    result, model = await run([FAILED, PASSED])
    assert (result.status, result.output) == (Status.COMPLETED, "Attempt 2")
    assert (len(model.asked("actor")), len(model.asked("reflector")), len(model.asked("judge"))) == (2, 1, 2)
    first, second = (said(request) for request in model.asked("actor"))
    assert LESSON in second
    assert LESSON not in first
    assert "<lessons>" not in first
    assert "Attempt 1" not in second
    assert "<review>no warranty</review>" in said(model.asked("reflector")[0])


async def test_the_prompts_are_the_printed_ones():
    """The first actor prompt, word for word."""
    _, model = await run([PASSED])
    assert said(model.asked("actor")[0]) == (
        "Complete the task below. A reviewer will check your work against a rubric.\n\n"
        "<task>Write a product text for the laptop.</task>\n\nReturn only the result."
    )


async def test_the_judge_is_asked_at_temperature_0_and_sees_the_attempt_and_no_lesson():
    """Task, rubric and attempt only."""
    _, model = await run([FAILED, PASSED])
    for request in model.asked("judge"):
        assert request.temperature == 0
        assert LESSON not in said(request)
        assert "- at most 50 words\n- names the warranty" in said(request)


async def test_after_4_trials_the_last_attempt_with_the_last_reason_and_every_lesson():
    """Flagged as not passed; the reflector is not asked after the last trial."""
    reasons = [f'{{"passed": false, "reason": "reason {number}"}}' for number in range(1, 5)]
    result, model = await run(reasons)
    assert (result.status, result.passed, result.output) == (Status.NO_SOLUTION, False, "Attempt 4")
    assert result.value["reason"] == "reason 4"
    assert len(result.value["reflections"]) == len(model.asked("reflector")) == 3


async def test_the_trial_cap_is_a_parameter():
    """One trial is one attempt."""
    result, _ = await run([FAILED], trials=1)
    assert len(result.attempts) == 1


async def test_a_reply_that_is_no_json_is_asked_for_once_more_and_then_fails_the_trial():
    """The raw reply is the reason, and the next trial goes on."""
    result, model = await run(["it is good", "really good", PASSED])
    assert [attempt.verdict.reason for attempt in result.attempts] == ["really good", ""]
    assert [attempt.verdict.unparsed for attempt in result.attempts] == [True, False]
    assert len(model.asked("judge")) == 3


async def test_each_trials_attempt_verdict_reason_and_lesson_are_logged_together():
    """A view of the journal shows the four side by side."""
    replies = iter([FAILED, PASSED])
    model = Model(lambda r: reply(next(replies) if r.role == "judge" else LESSON if r.role == "reflector" else "text"))
    async with assemble(model) as engine:
        algorithm, metadata = recorded("judge", {"rubric": RUBRIC})
        result = await engine.run(algorithm, {"task": encode(TASK)}, metadata=metadata)
        events = await engine.journal.events(result.run_id)
    first = trials(events)[0]
    assert (first.attempt.output, first.attempt.verdict.passed, first.attempt.verdict.reason) == (
        "text",
        False,
        "no warranty",
    )
    assert first.lesson.text == LESSON
    assert rebuild(events[0].data).parameters() == algorithm.parameters()


async def test_the_judge_prompt_is_the_printed_one_and_its_text_is_recorded():
    """To the letter, and a run says with which prompt it was judged."""
    recipe = judge(rubric=RUBRIC)
    assert recipe.parameters()["evaluator"]["prompt"] == JUDGE.text
    assert JUDGE.text == (
        "You check one attempt against a rubric. Be strict and literal.\n\n<task>{{task}}</task>\n"
        "<rubric>{{rubric}}</rubric>\n<attempt>{{attempt}}</attempt>\n\nCheck every rubric item. Respond in JSON:\n"
        '{"passed": true|false, "reason": "each failed item and why; empty if passed"}'
    )


async def test_a_passed_attempt_is_returned_at_once():
    """If passed is true, return the attempt: one actor call, no reflection."""
    result, model = await run([PASSED])
    assert (result.output, len(model.asked("actor")), len(model.asked("reflector"))) == ("Attempt 1", 1, 0)


async def test_every_lesson_stands_in_the_prompt():
    """The lessons list is told whole, the oldest first."""
    replies = iter([FAILED] * 4)
    lessons = iter(["Name the warranty.", "State the price.", "Mention the weight."])
    model = Model(
        lambda r: reply(next(replies) if r.role == "judge" else next(lessons) if r.role == "reflector" else "text")
    )
    async with assemble(model) as engine:
        await engine.run(judge(rubric=RUBRIC), {"task": encode(TASK)})
    told = said(model.asked("actor")[3])
    assert "<lessons>- Name the warranty.\n- State the price.\n- Mention the weight.</lessons>" in told


async def test_a_task_file_with_a_rubric_is_solved_by_this_recipe(tmp_path):
    """``kind = "judge"``: all lessons are told, and at the cap the last attempt is returned."""
    path = tmp_path / "laptop.toml"
    path.write_text('prompt = "Write a text."\n[evaluator]\nkind = "judge"\nrubric = ["names the warranty"]\n')
    (task,) = load_tasks([path])
    algorithm, metadata = algorithm_for(task, {"trials": 2}, {"actor": "a", "judge": "b"})
    assert (algorithm.keep_reflections, algorithm.keep, algorithm.max_trials) == (None, "last", 2)
    assert (metadata["recipe"]["name"], algorithm.parameters()["evaluator"]["trust"]) == ("judge", "other_model")
    assert rebuild({"metadata": metadata}).parameters() == algorithm.parameters()


async def test_show_prints_attempt_verdict_reason_and_lesson_together(capsys):
    """The story of a run on the command line holds the four, trial by trial."""
    replies = iter([FAILED, PASSED])
    model = Model(
        lambda r: reply(next(replies) if r.role == "judge" else LESSON if r.role == "reflector" else "A text.")
    )
    async with assemble(model) as engine:
        result = await engine.run(judge(rubric=RUBRIC), {"task": encode(TASK)})
        events = await engine.journal.events(result.run_id)
    of_trials(Screen(), events, full=True)
    shown = " ".join(capsys.readouterr().out.split())
    first, second = shown.split("trial 2", 1)
    assert [part in first for part in ("A text.", "no warranty", LESSON)] == [True] * 3
    assert LESSON not in second
    values = as_values(events, timeline=False, transcript=False)["attempts"]
    assert (values[0]["attempt"]["verdict"]["reason"], values[0]["lesson"]["text"]) == ("no warranty", LESSON)


def test_a_rubric_without_items_is_refused():
    """A vague or empty rubric lets everything pass."""
    with pytest.raises(ConfigError, match="nothing could fail"):
        judge(rubric=[])
