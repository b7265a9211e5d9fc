"""Runs as lines of a file."""

from __future__ import annotations

import pytest

from retrial.core.events import event_to_json
from retrial.errors import ConfigError, CorruptJournal, StoreTooNew
from retrial.log.jsonl import read_events, write_events
from worlds import Fan, Model, engine_with, fan_model


@pytest.fixture
async def events():
    async with engine_with(Model(fan_model)) as engine:
        await engine.run(Fan(), {"task": "t"}, run_id="r")
        return await engine.journal.events("r")


async def test_a_run_survives_export_and_import(events, tmp_path):
    """What is written is read back as it was, and the count is told."""
    path = tmp_path / "run.jsonl"
    assert write_events(path, events) == len(events)
    assert read_events(path).events == tuple(events)
    assert read_events(path).torn == ""


async def test_a_torn_last_line_is_left_out_at_every_cut(events, tmp_path):
    """Wherever a file is cut off, every whole line before the cut is read."""
    path = tmp_path / "run.jsonl"
    write_events(path, events[:4])
    content = path.read_bytes()
    for cut in range(0, len(content), 7):
        path.write_bytes(content[:cut])
        lines = read_events(path)
        whole = content[:cut].count(b"\n")
        assert lines.events in (tuple(events[:whole]), tuple(events[: whole + 1]))
        assert bool(lines.torn) == (len(lines.events) == whole and not content[:cut].endswith(b"\n") and cut > 0)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: [*lines[:1], "not json", *lines[2:]], "line 2"),
        (lambda lines: [*lines[:1], '{"run_id": "r"}', *lines[2:]], "line 2: an event has"),
        (lambda lines: [*lines[:1], *lines[2:]], "line 2: run 'r' goes on with seq 2, expected 1"),
        (lambda lines: ["[]", *lines[1:]], "line 1: an event is a JSON object"),
    ],
)
async def test_a_spoilt_line_is_named(events, tmp_path, spoil, told):
    """Anything but a torn end is an error with the line, and nothing is guessed."""
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(spoil([event_to_json(event) for event in events])) + "\n")
    with pytest.raises(CorruptJournal, match=told):
        read_events(path)


async def test_events_of_a_later_version_are_refused(events, tmp_path):
    """A shape that this code does not know says which, and what to do."""
    path = tmp_path / "run.jsonl"
    path.write_text(event_to_json(events[0]).replace('"v":1', '"v":99') + "\n")
    with pytest.raises(StoreTooNew, match="shape 99"):
        read_events(path)


def test_a_missing_file_is_named(tmp_path):
    """Reading a file that is not there names it."""
    with pytest.raises(ConfigError, match="nothing.jsonl"):
        read_events(tmp_path / "nothing.jsonl")


async def test_a_file_is_written_whole_or_not_at_all(events, tmp_path):
    """If writing fails in the middle, the old file stays and no part is left."""
    path = tmp_path / "run.jsonl"
    path.write_text("old")

    def broken():
        yield events[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(ConfigError, match="No space left"):
        write_events(path, broken())
    assert path.read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["run.jsonl"]
