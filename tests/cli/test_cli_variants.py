"""The variants of the seeds on the command line: patience, memory, and a judge that decides alone."""

import json

from cli_tasks import LESSON, RIGHT, learns, make_recording, stubborn, write_task


def test_patience_ends_a_run_that_is_not_learning(folder, retrial):
    """Seed 2: a second attempt that is no better ends it, and the run can be replayed."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], stubborn, patience=1)
    done = retrial("run", task, "--model", model, "--patience", "1", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["runs"][0]["trials"]) == (1, 2)
    assert retrial("replay", found["id"]).exit_code == 1


def test_patience_and_what_it_does_not_know_are_refused_together(folder, retrial):
    """The message names the option and what to leave out."""
    refused = retrial("run", write_task(folder), "--model", "recorded:x", "--patience", "1", "--carry", "checks")
    assert refused.exit_code == 4
    assert "carry='checks' does not go with" in refused.stderr


def test_memory_says_whether_a_rerun_begins_with_the_lessons(folder, retrial):
    """Seed 2, decision 3: episodic lessons vanish, persistent ones are begun with, and the end says which it was."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    first = retrial("run", task, "--model", model, "--memory", "episodic")
    assert (first.exit_code, "stored under" in first.stdout + first.stderr) == (0, False)
    second = retrial("run", task, "--model", model, "--memory", "persistent", "--json")
    assert json.loads(second.stdout)["runs"][0]["trials"] == 2
    third = retrial("run", task, "--model", model, "--memory", "persistent", "--json")
    assert json.loads(third.stdout)["runs"][0]["trials"] == 1


def test_a_single_run_whose_evaluator_never_failed_says_so(folder, retrial):
    """Seed 2: then the pattern was never exercised."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], lambda request: RIGHT)
    done = retrial("run", task, "--model", model)
    assert "the evaluator never failed anything, so no lesson was exercised" in " ".join(done.stderr.split())


def test_a_judge_alone_returns_the_last_attempt_and_tells_every_lesson(folder, retrial):
    """Seed 1, second part, from a task file: at the cap the last attempt, flagged as not passed."""
    (folder / "j.toml").write_text('prompt = "Write a slogan."\nevaluator = { kind = "judge", rubric = "5 words" }\n')
    drafts = iter(range(1, 9))

    def says(request):
        if request.role == "judge":
            return '{"passed": false, "reason": "too long"}'
        return LESSON if request.role == "reflector" else f"Draft {next(drafts)}"

    model = make_recording(folder / "r.jsonl", [folder / "j.toml"], says)
    done = retrial("run", folder / "j.toml", "--model", model, "--json")
    (found,) = json.loads(done.stdout)["runs"]
    assert (done.exit_code, found["passed"], found["trials"], found["output"]) == (1, False, 4, "Draft 4")
