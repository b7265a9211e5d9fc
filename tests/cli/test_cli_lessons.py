"""retrial lessons: seeing, changing, moving and deleting what was learnt."""

import json
import re
import shlex
from pathlib import Path

import pytest

from cli_tasks import LESSON, learns, make_recording, write_task


@pytest.fixture
def learnt(folder, retrial):
    """A store with one solved run and its lesson; the run's id and the lesson's."""
    task = write_task(folder)
    model = make_recording(folder / "r.jsonl", [task], learns)
    run = json.loads(retrial("run", task, "--model", model, "--json").stdout)["id"]
    (lesson,) = json.loads(retrial("lessons", "list", "--json").stdout)["lessons"]
    return run, lesson["id"]


def test_list_search_and_show_tell_where_a_lesson_came_from_and_how_it_did(learnt, retrial):
    """The table counts uses and wins; show names the run, the trial, the failed checks and the later trial that passed."""
    run, lesson = learnt
    table = retrial("lessons", "list")
    assert (table.exit_code, lesson in table.stdout, "subtracted" in table.stdout) == (0, True, True)
    (found,) = json.loads(retrial("lessons", "search", "adding", "numbers", "--json").stdout)["lessons"]
    assert (found["id"], found["uses"], found["wins"]) == (lesson, 1, 1)
    assert retrial("lessons", "search", "elephant").exit_code == 0
    shown = retrial("lessons", "show", lesson[:6]).stdout
    for words in (LESSON, f"trial 1 of run {run}", "add(1, 2)", "1 trials, 1 of them passed", run):
        assert words in shown
    whole = json.loads(retrial("lessons", "show", lesson, "--json").stdout)
    assert [(use["run_id"], use["trial"], use["passed"]) for use in whole["used_in"]] == [(run, 2, True)]
    assert retrial("lessons", "show", "nothing").exit_code == 4


def test_edit_quarantine_and_release_leave_a_history(learnt, retrial, monkeypatch):
    """What was said before, and why it was changed, stays with the lesson."""
    _, lesson = learnt
    assert retrial("lessons", "edit", lesson, "--text", "Add the numbers.", "--because", "shorter").exit_code == 0
    assert retrial("lessons", "quarantine", lesson, "--because", "in doubt").exit_code == 0
    assert "as it was" in retrial("lessons", "quarantine", lesson).stdout
    assert retrial("lessons", "release", lesson).exit_code == 0
    shown = json.loads(retrial("lessons", "show", lesson, "--json").stdout)
    assert (shown["text"], shown["version"], shown["state"]) == ("Add the numbers.", 2, "active")
    assert [(one["change"], one["because"]) for one in shown["changes"]] == [
        ("edited", "shorter"),
        ("quarantined", "in doubt"),
        ("released", ""),
    ]
    assert shown["changes"][0]["data"]["before"]["text"] == LESSON
    monkeypatch.setattr("click.edit", lambda text: f"{text} Both.\n")
    retrial("lessons", "edit", lesson)
    assert json.loads(retrial("lessons", "show", lesson, "--json").stdout)["text"] == "Add the numbers. Both."
    assert retrial("lessons", "edit", lesson, "--text", " ").exit_code == 4
    assert retrial("lessons", "edit", lesson, "--expires", "soon").exit_code == 4


def test_delete_is_real_and_asks_first(learnt, folder, retrial):
    """Refused without a yes; then gone from the list, the run's export and the compacted file; replay says why not."""
    run, lesson = learnt
    assert retrial("lessons", "delete", lesson, input="n\n").exit_code != 0
    assert retrial("replay", run).exit_code == 0
    done = json.loads(retrial("lessons", "delete", lesson, "--yes", "--json").stdout)
    assert (done["deleted"], done["redacted_runs"]) == ([lesson], [run])
    assert "subtracted" not in retrial("export", run).stdout
    replayed = retrial("replay", run)
    assert (replayed.exit_code, lesson in replayed.stderr, "deleted" in replayed.stderr) == (4, True, True)
    assert retrial("show", run).exit_code == 0
    assert retrial("lessons", "delete", lesson, "--yes").exit_code == 5
    assert retrial("store", "compact").exit_code == 0
    store = folder / ".retrial" / "retrial.db"
    assert not [file for file in store.parent.iterdir() if b"subtracted" in file.read_bytes()]
    assert json.loads(retrial("lessons", "list", "--state", "deleted", "--json").stdout)["lessons"][0]["text"] == ""


