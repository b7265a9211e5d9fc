"""Seed 2: the tests that it requires, as far as they concern the loop, and what it says of the loop."""

from __future__ import annotations

import pytest

from retrial.core.effects import CallHost
from retrial.core.tasks import Status
from retrial.evaluate import ValidationHandler
from retrial.memory.quality import faults
from retrial.recipes import HARNESS_REFLECTOR, harness
from worlds import engine_with


class Scripted:
    """An actor that says one thing after the other, the last one for ever."""

    def __init__(self, outputs):
        self.outputs, self.prompts = outputs, []

    async def __call__(self, effect, key):
        self.prompts.append(effect.arguments["prompt"])
        return self.outputs[min(len(self.prompts), len(self.outputs)) - 1]


class FixedLesson:
    """A reflector with one thing to say."""

    def __init__(self, text):
        self.text, self.calls = text, []

    async def __call__(self, effect, key):
        self.calls.append(effect.arguments)
        return self.text


async def agent(actor, score, lesson="x", **options):
    """Run the harness over an actor, a score for each output (or the output that passes), and a lesson."""
    scores = score if isinstance(score, dict) else {score: 1.0}

    def judge(answer, context):
        points = scores.get(answer, 0.0)
        return points == 1.0, f"{answer} scores {points}", points

    engine = engine_with()
    reflector = FixedLesson(lesson)
    engine.handle(CallHost, actor, "actor")
    engine.handle(CallHost, reflector, "reflector")
    ValidationHandler({"judge": judge}).attach(engine)
    algorithm = harness(validator="judge", actor="actor", reflector="reflector", **options)
    return await engine.run(algorithm, {"task": "task"}), reflector


async def test_evaluator_fails_a_known_bad_output():
    """If this ever passes, the pattern is dead."""
    result, _ = await agent(Scripted(["banana"]), "4", trials=1)
    assert not result.attempts[0].verdict.passed


async def test_failure_triggers_exactly_one_retry():
    """Two attempts allowed, the first wrong and the second right: the second is returned as passed."""
    result, reflector = await agent(Scripted(["wrong", "right"]), "right", "use X", trials=2)
    assert (result.value["trial"], result.passed, len(reflector.calls)) == (2, True, 1)


async def test_the_lesson_reaches_the_next_attempt():
    """The reflector's words stand in the second prompt."""
    inner = Scripted(["wrong", "right"])
    await agent(inner, "right", "call find_account first")
    assert "call find_account first" in inner.prompts[1]
    assert "find_account" not in inner.prompts[0]


async def test_best_attempt_is_returned_not_the_last():
    """A good first attempt is returned although worse ones followed."""
    result, _ = await agent(Scripted(["good", "bad", "bad"]), {"good": 0.8, "bad": 0.1}, trials=3)
    assert (result.output, result.value["score"]) == ("good", 0.8)


async def test_attempts_are_bounded():
    """An actor that is never right is asked three times at most."""
    actor = Scripted(["no"])
    result, _ = await agent(actor, {}, trials=3, patience=None)
    assert (len(actor.prompts), result.status) == (3, Status.NO_SOLUTION)


async def test_lessons_are_deduplicated():
    """A lesson that repeats another stands once in the prompt."""
    actor = Scripted(["a", "b", "c"])
    await agent(actor, {}, "Use the email, not the id.", patience=None)
    assert actor.prompts[2].count("Use the email, not the id.") == 1


async def test_the_default_is_three_attempts():
    """Decision 4: max_attempts=3."""
    assert harness(validator="x").max_trials == 3


async def test_scores_that_improve_go_on_to_the_end():
    """Scores 0.2, 0.5, 0.7, 1.0 must reach 1.0: patience compares with the best before the attempt."""
    scores = {"a": 0.2, "b": 0.5, "c": 0.7, "d": 1.0}
    result, _ = await agent(Scripted([*scores]), scores, trials=4)
    assert (result.passed, result.value["trials"]) == (True, 4)


async def test_it_stops_when_the_score_stops_improving():
    """Decision 4: a second attempt that is no better ends it, and no lesson is paid for after it."""
    result, reflector = await agent(Scripted(["a", "b", "c"]), {"a": 0.5, "b": 0.5}, trials=3)
    assert (result.value["trials"], len(reflector.calls)) == (2, 1)


async def test_a_threshold_counts_as_passed():
    """A score at the threshold is accepted."""
    result, _ = await agent(Scripted(["a"]), {"a": 0.9}, threshold=0.9)
    assert result.passed


async def test_only_the_most_recent_lessons_are_passed_on():
    """Decision 5: three lessons at most, the newest."""
    actor = Scripted(list("abcdef"))
    engine = engine_with()

    async def reflect(effect, key):
        return f"Use rule number {effect.arguments['trial']}."

    engine.handle(CallHost, actor, "actor")
    engine.handle(CallHost, reflect, "reflector")
    ValidationHandler({"judge": lambda answer, context: (False, "no")}).attach(engine)
    algorithm = harness(validator="judge", actor="actor", reflector="reflector", trials=6, patience=None)
    await engine.run(algorithm, {"task": "task"})
    assert [f"number {n}" in actor.prompts[5] for n in range(1, 6)] == [False, False, True, True, True]


def test_a_retelling_is_told_from_a_lesson():
    """Decision 2: the seed's bad example narrates, its good one does not."""
    assert faults("I called search_users with the wrong ID and got an error.") == ("narrates",)
    good = "search_users takes an email, not a numeric ID. Look the email up with find_account first."
    assert faults(good) == ()


def test_the_reflection_prompt_is_that_of_the_seed():
    """The template is the printed one, to the letter."""
    assert HARNESS_REFLECTOR.text == (
        "The attempt below failed.\n\nTask: {{task}}\nAttempt: {{attempt}}\nWhy it failed: {{reason}}\n\n"
        "Write 1-3 sentences of instruction for your next attempt. State what to do\n"
        "differently, naming the specific tool, argument or constraint involved.\n"
        "Do not narrate what happened. Do not apologize."
    )


@pytest.mark.parametrize("name", ["threshold", "patience"])
def test_bounds_are_checked(name):
    """A threshold or patience of nothing is refused by name."""
    with pytest.raises(ValueError, match=name):
        harness(validator="x", **{name: 0})
