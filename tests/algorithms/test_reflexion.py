"""The loop's parameters, one by one; what the seeds ask stands in tests/seeds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrial.algorithms import Reflexion
from retrial.algorithms.lessons import stalled
from retrial.core.budget import Budget
from retrial.core.codec import encode
from retrial.core.effects import CallHost
from retrial.core.tasks import Outcome, Status, Task
from retrial.errors import ConfigError, ModelUnavailable
from retrial.evaluate import ValidationHandler
from retrial.prompts import Prompt
from retrial.recipes import unit_tests
from worlds import Model, ask, engine_with, reply, said


async def run(algorithm, attempts, lessons=(), given=None):
    replies = {"actor": iter(attempts), "reflector": iter(lessons)}
    model = Model(lambda request: reply(next(replies[request.role])))
    async with engine_with(model) as engine:
        return await engine.run(algorithm, given or {"task": "t"}), model


@given(st.lists(st.floats(0, 1), max_size=8), st.integers(1, 4))
def test_a_rising_score_never_stalls_and_a_flat_one_does(scores, patience):
    """Strictly rising scores go on; as many trials without a new best as patience allows end it."""
    rising = sorted(set(scores))
    assert not stalled(rising, patience)
    assert not stalled(scores, None)
    flat = [*scores, *([max(scores, default=0.5)] * (patience + (not scores)))]
    assert stalled(flat, patience)


async def test_a_lesson_that_repeats_is_marked_and_kept():
    """The second time the same words come, the lesson is marked as a duplicate and still counted."""
    result, _ = await run(Reflexion(validator="right"), ["a", "b", "c"], ["State the unit.", "state the unit"])
    assert [lesson.faults for lesson in result.lessons] == [(), ("duplicate",)]


async def test_a_hard_fault_is_never_asked_about_by_default_but_replaced():
    """The plain loop asks once; a useless reply gives way to the evaluator's words."""
    result, model = await run(Reflexion(validator="right"), ["a", "right"], [""])
    assert (len(model.asked("reflector")), result.lessons[0].text, result.lessons[0].origin) == (
        1,
        "it is not right",
        "fallback",
    )


async def test_a_soft_fault_is_asked_about_only_if_any_fault_is():
    """A retelling is kept and marked with ``hard``, and asked again with ``any``; the better reply wins."""
    kept, model = await run(Reflexion(validator="right", ask_again="hard"), ["a", "right"], ["It failed."])
    assert (kept.lessons[0].faults, len(model.asked("reflector"))) == (("narrates",), 1)
    asked, model = await run(Reflexion(validator="right", ask_again="any"), ["a", "right"], ["It failed.", "Use km."])
    assert (asked.lessons[0].text, len(model.asked("reflector"))) == ("Use km.", 2)
    assert "it retells what happened" in said(model.asked("reflector")[1])


