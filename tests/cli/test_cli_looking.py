"""retrial show, runs, replay, export and import: looking at runs, and moving them."""

import json

import pytest

from cli_tasks import LESSON, learns, make_recording, stubborn, write_task


@pytest.fixture
def solved(folder, retrial):
    """A store with one solved run; its id."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    return json.loads(retrial("run", task, "--model", model, "--json").stdout)["id"]


def test_show_tells_attempts_verdicts_and_lessons(solved, retrial):
    """The first attempt is whole, later ones are a diff, and every check has its sign."""
    done = retrial("show", solved[:-2])
    assert done.exit_code == 0
    for words in (
        "return a - b",
        "+    return a + b",
        "✗ add(1, 2) returned -1, expected 3",
        "✓ assert add(0, 0) == 0",
        LESSON,
    ):
        assert words in done.stdout
    assert "+    return" not in retrial("show", solved, "--full").stdout


def test_show_has_a_timeline_and_a_transcript(solved, retrial):
    """--timeline lists every effect, --transcript every prompt and reply, and --json holds both."""
    assert "trial.1/reflector" in retrial("show", "last", "--timeline").stdout
    assert "<task>Write add(a, b), task add.</task>" in retrial("show", "last", "--transcript").stdout
    found = json.loads(retrial("show", solved, "--json", "--timeline", "--transcript").stdout)
    assert found["status"] == "COMPLETED"
    assert len(found["transcript"]) == 3
    assert [one["lesson"]["text"] for one in found["attempts"] if one["lesson"]] == [LESSON]
    assert found["metadata"]["label"] == "recorded reply of scripted"


def test_runs_lists_the_newest_first(solved, folder, retrial):
    """`runs` has one line a run, with status, trials and calls, the newest first."""
    task = write_task(folder, "second")
    model = make_recording(folder / "s.jsonl", [task], stubborn, trials=1)
    retrial("run", task, "--model", model, "--trials", 1)
    rows = json.loads(retrial("runs", "--json").stdout)["runs"]
    assert [(row["task_id"], row["status"], row["trials"]) for row in rows] == [
        ("second", "NO_SOLUTION", 1),
        ("add", "COMPLETED", 2),
    ]
    assert "not solved" in retrial("runs").stdout
    assert len(json.loads(retrial("runs", "--json", "--limit", 1).stdout)["runs"]) == 1


def test_a_finished_run_replays_and_resumes_to_its_result(solved, retrial):
    """`replay` comes to the recorded result without a model, and resume says that nothing is left."""
    replayed = retrial("replay", solved, "--json")
    assert replayed.exit_code == 0, replayed.stderr
    assert json.loads(replayed.stdout)["runs"][0]["passed"]
    resumed = retrial("resume", solved)
    assert resumed.exit_code == 0
    assert "finished" in resumed.stderr


def test_restart_starts_the_same_task_under_a_new_id(solved, retrial):
    """--restart leaves the old run alone and solves its task again."""
    done = retrial("resume", solved, "--restart", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["id"] != solved
    assert found["runs"][0]["task_id"] == "add"
    assert len(json.loads(retrial("runs", "--json").stdout)["runs"]) == 2


def test_exported_runs_come_back_whole(solved, folder, retrial):
    """Exporting and importing into another store gives the same events, and a second import changes nothing."""
    assert retrial("export", solved, "-o", "out.jsonl").exit_code == 0
    assert retrial("import", "out.jsonl", "--store", "other.db").exit_code == 0
    assert retrial("export", "--all", "--store", "other.db").stdout == (folder / "out.jsonl").read_text()
    again = retrial("import", "out.jsonl", "--store", "other.db", "--json")
    assert [one["outcome"] for one in json.loads(again.stdout)["runs"]] == ["skipped"]
    assert retrial("replay", solved, "--store", "other.db").exit_code == 0


def test_an_import_continues_a_shorter_run_and_reports_a_conflict(solved, folder, retrial):
    """A longer continuation is appended, a run that differs is left alone and named with its line, a torn line is told."""
    retrial("export", solved, "-o", "out.jsonl")
    lines = (folder / "out.jsonl").read_text().splitlines(keepends=True)
    (folder / "short.jsonl").write_text("".join(lines[:-1]) + lines[-1][:20])
    torn = retrial("import", "short.jsonl", "--store", "other.db")
    assert torn.exit_code == 0
    assert "cut off" in torn.stderr
    whole = retrial("import", "out.jsonl", "--store", "other.db", "--json")
    assert [one["outcome"] for one in json.loads(whole.stdout)["runs"]] == ["continued"]
    other = [line.replace(LESSON, "Another lesson.") for line in lines]
    fresh = [line.replace(solved, "fresh") for line in lines]
    (folder / "other.jsonl").write_text("".join(other + fresh))
    mixed = retrial("import", "other.jsonl", "--store", "other.db")
    assert mixed.exit_code == 4
    assert "conflicting: line " in mixed.stdout
    assert "added" in mixed.stdout
    assert retrial("replay", "fresh", "--store", "other.db").exit_code == 4


def test_what_a_name_means_is_never_guessed(solved, folder, retrial):
    """A name that begins several invocations is refused, and an unknown one says where to look."""
    task = write_task(folder)
    retrial("run", task, "--model", f"recorded:{folder / 'r.jsonl'}")
    assert "type more" in retrial("show", solved[:2]).stderr
    unknown = retrial("show", "nothing")
    assert unknown.exit_code == 4
    assert "retrial runs" in unknown.stderr


def test_plain_streams_get_plain_signs(solved, process):
    """Where a stream cannot show the signs, words stand for them."""
    shown = process("show", solved, PYTHONIOENCODING="ascii").communicate()[0]
    assert "no add(1, 2) returned -1, expected 3" in shown
    assert "ok assert add(0, 0) == 0" in shown


def test_a_reader_that_leaves_is_no_error(solved, process):
    """A closed pipe ends a command quietly."""
    running = process("export", "--all")
    running.stdout.close()
    running.stdout = None
    _, said = running.communicate()
    assert (running.returncode, said) == (0, "")


def test_a_long_failure_is_set_in_under_its_own_beginning(folder, retrial, monkeypatch):
    """A wrapped line of a verdict goes on below its text, and one line that is left out is one line."""
    monkeypatch.setenv("COLUMNS", "80")
    tests = [f"assert add({number}, 1) == 'a text that is so long that it has to be broken'" for number in range(6)]
    task = folder / "long.toml"
    task.write_text(f'prompt = "Write add(a, b)."\nentry_point = "add"\ntests = {json.dumps(tests)}\n')
    model = make_recording(folder / "long.rec", [task], lambda request: "```python\ndef add(a, b):\n    return 1\n```")
    shown = retrial("run", task, "--model", model, "--trials", "1").stdout
    assert "\n            - add(0, 1) returned 1, expected" in shown
    assert "\n            to be broken'\n" in shown
    assert "and 1 more line\n" in shown


def test_where_no_code_runs_no_isolation_is_told(folder, retrial):
    """An answer that is compared ran no code, and the header does not promise any."""
    task = folder / "sum.toml"
    task.write_text('prompt = "What is 6 x 7?"\nanswer = "42"\nevaluator = "numeric"\n')
    model = make_recording(folder / "sum.rec", [task], lambda request: "42")
    assert retrial("run", task, "--model", model).exit_code == 0
    assert "no code ran" not in retrial("show", "last").stdout
