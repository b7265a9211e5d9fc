"""retrial trajectories: the trials that the insight bank keeps."""

import json
import sqlite3

import pytest

from bank_worlds import BAD, GOOD, fill


@pytest.fixture
def bank(folder):
    """A store with two trials and three insights; its file."""
    path = folder / ".retrial" / "retrial.db"
    fill(path)
    return path


def said(done):
    """The JSON of a command that went well."""
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_list_and_show_tell_what_was_done_and_what_came_of_it(bank, retrial):
    """Newest first, by outcome and task; show has the steps, the lessons, and the insights that came from the trial."""
    table = retrial("trajectories", "list").stdout
    assert [line.split()[0] for line in table.splitlines()[2:]] == ["bb22", "aa11"]
    assert "2026-11-30" in table
    (one,) = said(retrial("trajectories", "list", "--outcome", "passed", "--task", "add", "--json"))["trajectories"]
    assert (one["id"], one["run_id"], one["score"], one["waiting"]) == ("aa11", "run-1", 1.0, True)
    shown = retrial("trajectories", "show", "bb").stdout
    for words in ("Write add", "step 1", "return a - b", "add(1, 2) is -1", "Add.", "insight 1, insight 2"):
        assert words in shown
    assert "insight 3" in retrial("trajectories", "show", "aa11").stdout
    assert said(retrial("trajectories", "show", "bb22", "--json"))["insights_from_it"] == [1, 2]
    assert "there are no such" in retrial("trajectories", "list", "--task", "other").stderr


def test_delete_asks_names_what_came_of_it_and_leaves_no_word_in_the_index(bank, retrial):
    """Without a yes nothing happens; then the words are gone from the index, and the insights stay, to be tainted."""
    asked = retrial("trajectories", "delete", "aa11", input="n\n")
    assert (asked.exit_code, "insight 1" in asked.stderr, "taint" in asked.stderr) == (2, True, True)
    done = said(retrial("trajectories", "delete", "aa11", "--yes", "--json"))
    assert done == {"deleted": ["aa11"], "insights_from_them": [1], "tainted": False}
    store = sqlite3.connect(bank)
    assert store.execute("SELECT count(*) FROM trajectory_word").fetchone() == (0,)
    assert store.execute("SELECT count(*) FROM trajectory_index").fetchone() == (0,)
    segments = store.execute("SELECT block FROM trajectory_index_data").fetchall()
    assert not [block for (block,) in segments if b"zebra" in block]
    store.close()
    traced = said(retrial("insights", "trace", 1, "--json"))["trajectories"]
    assert [(one["id"], one["kept"]) for one in traced] == [("aa11", False), ("bb22", True)]
    assert said(retrial("insights", "taint", "aa11", "--yes", "--json"))["changes"][0]["id"] == 1


def test_delete_can_taint_at_once(bank, retrial):
    """With --taint, what the trial taught goes with it."""
    assert said(retrial("trajectories", "delete", "bb", "--taint", "--yes", "--json"))["insights_from_them"] == [1, 2]
    left = said(retrial("insights", "list", "--json"))["insights"]
    assert [one["text"] for one in left] == ["Read the task twice."]


def test_export_and_import_round_trip_and_report_line_by_line(bank, folder, retrial):
    """A trial comes back as it was, without the ids of another bank's insights, and a tainted one is tainted there."""
    retrial("insights", "taint", "bb22", "--yes")
    assert retrial("trajectories", "export", "-o", "t.jsonl").exit_code == 0
    assert retrial("trajectories", "export").stdout == (folder / "t.jsonl").read_text()
    assert "2 of 2" in retrial("trajectories", "import", "t.jsonl", "--store", "other.db").stdout
    rows = said(retrial("trajectories", "list", "--store", "other.db", "--json"))["trajectories"]
    assert [(one["id"], one["tainted"], one["insights"], one["created_at"]) for one in rows] == [
        ("bb22", True, [], BAD.created_at),
        ("aa11", False, [], GOOD.created_at),
    ]
    sound = {"task_id": "t", "task": "Do it.", "outcome": "passed"}
    odd = [{"score": 2}, {"outcome": "maybe"}, {"task": ""}, {"steps": "x"}, {"created_at": "soon"}, {"trial": True}]
    lines = ["no json", "[]", *(json.dumps({**sound, **one}) for one in odd), json.dumps(sound)]
    other = json.dumps({**sound, "id": "aa11"})
    (folder / "odd.jsonl").write_text("\n".join([*lines, other, (folder / "t.jsonl").read_text()]))
    done = retrial("trajectories", "import", "odd.jsonl", "--json")
    ends = json.loads(done.stdout)["lines"]
    assert [one["outcome"] for one in ends] == [*["broken"] * 8, "added", "conflict", "duplicate", "duplicate"]
    assert (done.exit_code, ends[2]["detail"]) == (4, "its score is 2")
    assert "line 1  broken: it is not JSON" in retrial("trajectories", "import", "odd.jsonl").stdout
    (folder / "empty.jsonl").write_text("\n")
    assert retrial("trajectories", "import", "empty.jsonl").exit_code == 5


@pytest.mark.parametrize("words", ["list", "show aa", "delete aa --yes", "export"])
def test_every_command_says_what_to_do_without_a_store_and_without_a_trial(folder, retrial, words):
    """No store is a wrong name; without trials the list says what keeps some, and a name is refused."""
    assert "there is no store" in retrial("trajectories", *words.split()).stderr
    fill(folder / ".retrial" / "retrial.db", empty=True)
    done = retrial("trajectories", *words.split())
    assert done.exit_code == (0 if words in ("list", "export") else 4)
    if words == "list":
        assert "run TASK --insights" in done.stderr
        assert said(retrial("trajectories", "list", "--json")) == {"trajectories": []}
    elif words != "export":
        assert "no trajectory 'aa'; `retrial trajectories list`" in done.stderr
