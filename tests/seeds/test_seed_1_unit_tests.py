"""Seed 1, first part: Reflexion with unit tests. One test a requirement, in the words of the seed."""

from __future__ import annotations

import pytest

from retrial.core.tasks import Status, Task
from retrial.errors import ConfigError
from retrial.recipes import UNIT_TESTS_ACTOR, UNIT_TESTS_REFLECTOR, unit_tests
from seed_worlds import LESSON, RIGHT, SLUGIFY, WRONG
from worlds import said

ACTOR_FIRST = """\
Solve the task below. Your code will be checked by unit tests.

<task>Write a Python function slugify(text) that converts a course title into a URL slug.</task>

Return only the code."""

ACTOR_SECOND = """\
Solve the task below. Your code will be checked by unit tests.

<task>Write a Python function slugify(text) that converts a course title into a URL slug.</task>

You have attempted this before. Lessons you wrote for yourself:
<lessons>- {lesson}</lessons>
Do not repeat a mistake listed here.

Return only the code."""

REFLECTION = """\
Your attempt failed. Work out why, and write a lesson for your next try.

<task>Write a Python function slugify(text) that converts a course title into a URL slug.</task>
<attempt>{attempt}</attempt>
<test_output>{trace}</test_output>

In two or three sentences, state:
1. the specific mistake (not "the code was wrong")
2. what to do differently next time

Write in the first person. Do not write code."""


async def test_the_actor_is_called_with_the_actor_prompt_and_an_empty_lessons_list_in_trial_1(loop):
    """How it works 1: the first prompt is the printed one, without the part about lessons."""
    _, model = await loop(unit_tests(), [RIGHT])
    assert said(model.requests[0]) == ACTOR_FIRST


async def test_the_attempt_is_returned_if_every_test_passes(loop):
    """How it works 3: one actor call, no reflector call, COMPLETED with the code."""
    result, model = await loop(unit_tests(), [RIGHT])
    assert (result.status, len(model.requests)) == (Status.COMPLETED, 1)
    assert "re.findall" in result.output


async def test_the_reflector_gets_the_task_the_attempt_and_the_test_output(loop):
    """How it works 4: the reflection prompt is the printed one, filled in with what failed."""
    _, model = await loop(unit_tests(), [WRONG, RIGHT])
    (asked,) = model.asked("reflector")
    trace = (
        "2 of 4 checks passed\n"
        "- slugify('  Django   REST  ') returned '--django---rest--', expected 'django-rest'\n"
        "- slugify('C++ & Data Structures!') returned 'c++-&-data-structures!', expected 'c-data-structures'"
    )
    assert said(asked) == REFLECTION.format(attempt=WRONG, trace=trace)


async def test_the_next_trial_starts_fresh_with_the_lessons_and_without_the_earlier_attempt(loop):
    """How it works 5: the second actor call is one new message with the lesson, and holds nothing of attempt 1."""
    _, model = await loop(unit_tests(), [WRONG, RIGHT])
    second = model.asked("actor")[1]
    assert said(second) == ACTOR_SECOND.format(lesson=LESSON)
    assert len(second.messages) == 1
    assert "replace" not in said(second).replace(LESSON, "")


async def test_it_stops_after_4_trials_and_returns_the_attempt_that_passed_the_most_tests_with_every_lesson(loop):
    """Stop rule: at the cap the best attempt comes back with its lessons and a status that it did not pass."""
    worse = "def slugify(text):\n    return text"
    result, model = await loop(
        unit_tests(), [worse, WRONG, worse, worse], [f"Next time, try way {n}." for n in range(3)]
    )
    assert result.status is Status.NO_SOLUTION
    assert not result.passed
    assert "replace(' ', '-')" in result.output
    assert (result.value["trial"], result.value["trials"]) == (2, 4)
    assert [lesson.text for lesson in result.lessons] == [f"Next time, try way {n}." for n in range(3)]
    assert len(model.asked("reflector")) == 3


async def test_the_earliest_of_equally_good_attempts_is_returned(loop):
    """Stop rule: of two attempts that passed as many tests, the first is the best."""
    other = WRONG.replace("lower()", "lower( )")
    result, _ = await loop(unit_tests(trials=2), [WRONG, other])
    assert result.value["trial"] == 1


@pytest.mark.parametrize("trials", [1, 2, 3])
async def test_the_trial_cap_is_a_parameter(loop, trials):
    """Requirement 1: the number of actor calls is the cap, and the last failure is not reflected on."""
    _, model = await loop(unit_tests(trials=trials), [WRONG] * trials, [f"Always do {n}." for n in range(trials)])
    assert (len(model.asked("actor")), len(model.asked("reflector"))) == (trials, trials - 1)


def test_the_trial_cap_defaults_to_4_and_the_lessons_kept_to_3():
    """Requirement 1: the defaults are those of the seed."""
    assert (unit_tests().max_trials, unit_tests().keep_reflections) == (4, 3)