async def test_a_reflector_that_is_a_function_is_trusted():
    """A function's lesson is kept as it is, with its faults only marked."""

    async def reflect(effect, key):
        return "x = 1"

    replies = iter(["a", "right"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        engine.handle(CallHost, reflect, "mine")
        result = await engine.run(Reflexion(validator="right", reflector="mine"), {"task": "t"})
    assert (result.lessons[0].text, result.lessons[0].faults) == ("x = 1", ("code", "narrates"))


async def test_an_equal_output_that_now_passes_is_flaky():
    """The same attempt judged differently is marked, and is no sign of learning."""
    answers = iter([(False, "no"), (True, "")])
    replies = iter(["same", "Use it.", "same"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        ValidationHandler({"right": lambda answer, context: next(answers)}).attach(engine)
        result = await engine.run(Reflexion(validator="right"), {"task": "t"})
    assert [attempt.verdict.flaky for attempt in result.attempts] == [False, True]


async def test_confirm_judges_a_pass_once_more():
    """A pass that does not hold a second time is a flaky failure, and the loop goes on."""
    answers = iter([(True, ""), (False, "now it fails"), (True, ""), (True, "")])
    replies = iter(["a", "Use it.", "b"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        ValidationHandler({"right": lambda answer, context: next(answers)}).attach(engine)
        result = await engine.run(Reflexion(validator="right", confirm=True), {"task": "t"})
    assert [(one.verdict.passed, one.verdict.flaky) for one in result.attempts] == [(False, True), (True, False)]


@pytest.mark.parametrize(
    ("carry", "has_checks", "has_lessons"), [("lessons", False, True), ("checks", True, False), ("both", True, True)]
)
async def test_what_a_fresh_trial_is_told_can_be_chosen(carry, has_checks, has_lessons):
    """Lessons, the evaluator's words, or both stand in the second prompt."""
    prompts = {**unit_tests(carry="both").prompts}
    algorithm = Reflexion(validator="right", carry=carry, prompts=prompts)
    _, model = await run(algorithm, ["a", "right"], ["Use km."])
    second = said(model.asked("actor")[1])
    assert ("it is not right" in second, "Use km." in second) == (has_checks, has_lessons)


async def test_a_provider_that_fails_spends_no_trial():
    """A model that cannot be reached ends the run as FAILED, and resume goes on with the same trial."""
    state = {"down": True}

    def answer(request):
        if request.role == "reflector" and state["down"]:
            raise ModelUnavailable("503")
        return reply("Use km.") if request.role == "reflector" else reply("right" if "Use km" in said(request) else "a")

    model = Model(answer)
    async with engine_with(model) as engine:
        failed = await engine.run(Reflexion(validator="right"), {"task": "t"}, run_id="r")
        assert (failed.status, failed.value["trials"], failed.output) == (Status.FAILED, 1, "a")
        state["down"] = False
        result = await engine.resume("r", Reflexion(validator="right"))
    assert (result.passed, result.value["trials"], len(model.asked("actor"))) == (True, 2, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_trials", 0),
        ("max_trials", 11),
        ("keep_reflections", 0),
        ("keep", "first"),
        ("patience", 0),
        ("threshold", 0.0),
        ("threshold", 1.1),
        ("carry", "all"),
        ("ask_again", "always"),
    ],
)
def test_bounds_are_checked_at_construction(name, value):
    """A parameter out of range is refused by name and value."""
    with pytest.raises(ConfigError, match=rf"{name}={value!r}"):
        Reflexion(validator="x", **{name: value})


def test_a_prompt_without_checks_cannot_carry_them():
    """Carrying checks with a prompt that has no place for them is refused."""
    with pytest.raises(ConfigError, match="holds {{checks}}"):
        Reflexion(
            validator="x", carry="checks", prompts={"actor": Prompt("a", "{{task}}"), "reflector": Prompt("r", "x")}
        )


async def test_an_input_without_a_task_is_refused():
    """The error shows what was given."""
    with pytest.raises(ConfigError, match="needs a 'task'"):
        await run(Reflexion(validator="right"), ["a"], given={"tusk": "t"})


async def test_the_digest_of_each_prompt_is_recorded():
    """The first event names every prompt with its digest, so that a changed prompt is noticed."""
    replies = iter(["right"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        await engine.run(Reflexion(validator="right"), {"task": "t"}, run_id="r")
        start = (await engine.journal.events("r"))[0].data
    assert {*start["parameters"]["prompts"]} == {"reflexion.actor", "reflexion.reflector", "reflexion.reflector.system"}
    assert all(len(mark) == 64 for mark in start["parameters"]["prompts"].values())


async def test_hidden_tests_score_the_result_and_never_reach_a_prompt(tmp_path):
    """Hidden tests run once, on what is returned, and no prompt holds a word of them."""
    from retrial.assembly import assemble

    task = Task(
        id="t",
        prompt="Write f(x) that doubles.",
        tests=("assert f(1) == 2",),
        hidden_tests=("assert f(21) == 42", "assert f(0) == 0"),
        entry_point="f",
    )
    replies = iter(["def f(x): return x", "Use two.", "def f(x): return 2 if x else 0"])
    model = Model(lambda request: reply(next(replies)))
    async with assemble(model, store=tmp_path / "s.db") as engine:
        result = await engine.run(unit_tests(), {"task": encode(task)})
    assert (result.passed, result.value["hidden"]) == (True, {"passed": False, "score": 0.5})
    assert not [request for request in model.requests if "42" in said(request)]


async def test_carrying_checks_alone_pays_for_no_lesson():
    """Where no prompt can hold a lesson and nothing is stored, the reflector is not asked."""
    prompts = {**unit_tests(carry="both").prompts}
    algorithm = Reflexion(validator="right", carry="checks", prompts=prompts)
    _, model = await run(algorithm, ["a", "b", "right"])
    assert model.asked("reflector") == []
    assert algorithm.max_calls == 3
    assert not unit_tests(carry="checks").store_lessons


async def test_confirm_and_threshold_go_together():
    """A score at the threshold passes the second judgement as it passed the first, and has no reason left."""
    replies = iter(["a"])
    async with engine_with(Model(lambda request: reply(next(replies)))) as engine:
        ValidationHandler({"right": lambda answer, context: (False, "nearly", 0.9)}).attach(engine)
        result = await engine.run(Reflexion(validator="right", threshold=0.8, confirm=True), {"task": "t"})
    assert (result.passed, result.attempts[0].verdict.flaky, result.value["reason"]) == (True, False, "")


async def test_hidden_tests_judge_the_same_code_as_the_visible_ones(tmp_path):
    """Code with a fenced example in its docstring is taken from the reply once, not twice."""
    from retrial.assembly import assemble

    code = 'def f(x):\n    """Double.\n\n    ```\n    f(1)\n    ```\n    """\n    return 2 * x'
    task = Task(
        id="t", prompt="Double.", tests=("assert f(1) == 2",), hidden_tests=("assert f(1) == 2",), entry_point="f"
    )
    model = Model(lambda request: reply(f"```python\n{code}\n```"))
    async with assemble(model, store=tmp_path / "s.db") as engine:
        result = await engine.run(unit_tests(), {"task": encode(task)})
    assert (result.passed, result.value["hidden"]) == (True, {"passed": True, "score": 1.0})


async def test_persistent_memory_begins_with_what_was_learnt(tmp_path):
    """The harness remembers lessons across runs only if it is asked to."""
    from retrial.assembly import assemble
    from retrial.recipes import harness

    async def once(memory, attempts):
        replies = iter(attempts)
        model = Model(lambda request: reply("Use km always." if request.role == "reflector" else next(replies)))
        async with assemble(model, store=tmp_path / "s.db") as engine:
            ValidationHandler({"right": lambda answer, context: ("right" in answer, "no")}).attach(engine)
            await engine.run(harness(validator="right", memory=memory), {"task": "t"})
        return model

    await once("persistent", ["a", "right"])
    assert "Use km" in said((await once("persistent", ["right"])).requests[0])
    assert "Use km" not in said((await once("episodic", ["right"])).requests[0])
    with pytest.raises(ConfigError, match="memory='long'"):
        harness(validator="x", memory="long")


class Guesses:
    """An algorithm that says what it was asked, in two steps, and keeps a value of its own."""

    name, version, max_calls = "guesses", "7", 2

    def parameters(self):
        return {"many": 2}

    async def __call__(self, run, given):
        self.given = given["task"]
        run.keep(lambda: {"answer": "kept by the actor"})
        first = await run.model("first", ask(given["task"]["prompt"]))
        second = await run.model("second", ask(first.text))
        return Outcome(Status.COMPLETED, {"answer": second.text, "steps": ["thought", first.text]})


async def test_an_algorithm_can_act():
    """Its calls are journaled below the trial, its answer is the attempt, its steps are kept, and its bound counts."""
    model = Model(lambda request: "advice" if request.role == "reflector" else "right" if len(model.keys) > 3 else "no")
    inner = Guesses()
    loop = Reflexion(validator="right", actor=inner, max_trials=2)
    task = {"prompt": "p", "tests": ["assert f()"], "hidden_tests": ["assert secret()"]}
    result = await engine_with(model).run(Reflexion(validator="right", actor=inner), {"task": "p"})
    assert (result.output, loop.max_calls) == ("right", 5)
    assert result.attempts[0].steps == ("thought", "no")
    assert model.keys[:3] == ["trial.1/actor/first", "trial.1/actor/second", "trial.1/reflector"]
    assert loop.parameters()["actor"] == {"name": "guesses", "version": "7", "parameters": {"many": 2}}
    assert "advice" in inner.given["prompt"]
    scope = Guesses()
    await engine_with(model).run(Reflexion(validator="right", actor=scope), {"task": {**task, "hidden_tests": []}})
    assert scope.given["tests"] == ["assert f()"]


async def test_an_algorithm_that_acts_sees_no_hidden_test():
    """What scores the result stays with the loop."""
    from retrial.algorithms.acting import act

    class Shows(Guesses):
        async def __call__(self, run, given):
            return Outcome(Status.COMPLETED, {"text": str(given)})

    class Outer(Guesses):
        async def __call__(self, run, given):
            task = Task(prompt="p", tests=("assert seen()",), hidden_tests=("assert secret()",))
            output, _ = await act(run, Shows(), task, "asked", 1)
            return Outcome(Status.COMPLETED, {"answer": output})

    result = await engine_with().run(Outer(), {"task": "p"})
    assert "seen" in result.output
    assert "secret" not in result.output


async def test_the_loop_keeps_its_own_value_when_an_actor_is_cut_short():
    """An algorithm within an algorithm does not say what the run returns."""
    model = Model(lambda request: "no")
    result = await engine_with(model).run(
        Reflexion(validator="right", actor=Guesses()), {"task": "p"}, budget=Budget(max_calls=4)
    )
    assert (result.status, result.output) == (Status.BUDGET_EXCEEDED, "no")


async def test_a_host_actor_can_tell_its_steps():
    """A host function answers with a text, or with an output and the steps that led to it."""
    engine = engine_with()

    async def actor(effect, key):
        return {"output": "right", "steps": ["looked", "found"]}

    engine.handle(CallHost, actor, "actor")
    result = await engine.run(Reflexion(validator="right", actor="actor"), {"task": "p"})
    assert (result.output, result.attempts[0].steps) == ("right", ("looked", "found"))


async def test_a_blind_retry_tells_nothing_and_writes_no_lesson():
    """With ``carry="nothing"`` every trial has the first prompt again."""
    model = Model(lambda request: "no")
    result = await engine_with(model).run(Reflexion(validator="right", carry="nothing"), {"task": "p"})
    assert len({said(request) for request in model.requests}) == 1
    assert (len(model.requests), result.lessons) == (3, ())
