"""retrial insights: seeing what tasks taught for others, where it came from, and taking it back."""

import json

import pytest

from bank_worlds import fill

EVERY = (
    "list",
    "show 1",
    "trace 1",
    "edit 1 --text x",
    "delete 1",
    "undo",
    "undo 3",
    "taint aa11",
    "taint a --dry-run",
)


@pytest.fixture
def bank(folder):
    """A store with two trials and three insights: from both trials, from the second alone, and a person's."""
    fill(folder / ".retrial" / "retrial.db")


def said(done):
    """The JSON of a command that went well."""
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def texts(retrial):
    """The insights as they are listed, by id."""
    return {one["id"]: one["text"] for one in said(retrial("insights", "list", "--json"))["insights"]}


def test_list_show_and_trace_tell_what_there_is_and_where_it_came_from(bank, retrial):
    """The table, every operation with before and after, and the trials with task, outcome and run."""
    table = retrial("insights", "list").stdout
    assert [line.split()[:3] for line in table.splitlines()[2:]] == [["3", "2", "0"], ["2", "2", "1"], ["1", "2", "2"]]
    retrial("insights", "edit", 1, "--text", "Check every sign.")
    shown = retrial("insights", "show", 1).stdout
    for words in ("score 3", "aa11, bb22", "ADD", "extraction extraction-1", "Check the sign. (score 2)", "a person"):
        assert words in shown
    steps = said(retrial("insights", "show", 1, "--json"))["operations"]
    assert [(one["number"], one["kind"], one["counts"]) for one in steps] == [(1, "ADD", True), (5, "EDIT", True)]
    assert (steps[1]["before"], steps[1]["after"]) == (
        {"text": "Check the sign.", "score": 2},
        {"text": "Check every sign.", "score": 3},
    )
    traced = said(retrial("insights", "trace", 1, "--json"))["trajectories"]
    assert [(one["id"], one["task_id"], one["outcome"], one["run_id"]) for one in traced] == [
        ("aa11", "add", "passed", "run-1"),
        ("bb22", "add", "failed", ""),
    ]
    assert "run-1" in retrial("insights", "trace", 1).stdout
    assert "a person added it" in retrial("insights", "trace", 3).stderr


def test_edit_takes_words_or_an_editor_and_refuses_none(bank, retrial, monkeypatch):
    """The editor begins with the words; the same words change nothing, and none are refused."""
    monkeypatch.setattr("click.edit", lambda text: f"{text} Twice.\n")
    assert retrial("insights", "edit", 1).exit_code == 0
    assert texts(retrial)[1] == "Check the sign. Twice."
    monkeypatch.setattr("click.edit", lambda _: None)
    assert "nothing was changed" in retrial("insights", "edit", 1).stderr
    assert "without words" in retrial("insights", "edit", 1, "--text", " ").stderr


def test_delete_asks_first_and_undo_brings_back_and_takes_away_again(bank, retrial):
    """Each undo without a number goes one step further back, and undoing an undo does it again."""
    assert retrial("insights", "delete", 2, input="n\n").exit_code == 2
    assert 2 in texts(retrial)
    gone = said(retrial("insights", "delete", 2, "--yes", "--json"))
    assert [(one["id"], one["change"]) for one in gone["changes"]] == [(2, "removed")]
    assert "not in the bank any more" in retrial("insights", "show", 2).stdout
    assert "retrial insights undo" in retrial("insights", "edit", 2, "--text", "x").stderr
    back = said(retrial("insights", "undo", "--yes", "--json"))
    assert [(one["id"], one["change"]) for one in back["changes"]] == [(2, "restored")]
    assert "Read the task twice." in retrial("insights", "undo", "--yes").stdout
    assert texts(retrial) == {1: "Check the sign.", 2: "Subtract."}
    assert retrial("insights", "undo", 7, "--yes").exit_code == 0
    assert 3 in texts(retrial)


def test_taint_removes_what_came_from_a_trial_and_can_be_tried_first(bank, retrial):
    """A dry run changes nothing; then what came from the trial is gone, the trial is marked, and all can be taken back."""
    dry = retrial("insights", "taint", "bb", "--dry-run")
    assert (dry.exit_code, dry.stdout.count("would be removed")) == (0, 2)
    assert len(texts(retrial)) == 3
    assert said(retrial("insights", "taint", "bb", "--dry-run", "--json"))["dry_run"]
    assert retrial("insights", "taint", "bb", input="n\n").exit_code == 2
    done = said(retrial("insights", "taint", "bb", "--yes", "--json"))
    assert [(one["id"], one["change"]) for one in done["changes"]] == [(1, "removed"), (2, "removed")]
    assert texts(retrial) == {3: "Read the task twice."}
    assert "tainted already" in retrial("insights", "taint", "bb22", "--yes").stderr
    assert "does not count any more" in retrial("insights", "show", 1).stdout
    retrial("insights", "undo", done["operation"]["number"], "--yes")
    assert len(texts(retrial)) == 3


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("show 9", "there is no insight 9; `retrial insights list`"),
        ("trace 9", "there is no insight 9"),
        ("edit 9 --text x", "there is no insight 9"),
        ("delete 9 --yes", "there is no insight 9"),
        ("undo 9 --yes", "there is no operation 9, there are 1 to 4"),
        ("undo 3 --yes", "operation 3 changed nothing"),
        ("taint zz --yes", "no trajectory 'zz'; `retrial trajectories list`"),
    ],
)
def test_what_is_not_there_is_refused_by_name_with_the_next_step(bank, retrial, words, why):
    """Exit code 4, and nothing is recorded."""
    done = retrial("insights", *words.split(maxsplit=3))
    assert (done.exit_code, why in done.stderr) == (4, True), done.stderr
    assert len(texts(retrial)) == 3


@pytest.mark.parametrize("words", EVERY)
def test_every_command_says_what_to_do_without_a_store_and_on_an_empty_bank(folder, retrial, words):
    """No store is a wrong name; an empty bank is listed as empty, and holds nothing to undo or to name."""
    missing = retrial("insights", *words.split())
    assert (missing.exit_code, "there is no store" in missing.stderr) == (4, True)

    fill(folder / ".retrial" / "retrial.db", empty=True)
    done = retrial("insights", *words.split())
    assert done.exit_code == {"list": 0, "undo": 5}.get(words, 4)
    assert "retrial" in done.stderr or "nothing to undo" in done.stderr
    if words == "list":
        assert "run TASK --insights" in done.stderr
        assert said(retrial("insights", "list", "--json")) == {"insights": [], "trajectories_waiting": 0}
