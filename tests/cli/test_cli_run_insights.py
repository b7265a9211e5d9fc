"""retrial run --insights from end to end: the extraction is waited for, can be resumed, and the next task is told."""

import asyncio
import json
import re

import pytest

from cli_tasks import learns, write_task
from retrial.assembly import algorithm_for, assemble
from retrial.core.codec import encode
from retrial.errors import ModelUnavailable
from retrial.models.fake import FakeLLMClient
from retrial.models.recording import RecordingClient
from retrial.taskfile import load_tasks


def teaches(request):
    """Learn as usual, and teach one insight."""
    return "ADD: Check the sign." if request.role == "extractor" else learns(request)


def silent(request):
    """Learn as usual, and have no extractor."""
    if request.role == "extractor":
        raise ModelUnavailable("no extractor today")
    return learns(request)


def recording(path, task, reply):
    """Record a task and what is extracted from its two trials; return it as a model's name."""

    async def record():
        async with assemble(RecordingClient(FakeLLMClient(reply), path)) as engine:
            (one,) = load_tasks([task])
            algorithm, _ = algorithm_for(one, {"insights": {"batch": 2}}, {"actor": "scripted"})
            await engine.run(algorithm, {"task": encode(one.identified())})
            await engine.settled()

    asyncio.run(record())
    return f"recorded:{path}"


@pytest.fixture
def task(folder):
    return write_task(folder)


def test_a_run_waits_for_what_its_trials_teach(task, folder, retrial):
    """The line says what is waited for, the next what came of it; the bank and the trials are there afterwards."""
    model = recording(folder / "r.jsonl", task, teaches)
    done = retrial("run", task, "--insights", "--insight-batch", 2, "--model", model)
    assert done.exit_code == 0, done.stderr
    assert "waiting for 1 extraction of insights" in done.stderr
    assert "insights: 1 operation applied; 1 insight now" in done.stderr
    (insight,) = json.loads(retrial("insights", "list", "--json").stdout)["insights"]
    trials = json.loads(retrial("trajectories", "list", "--json").stdout)["trajectories"]
    assert [one["outcome"] for one in trials] == ["passed", "failed"]
    assert {*insight["trajectory_ids"]} == {one["id"] for one in trials}
    assert not any(one["waiting"] for one in trials)


def test_an_extraction_that_failed_is_resumed_by_the_command_that_was_printed(task, folder, retrial):
    """The task is solved all the same; resuming with a model that answers brings the insight."""
    model = recording(folder / "s.jsonl", task, silent)
    done = retrial("run", task, "--insights", "--insight-batch", 2, "--model", model)
    assert done.exit_code == 0, done.stderr
    (run_id,) = re.findall(r"has not ended .* go on: retrial resume (\S+)", done.stderr)
    assert json.loads(retrial("insights", "list", "--json").stdout)["insights"] == []
    again = retrial("resume", run_id, "--model", recording(folder / "r.jsonl", task, teaches))
    assert again.exit_code == 0, again.stderr
    assert [one["text"] for one in json.loads(retrial("insights", "list", "--json").stdout)["insights"]] == [
        "Check the sign."
    ]