def test_export_and_import_round_trip_and_name_broken_lines(learnt, folder, retrial):
    """What was exported is added elsewhere as it was; what cannot be kept is named with its line and the reason."""
    _, lesson = learnt
    retrial("lessons", "export", "-o", "l.jsonl")
    assert "1 of 1" in retrial("lessons", "import", "l.jsonl", "--store", "other.db").stdout
    there, here = (
        json.loads(retrial("lessons", "list", "--json", *more).stdout) for more in (["--store", "other.db"], [])
    )
    assert {**there["lessons"][0], "uses": 1, "wins": 1} == here["lessons"][0]
    broken = ['{"text": ""}', "no json", "[]", '{"text": "Fine.", "state": "odd"}', '{"text": "Fine.", "task_id": 3}']
    (folder / "odd.jsonl").write_text("\n".join([*broken, '{"text": "New words."}', (folder / "l.jsonl").read_text()]))
    done = retrial("lessons", "import", "odd.jsonl", "--json")
    outcomes = [one["outcome"] for one in json.loads(done.stdout)["lines"]]
    assert outcomes == [*["broken"] * 5, "added", "duplicate"]
    assert done.exit_code == 4
    retrial("lessons", "delete", lesson, "--yes")
    assert "were deleted here" in retrial("lessons", "import", "l.jsonl").stdout


def test_stats_count_and_check(learnt, retrial):
    """Lessons by state, tasks, uses and wins; one good use accuses nobody."""
    found = json.loads(retrial("lessons", "stats", "--json").stdout)
    assert [found[name] for name in ("active", "quarantined", "tasks", "uses", "wins")] == [1, 0, 1, 1, 1]
    assert found["quarantined_now"] == []
    assert "active" in retrial("lessons", "stats").stdout


def test_a_rerun_begins_with_what_is_stored_and_says_so(learnt, folder, retrial):
    """--from-stored puts the lesson into the first prompt, and the output tells that it did."""
    model = make_recording(folder / "s.jsonl", [folder / "add.toml"], learns)
    done = retrial("run", "add.toml", "--from-stored", "--model", model)
    assert "1 stored lesson" in done.stderr + done.stdout


def test_a_run_of_a_newer_version_does_not_hide_the_others(learnt, folder, retrial):
    """It is listed as unreadable, with the reason, beside the run that can be read."""
    import sqlite3

    run, _ = learnt
    store = sqlite3.connect(folder / ".retrial" / "retrial.db")
    store.execute("INSERT INTO run VALUES (1, 'newer')")
    store.execute("INSERT INTO event VALUES (1, 0, 'run', 'run.started', '{}', '', 1.0, 99)")
    store.commit()
    store.close()
    listed = retrial("runs", "--json")
    assert listed.exit_code == 0
    rows = {row["run_id"]: row for row in json.loads(listed.stdout)["runs"]}
    assert (rows[run]["status"], rows["newer"]["status"]) == ("COMPLETED", "unreadable")
    assert "newer version" in rows["newer"]["reason"]
    assert retrial("show", "newer").exit_code == 4


def test_a_redacted_run_is_started_anew_without_the_lesson(learnt, retrial):
    """--restart goes from the task alone; going on with the record is refused."""
    run, lesson = learnt
    retrial("lessons", "delete", lesson, "--yes")
    done = retrial("resume", run, "--restart", "--json")
    (anew,) = json.loads(done.stdout)["runs"]
    assert (done.exit_code, anew["status"], anew["run_id"] == run) == (0, "COMPLETED", False)


def test_the_commands_of_the_memory_page_run(learnt, folder, retrial):
    """Each command of docs/memory.md, in the order in which it stands there, does what it says."""
    _, lesson = learnt
    page = (Path(__file__).parents[2] / "docs" / "memory.md").read_text()
    lines = re.findall(r"^retrial (.*)$", "\n".join(re.findall(r"```\n(.*?)```", page, re.DOTALL)), re.MULTILINE)
    assert len(lines) >= 12
    for line in lines:
        words = [lesson if word == "LESSON" else word for word in shlex.split(line, comments=True)]
        done = retrial(*words, input="y\n")
        assert done.exit_code == 0, (line, done.output)