@pytest.mark.parametrize("trials", [0, 11, -1])
def test_a_cap_out_of_range_is_refused(trials):
    """Requirement 1: the cap is 1 to 10, and the error names the value."""
    with pytest.raises(ConfigError, match=f"max_trials={trials}"):
        unit_tests(trials=trials)


async def test_only_the_most_recent_lessons_are_kept_in_the_prompt(loop):
    """Requirement 1: with two lessons kept, the fourth prompt holds the second and the third."""
    texts = [f"Next time, try way {n}." for n in range(3)]
    _, model = await loop(unit_tests(lessons=2), [WRONG] * 4, texts)
    assert [text in said(model.asked("actor")[3]) for text in texts] == [False, True, True]


async def test_the_tests_run_with_a_timeout_and_a_timeout_is_the_failure_trace(loop):
    """Requirement 2: a loop without end is a failure whose words reach the reflector."""
    endless = "def slugify(text):\n    while True:\n        pass"
    task = Task(id="t", prompt="p", entry_point="slugify", tests=("assert slugify('a') == 'a'",), timeout=1.0)
    _, model = await loop(unit_tests(trials=2), [endless, "def slugify(text):\n    return text"], task=task)
    assert "did not finish within 1 s" in said(model.asked("reflector")[0])


def test_the_timeout_defaults_to_30_seconds():
    """Requirement 2: the default is the seed's."""
    assert Task(prompt="p").timeout == 30.0


async def test_a_crash_is_the_failure_trace(loop):
    """Requirement 2: code that ends its process is a failure, in words."""
    _, model = await loop(unit_tests(trials=2), ["import os\ndef slugify(text):\n    os._exit(0)", RIGHT])
    assert "ended while" in said(model.asked("reflector")[0])


@pytest.mark.parametrize("bad", ["", "   \n", "```python\nreturn 1\n```", "Next time:\nreturn text.strip()"])
async def test_a_reflection_that_is_empty_or_contains_code_is_retried_once(loop, bad):
    """Requirement 3: the reflector is asked twice, and the second reply becomes the lesson."""
    result, model = await loop(unit_tests(), [WRONG, RIGHT], [bad, LESSON])
    assert len(model.asked("reflector")) == 2
    assert [lesson.text for lesson in result.lessons] == [LESSON]


async def test_the_first_500_characters_of_the_test_output_are_the_lesson_if_the_reflection_fails_again(loop):
    """Requirement 3: after two useless replies the evaluator's own words stand in, and are marked."""
    long = Task(
        id="long",
        prompt="p",
        entry_point="slugify",
        tests=tuple(f"assert slugify('{n * 80}') == '{n}'" for n in "abcde"),
    )
    result, model = await loop(unit_tests(trials=2), [WRONG, WRONG], ["", "x = 1"], task=long)
    (lesson,) = result.lessons
    assert len(model.asked("reflector")) == 2
    assert lesson.text == result.attempts[0].verdict.reason[:500]
    assert (len(lesson.text), lesson.origin) == (500, "fallback")


async def test_an_inline_identifier_is_no_code(loop):
    """Requirement 3: a lesson that names a function in a sentence is not asked for again."""
    _, model = await loop(
        unit_tests(), [WRONG, RIGHT], ["Next time, use `re.findall` to extract the words, then join."]
    )
    assert len(model.asked("reflector")) == 1


async def test_lessons_are_stored_with_the_task_id_so_that_a_rerun_can_start_from_them(loop):
    """Requirement 4: a second run of the task, asked to, has the first run's lesson in its first prompt."""
    await loop(unit_tests(), [WRONG, RIGHT])
    result, model = await loop(unit_tests(from_stored=True), [RIGHT])
    assert said(model.requests[0]) == ACTOR_SECOND.format(lesson=LESSON)
    assert [lesson.task_id for lesson in result.lessons] == ["slugify"]
    _, unasked = await loop(unit_tests(), [RIGHT])
    assert said(unasked.requests[0]) == ACTOR_FIRST


async def test_stub_llm_first_attempt_fails_second_passes(loop):
    """Requirement 5: the reflector ran once, and the second actor prompt contains its lesson verbatim."""
    result, model = await loop(unit_tests(), [WRONG, RIGHT])
    assert len(model.asked("reflector")) == 1
    assert LESSON in said(model.asked("actor")[1])
    assert result.passed


def test_the_prompts_are_those_of_the_seed():
    """The templates are the printed ones, to the letter."""
    assert UNIT_TESTS_ACTOR.text.startswith(
        "Solve the task below. Your code will be checked by unit tests.\n\n<task>{{task}}"
    )
    assert "{{#if lessons}}\nYou have attempted this before." in UNIT_TESTS_ACTOR.text
    assert UNIT_TESTS_REFLECTOR.text == REFLECTION.replace(SLUGIFY.prompt, "{{task}}").replace(
        "{attempt}", "{{attempt}}"
    ).replace("{trace}", "{{trace}}")
