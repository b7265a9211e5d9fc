"""What is said at the end: commands that work as they are printed, and what to change where they would not help."""

import json
import re
import shlex

import pytest

from cli_tasks import LESSON, RIGHT, WRONG, learns, make_recording, write_task
from retrial.cli.hints import larger
from retrial.core.budget import Budget, Usage, reserve
from retrial.errors import BudgetExceeded, EvaluatorError
from retrial.evaluate.unit_tests import UnitTests
from retrial.models.fake import text


def _command(words):
    """The arguments of the last command in some output."""
    found = re.findall(r"retrial ((?:show|resume|runs|run) .*)", words)
    return shlex.split(found[-1].strip("`"))


def test_a_hint_names_the_store(folder, retrial):
    """With --store each hint works as it is printed, and without it, or where it is the default, none is named."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    done = retrial("run", task, "--model", model, "--store", "my runs.db")
    assert _command(done.stderr)[-2:] == ["--store", "my runs.db"]
    assert retrial(*_command(done.stderr)).exit_code == 0
    ended = retrial("run", task, "--model", model, "--store", "other.db", "--budget-calls", 1)
    resumes = next(line for line in ended.stderr.splitlines() if "resume" in line)
    assert retrial(*_command(resumes)).exit_code == 10
    shown = retrial("show", "last", "--store", "other.db")
    assert _command(shown.stderr)[-2:] == ["--store", "other.db"]
    missing = retrial("show", "nothing", "--store", "other.db")
    assert "`retrial runs --store other.db`" in missing.stderr
    assert "--store" not in retrial("run", task, "--model", model).stderr
    assert "--store" not in retrial("run", task, "--model", model, "--store", ".retrial/retrial.db").stderr


def test_an_empty_store_is_the_default(folder, retrial):
    """--store "" is as if it were not given."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    assert retrial("run", task, "--model", model, "--store", "").exit_code == 0
    assert retrial("show", "last", "--store", "").exit_code == 0
    assert (folder / ".retrial" / "retrial.db").exists()


@pytest.mark.parametrize(("option", "value"), [("--budget-calls", 1), ("--budget-seconds", 0.000001)])
def test_the_limit_that_ended_a_run_is_named(folder, retrial, option, value):
    """The hint names the option of the limit that ended the run."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    done = retrial("run", task, "--model", model, option, value)
    assert done.exit_code == 10
    assert f"go on with a larger budget ({option} N): retrial resume" in done.stderr


@pytest.mark.parametrize(
    ("limits", "used", "option"),
    [
        ({"max_calls": 1}, {"calls": 1}, "--budget-calls"),
        ({"max_tokens": 1}, {"output_tokens": 2}, "--budget-tokens"),
        ({"max_cost_usd": 0.5}, {"cost_usd": 0.6}, "--budget-usd"),
        ({"max_seconds": 1.0}, {"seconds": 1.5}, "--budget-seconds"),
    ],
)
def test_every_refusal_of_a_budget_is_known(limits, used, option):
    """What the budget says of a limit names the option that sets it."""
    with pytest.raises(BudgetExceeded) as refused:
        reserve(Budget(**limits), Usage(**used), 1)
    assert larger([str(refused.value)]) == f"with a larger budget ({option} N)"


def test_what_resuming_cannot_mend_is_not_resumed(folder, retrial, monkeypatch):
    """For tests that cannot judge anything the hint says to mend them, in `run` and in `show`."""

    async def broken(*given, **options):
        raise EvaluatorError("no test is valid, so nothing could fail")

    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], lambda request: RIGHT)
    monkeypatch.setattr(UnitTests, "judge", broken)
    done = retrial("run", task, "--model", model)
    assert done.exit_code == 11, done.output
    for one in (done, retrial("show", "last")):
        assert "mend the tests" in one.stderr
        assert "go on" not in one.stderr


def test_a_reply_that_is_not_recorded_is_asked_of_another_model(folder, retrial):
    """Where a recording holds no reply, the hint is to name another model, and it works."""
    task, other = write_task(folder), write_task(folder, "other")
    done = retrial("run", task, "--model", make_recording(folder / "wrong.jsonl", [other], learns))
    assert "--model PROVIDER:NAME" in done.stderr
    assert "go on: " not in done.stderr
    model = make_recording(folder / "r.jsonl", [task], learns)
    words = [model if word == "PROVIDER:NAME" else word for word in _command(done.stderr.splitlines()[0])]
    assert retrial(*words).exit_code == 0


def test_recordings_in_a_folder_of_tasks_are_left_out(folder, retrial):
    """A folder that --record wrote into still runs: the recording is left out with a remark."""
    (folder / "tasks").mkdir()
    task = write_task(folder / "tasks")
    model = make_recording(folder / "tasks" / "r.jsonl", [task], learns)
    done = retrial("run", "tasks", "--model", model)
    assert done.exit_code == 0, done.output
    assert "tasks/r.jsonl is a recording and no task" in done.stderr


def test_a_torn_recording_is_noted_once(folder, retrial):
    """The note about the last line of a recording stands there once."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    with (folder / "r.jsonl").open("a") as file:
        file.write('{"v": 1, "ke')
    done = retrial("run", task, "--model", model)
    assert done.exit_code == 0, done.output
    assert done.stderr.count("was cut off") == 1


def test_tables_end_where_their_words_end(folder, retrial):
    """No line of a table or of a trial is filled up with blanks where there is no terminal."""
    tasks = [write_task(folder, f"t{number}") for number in range(2)]
    model = make_recording(folder / "r.jsonl", tasks, learns)
    out = retrial("run", *tasks, "--model", model, "-v").stdout + retrial("runs").stdout
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_a_task_id_stays_in_its_line(folder, retrial):
    """A line end in a task's id does not break a table."""
    (folder / "a.toml").write_text('id = "two\\nlines"\nprompt = "x"\ntests = ["assert f()"]\n')
    assert retrial("run", "a.toml", "--dry-run").stdout.startswith("two lines  1 test")


def test_a_lesson_that_was_asked_for_twice_says_so(folder, retrial):
    """Where the reflector's first reply could not be used, `run` and `show` say that it was asked again."""

    def reply(request):
        if request.role == "actor":
            return text(RIGHT if LESSON in str(request.messages) else WRONG)
        return text(LESSON if "cannot be used" in str(request.messages) else f"```python\n{RIGHT}\n```")

    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], reply)
    done = retrial("run", task, "--model", model)
    assert done.exit_code == 0, done.output
    assert "asked again" in done.stdout
    assert "asked again" in retrial("show", "last").stdout
    assert json.loads(retrial("show", "last", "--json").stdout)["passed"]
