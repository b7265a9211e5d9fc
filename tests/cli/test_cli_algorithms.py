"""``retrial run --algorithm``: another algorithm makes the attempts, the task's own evaluator judges them."""

from __future__ import annotations

import json

import pytest

from cli_tasks import RIGHT, WRONG, learns, make_recording, write_task
from worlds import said


def write_sum(folder):
    path = folder / "sum.toml"
    path.write_text('prompt = "What is 6 x 2?"\nanswer = "12"\nevaluator = "numeric"\n')
    return path


def debater(request):
    """Two of three are right at first, all of them in the end."""
    if request.role == "judge":
        return "Answer: 12"
    if any(message.role == "assistant" for message in request.messages):
        return "I was convinced. Answer: 12"
    return "Answer: 10"


def thinker(request):
    """Proposes one step, then the answer."""
    if request.role == "judge":
        return json.dumps({"score": 10 if "FINAL" in said(request).split("<steps>")[1] else 4})
    return "FINAL: 12" if "<steps>" in said(request) else "6 x 2 is 6 + 6"


def test_a_debate_solves_a_task_and_show_tells_its_rounds(folder, retrial):
    """One trial whose actor is a debate; its answers by round stand before the verdict, and a replay asks nobody."""
    task = write_sum(folder)
    actor = {"kind": "debate", "agents": 2}
    model = make_recording(folder / "r.jsonl", [task], debater, trials=1, actor=actor)
    words = ["run", task, "--algorithm", "debate", "--set", "agents=2", "--model", model]
    done = retrial(*words, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert value["runs"][0]["usage"]["calls"] == 5
    shown = retrial("show", "last")
    assert "round 0: 10 · 10" in shown.output
    assert "round 1: 12 · 12" in shown.output
    assert retrial("replay", "last").exit_code == 0


def test_a_tree_shows_the_steps_that_were_kept(folder, retrial):
    """Level by level, with their scores."""
    task = write_sum(folder)
    model = make_recording(folder / "r.jsonl", [task], thinker, trials=1, actor={"kind": "tree", "width": 1})
    words = ["run", task, "--algorithm", "tree", "--set", "width=1", "--model", model]
    assert retrial(*words).exit_code == 0
    shown = retrial("show", "last").output
    assert "level 1, 1 explored, kept:" in shown
    assert "4  6 x 2 is 6 + 6" in shown
    assert "10  FINAL: 12" in shown


def test_an_interrupted_run_resumes_as_the_same_algorithm(folder, retrial):
    """A budget ends it in the middle of the debate; resume goes on with the same parameters."""
    task = write_sum(folder)
    model = make_recording(folder / "r.jsonl", [task], debater, trials=1, actor={"kind": "debate"})
    words = ["run", task, "--algorithm", "debate", "--model", model]
    assert retrial(*words, "--budget-calls", 3).exit_code == 10
    done = retrial("resume", "last", "--budget-calls", 20, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"][0]["usage"]["calls"] == 7


def test_more_trials_put_reflexion_around_it(folder, retrial):
    """The lesson of a failed attempt stands in the prompt of the next round of samples."""
    task = write_task(folder)
    actor = {"kind": "self_consistency", "samples": 3}
    model = make_recording(folder / "r.jsonl", [task], learns, trials=2, actor=actor)
    words = ["run", task, "--algorithm", "self_consistency", "--set", "samples=3", "--trials", 2]
    done = retrial(*words, "--model", model, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"][0]["usage"]["calls"] == 3 + 1 + 3


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        (["debate"], 7),
        (["debate", "agents=5", "judge=false"], 10),
        (["tree"], 36),
        (["self_consistency", "samples=9"], 9),
        (["best_of", "n=4"], 4),
        (["generator_critic"], 3),
        (["generate_test_repair", "max_repairs=1"], 2),
        (["ucs", "max_expansions=2"], 7),
        (["written_tests", "strategy=immediate_refinement"], 6),
    ],
)
def test_a_dry_run_says_the_exact_bound(folder, retrial, settings, calls):
    """One trial: the algorithm's own bound, since tests cost no calls and the last failure no lesson."""
    options = [word for setting in settings[1:] for word in ("--set", setting)]
    done = retrial("run", write_task(folder), "--algorithm", settings[0], *options, "--dry-run", "--json")
    assert json.loads(done.stdout)["max_calls"] == calls


def test_an_algorithm_that_judges_uses_the_tasks_tests(folder, retrial):
    """Best of n picks by the task's own tests."""
    task = write_task(folder)
    replies = iter([WRONG, RIGHT, WRONG])
    actor = {"kind": "best_of", "n": 3}
    model = make_recording(folder / "r.jsonl", [task], lambda request: next(replies), trials=1, actor=actor)
    words = ["run", task, "--algorithm", "best_of", "--set", "n=3", "--model", model]
    assert retrial(*words).exit_code == 0
    shown = retrial("show", "last").output
    assert "answer 2: passed" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--algorithm", "debat"], "did you mean 'debate'"),
        (["--algorithm", "debate", "--set", "agents=9"], "agents=9 is not possible; it can be 2 to 7"),
        (["--algorithm", "debate", "--set", "agents"], "write NAME=VALUE"),
        (["--set", "agents=3"], "name one with --algorithm"),
        (["--algorithm", "best_of"], "algorithm 'best_of' needs n; on the command line: --set n=5"),
    ],
)
def test_mistakes_are_answered_before_anything_is_paid(folder, retrial, words, message):
    """A wrong name or value ends with exit code 4 and what is right."""
    done = retrial("run", write_task(folder), *words, "--model", "recorded:none.jsonl")
    assert done.exit_code == 4
    assert message in done.stderr
