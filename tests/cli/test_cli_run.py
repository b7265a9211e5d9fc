"""retrial run: what it prints, what it writes down, and the code it ends with."""

import json

import pytest

from cli_tasks import LESSON, RIGHT, learns, make_recording, stubborn, write_task
from retrial.cli.work import Setup


def test_one_task_is_told_trial_by_trial(folder, retrial):
    """A run shows each trial, its failed checks, the lesson, the end and the answer, and names the recording."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    done = retrial("run", task, "--model", model)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("add · recorded reply of scripted · ")
    for words in ("trial 1", "✗ 1 of 2 checks passed", "add(1, 2) returned -1, expected 3", LESSON, "✓ 2 of 2"):
        assert words in done.stdout
    assert "solved at trial 2 · 3 calls" in done.stdout
    assert RIGHT in done.stdout
    assert "retrial show" in done.stderr


def test_an_unsolved_task_ends_with_1_and_its_best_attempt(folder, retrial):
    """At the cap the exit code is 1 and the best attempt is printed."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], stubborn, trials=2)
    done = retrial("run", task, "--model", model, "--attempts", 2)
    assert done.exit_code == 1
    assert "not solved after 2 trials" in done.stdout
    assert "the best attempt, of trial 1" in done.stdout


def test_several_tasks_share_one_id_and_end_in_a_table(folder, retrial):
    """Tasks of one invocation have ids that sort under one prefix, and a summary says when they were solved."""
    (folder / "tasks").mkdir()
    tasks = [write_task(folder / "tasks", f"t{number}") for number in range(2)]
    model = make_recording(folder / "r.jsonl", tasks, learns)
    done = retrial("run", "tasks", "--model", model, "--json", "--jobs", 2)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["run_id"] for one in found["runs"]] == [f"{found['id']}.1", f"{found['id']}.2"]
    assert [one["task_id"] for one in found["runs"]] == ["t0", "t1"]
    assert {*found["runs"][0]} >= {
        "status",
        "passed",
        "trials",
        "score",
        "output",
        "lessons",
        "usage",
        "error",
        "in_doubt",
    }
    assert found["summary"]["solved"] == 2
    assert found["summary"]["solved_at_trial_1"] == 0
    assert found["summary"]["usage"]["calls"] == 6
    table = retrial("show", found["id"])
    assert table.stdout.count("solved") == 2


def test_verbose_keeps_the_lines_of_a_task_together(folder, retrial):
    """With -v each task's trials stand in one block, whatever ran meanwhile."""
    tasks = [write_task(folder, f"t{number}") for number in range(2)]
    model = make_recording(folder / "r.jsonl", tasks, learns)
    done = retrial("run", *tasks, "--model", model, "-v")
    lines = done.stdout.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("t0 ·"))
    second = next(index for index, line in enumerate(lines) if line.startswith("t1 ·"))
    ends = [index for index, line in enumerate(lines) if line.startswith("solved at trial 2")]
    assert min(first, second) < ends[0] < max(first, second) < ends[1]


def test_an_evaluator_that_never_failed_is_pointed_out(folder, retrial):
    """If no attempt failed, the summary says that no lesson was exercised."""
    tasks = [write_task(folder, f"t{number}") for number in range(2)]
    model = make_recording(folder / "r.jsonl", tasks, lambda request: RIGHT)
    done = retrial("run", *tasks, "--model", model)
    assert "the evaluator never failed anything, so no lesson was exercised" in done.stdout


