"""What goes wrong is one line on standard error that says what to do, and an exit code."""

import contextlib
import sqlite3

import pytest

import retrial.taskfile
from cli_tasks import learns, make_recording, write_task
from retrial.models.fake import text


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "add.toml"], 4, "--model ollama:"),
        (["run", "none.toml", "--model", "x:y"], 4, "cannot read none.toml"),
        (["run", "typo.toml", "--model", "x:y"], 4, "typo.toml, line 1: 'promt' is no field of a task; did you mean 'prompt'?"),
        (["run", "untested.toml", "--model", "x:y"], 4, "has no tests"),
        (["run", "empty", "--model", "x:y"], 5, "holds no task"),
        (["run", "add.toml", "--model", "opnai:gpt-5"], 4, "did you mean 'openai:gpt-5'?"),
        (["run", "add.toml", "--model", "openai:gpt-5-mini"], 4, "OPENAI_API_KEY"),
        (["run", "add.toml", "--model", "recorded:none.jsonl"], 4, "none.jsonl"),
        (["run", "add.toml", "--modle", "x"], 4, "--model"),
        (["run", "add.toml", "--trials", "11"], 4, "1<=x<=10"),
        (["run", "add.toml", "--lessons", "few"], 4, "'few' is neither a number from 1 nor 'all'"),
        (["run", "add.toml", "--model", "recorded:r.jsonl", "--sandbox", "limited", "--require-isolation", "jailed"], 4, "weaker"),
        (["run", "add.toml", "--model", "recorded:r.jsonl", "--store", "broken.db"], 4, "not a retrial store"),
        (["run", "add.toml", "--model", "recorded:r.jsonl", "--store", "alien.db"], 4, "another program"),
        (["run", "add.toml", "--store", ":memory:"], 4, "keeps nothing"),
        (["runs", "--store", ":memory:"], 4, "keeps nothing"),
        (["run", "add.toml", "--budget-usd", "inf"], 4, "--budget-usd': 'inf' limits nothing"),
        (["run", "add.toml", "--budget-usd", "nan"], 4, "--budget-usd': 'nan' limits nothing"),
        (["run", "add.toml", "--budget-seconds", "nan"], 4, "--budget-seconds': 'nan' limits nothing"),
        (["run", "add.toml", "--timeout", "nan"], 4, "--timeout': 'nan' limits nothing"),
        (["run", "add.toml", "--timeout", "inf"], 4, "--timeout"),
        (["resume", "last", "--budget-seconds", "inf"], 4, "--budget-seconds': 'inf' limits nothing"),
        (["run", "add.toml", "--budget-calls", "0"], 4, "--budget-calls 0 allows none; give at least 1"),
        (["show", "last"], 4, "there is no store"),
        (["runs", "--store", "newer.db"], 4, "newer retrial"),
        (["rum", "add.toml"], 4, "rum"),
        (["import", "broken.db"], 4, "line 1"),
        (["export"], 4, "--all"),
    ],
)  # fmt: skip
def test_each_mistake_has_one_line_and_a_code(folder, retrial, words, code, said):
    """A mistake exits with its code, says in one line what to do, and prints nothing else."""
    task = write_task(folder)
    make_recording(folder / "r.jsonl", [task], learns)
    (folder / "empty").mkdir()
    (folder / "typo.toml").write_text('promt = "x"\n')
    (folder / "untested.toml").write_text('prompt = "x"\n')
    (folder / "broken.db").write_text("this is no database, and long enough to be seen as none\n" * 9)
    _database(folder / "alien.db", "CREATE TABLE theirs (x)")
    retrial("run", task, "--model", "recorded:r.jsonl", "--store", "newer.db")
    _database(folder / "newer.db", "PRAGMA user_version = 99")
    done = retrial(*words)
    assert done.exit_code == code, done.output
    assert said in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.output


def _database(path, statement):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_fault_of_ours_is_said_to_be_one(folder, retrial, monkeypatch):
    """An unexpected exception exits with 3 and points at --debug, which shows where it came from."""

    def broken(paths):
        raise ZeroDivisionError("in the middle")

    monkeypatch.setattr(retrial_taskfile, "load_tasks", broken)
    done = retrial("run", "x.toml", "--model", "x:y")
    assert done.exit_code == 3
    assert "a fault of retrial: ZeroDivisionError: in the middle" in done.stderr
    assert "--debug" in done.stderr
    assert isinstance(retrial("run", "x.toml", "--debug").exception, ZeroDivisionError)


retrial_taskfile = retrial.taskfile


def test_an_error_line_cannot_steer_the_terminal(folder, retrial):
    """Control characters in an error's text are written out."""
    done = retrial("run", "a\x1b[2J.toml", "--model", "x:y")
    assert "\x1b" not in done.stderr


def test_a_model_that_is_no_longer_there_is_named_on_resume(folder, retrial):
    """A run whose recording was removed says so when it is resumed."""
    task = write_task(folder)
    make_recording(folder / "r.jsonl", [task], lambda request: text("def add(a, b): return 0"), trials=1)
    retrial("run", task, "--model", "recorded:r.jsonl", "--budget-calls", 1)
    (folder / "r.jsonl").unlink()
    done = retrial("resume", "last")
    assert done.exit_code == 4
    assert "cannot read the recording" in done.stderr


def test_a_folder_of_folders_says_that_it_is_not_looked_into(folder, retrial):
    """Whoever names the folder above the tasks is told of one that holds some."""
    (folder / "above" / "inner").mkdir(parents=True)
    write_task(folder / "above" / "inner")
    done = retrial("run", folder / "above", "--model", "ollama:x", "--dry-run")
    assert done.exit_code == 5
    assert "folders in it are not looked into; name one, such as" in done.stderr
