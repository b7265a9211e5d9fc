"""Tasks that something other than tests judges."""

import json

from cli_tasks import make_recording


def questions(folder):
    (folder / "sum.toml").write_text(
        'prompt = "How much is 6 times 7?"\nanswer = "42"\nevaluator = { kind = "numeric" }\n'
    )
    (folder / "short.toml").write_text('prompt = "Greet."\nevaluator = { kind = "rubric", max_words = 2 }\n')
    return [folder / "sum.toml", folder / "short.toml"]


def says(request):
    """Wrong at first, right with a lesson."""
    said = request.messages[-1].content
    if request.role == "reflector":
        return "Next time, compute it again and say only that."
    learnt = "compute it again" in said
    return ("42" if learnt else "41") if "6 times 7" in said else ("Hello" if learnt else "Hello to all of you")


def test_a_folder_may_mix_what_judges(folder, retrial):
    """A number and a rule are judged, fail first, and are solved with a lesson; the answer is in no prompt."""
    tasks = questions(folder)
    model = make_recording(folder / "r.rec", tasks, says)
    done = retrial("run", *tasks, "--model", model, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["passed"], one["trials"]) for one in found["runs"]] == [(True, 2), (True, 2)]
    prompts = [
        json.loads(line)["request"]["messages"][-1]["content"] for line in (folder / "r.rec").read_text().splitlines()
    ]
    assert not [prompt for prompt in prompts if "42" in prompt]
    assert retrial("replay", found["id"]).exit_code == 0


def test_a_model_does_not_judge_its_own_work(folder, retrial, monkeypatch):
    """With one model for both roles the run is refused before anything is asked, and says what to do."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    (folder / "j.toml").write_text(
        'prompt = "Write a slogan."\nevaluator = { kind = "judge", rubric = "At most 5 words" }\n'
    )
    refused = retrial("run", folder / "j.toml", "--model", "openai:gpt-5-mini")
    assert refused.exit_code == 4
    assert "openai:gpt-5-mini" in refused.stderr
    bounded = retrial(
        "run", folder / "j.toml", "--model", "openai:gpt-5-mini", "--judge-model", "openai:gpt-5", "--dry-run"
    )
    assert bounded.exit_code == 0, bounded.stderr
    assert bounded.stdout.startswith("j  judge\n")


def test_a_task_that_nothing_can_judge_is_refused(folder, retrial):
    """No tests, no answer and no evaluator: exit 4 with what to add."""
    (folder / "n.toml").write_text('prompt = "Write a slogan."\n')
    refused = retrial("run", folder / "n.toml", "--model", "recorded:x")
    assert refused.exit_code == 4
    assert "nothing could fail" in refused.stderr