def test_the_budget_ends_a_run_and_a_larger_one_goes_on(folder, retrial):
    """A budget that is used up exits with 10, and a resume with more finishes the same run."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    ended = retrial("run", task, "--model", model, "--budget-calls", 1, "--json")
    assert ended.exit_code == 10
    assert json.loads(ended.stdout)["runs"][0]["status"] == "BUDGET_EXCEEDED"
    assert "--budget-calls" in ended.stderr
    done = retrial("resume", "last", "--budget-calls", 9, "--json")
    assert done.exit_code == 0
    (one,) = json.loads(done.stdout)["runs"]
    assert (one["trials"], one["usage"]["calls"]) == (2, 3)


def test_a_budget_is_shared_by_the_tasks_or_refused(folder, retrial):
    """Each task gets an equal share, and a budget of less than one call a task is refused before anything is written."""
    tasks = [write_task(folder, f"t{number}") for number in range(2)]
    model = make_recording(folder / "r.jsonl", tasks, learns)
    refused = retrial("run", *tasks, "--model", model, "--budget-calls", 1)
    assert refused.exit_code == 4
    assert "--budget-calls 1" in refused.stderr
    assert not (folder / ".retrial").exists()
    ended = retrial("run", *tasks, "--model", model, "--budget-calls", 5, "--json")
    assert [one["usage"]["calls"] for one in json.loads(ended.stdout)["runs"]] == [2, 2]


def test_a_failing_world_ends_with_11_and_can_be_resumed(folder, retrial):
    """A recording without the reply fails the run, and a resume with another model solves it."""
    task, other = write_task(folder), write_task(folder, "other")
    model = make_recording(folder / "r.jsonl", [task], learns)
    wrong = make_recording(folder / "wrong.jsonl", [other], learns)
    failed = retrial("run", task, "--model", wrong)
    assert failed.exit_code == 11
    assert "holds no reply for 'trial.1/actor'" in failed.stdout
    done = retrial("resume", "last", "--model", model)
    assert done.exit_code == 0, done.stderr


def test_stored_lessons_are_used_when_asked_for(folder, retrial):
    """--from-stored begins with the lessons of earlier runs, so that the first trial passes."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    retrial("run", task, "--model", model)
    helped = make_recording(folder / "one.jsonl", [task], lambda request: RIGHT)
    missed = retrial("run", task, "--model", helped, "--from-stored")
    assert missed.exit_code == 11
    assert "lessons" in missed.stdout
    found = json.loads(retrial("show", "last", "--json", "--transcript").stdout)
    assert LESSON in found["transcript"][0]["request"]["messages"][0]["content"]


def test_a_dry_run_states_bounds_and_touches_nothing(folder, retrial):
    """--dry-run prints the exact bound of calls and a bound of cost, and makes no store."""
    tasks = [write_task(folder, f"t{number}") for number in range(3)]
    done = retrial("run", *tasks, "--model", "openai:gpt-5-mini", "--dry-run", "--trials", 2, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["max_calls"] == 3 * (2 + 2)
    assert found["max_cost_usd"] > 0
    assert "OPENAI_API_KEY" in found["problem"]
    assert not (folder / ".retrial").exists()
    less = retrial("run", *tasks, "--dry-run", "--budget-calls", 6, "--json")
    assert json.loads(less.stdout)["max_calls"] == 6


def test_timeout_and_limit_apply_to_the_tasks(folder, retrial):
    """--timeout replaces the tasks' own and --limit takes the first ones."""
    tasks = [write_task(folder, f"t{number}") for number in range(3)]
    done = retrial("run", *tasks, "--dry-run", "--timeout", 7, "--limit", 2)
    assert done.stdout.count("7 s") == 2


def test_no_secret_is_written_down():
    """A user name and password in a server's address are left out of what a run records."""
    setup = Setup(actor="openai:m", base_url="https://me:hush-hush@example.org/v1")
    assert setup.metadata("")["base_url"] == "https://example.org/v1"


@pytest.mark.parametrize("spoken", ["\x1b[2J\x1b[1;1Hgone", "[red]markup[/red] [/]", "\u202eright to left", "a\rb"])
def test_replies_cannot_steer_the_terminal(folder, retrial, spoken):
    """What a model says is printed as plain text, its control characters written out and its brackets kept."""
    task = write_task(folder)
    reply = f"def add(a, b):\n    return a + b  # {spoken}\n"
    model = make_recording(folder / "r.jsonl", [task], lambda request: reply)
    shown = retrial("run", task, "--model", model).stdout + retrial("show", "last", "--transcript").stdout
    assert not {"\x1b", "\u202e", "\r"} & {*shown}
    if "markup" in spoken:
        assert "[red]markup[/red] [/]" in shown
