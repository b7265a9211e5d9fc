"""Recordings: written line by line, read back by key and digest, honest about what they do not hold."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrial.core.budget import Usage
from retrial.core.messages import Message, ModelRequest, ModelResponse, ToolCall, ToolSpec
from retrial.errors import ConfigError, ModelUnavailable, NoRecordedReply
from retrial.models import FakeLLMClient, RecordedClient, RecordingClient, describe


def ask(content: str, **more) -> ModelRequest:
    return ModelRequest(messages=(Message(role="user", content=content),), **more)


async def record(path: Path, *calls: tuple[str, str, str], **more) -> None:
    """Record (key, prompt, reply) in this order."""
    replies = iter(calls)
    client = RecordingClient(FakeLLMClient(lambda _: ModelResponse(text=next(replies)[2], model="p:m")), path)
    for key, prompt, _ in calls:
        await client.complete(ask(prompt, **more), key)


async def test_a_reply_comes_back_whole(tmp_path):
    """Text, tool calls, usage and model survive the file, even text that is no valid Unicode."""
    full = ModelResponse(
        text="a\u2028b\udc80 'C++' ✓\n",
        tool_calls=(ToolCall(id="c", name="t", arguments={"x": [1, None, {"y": 1.5}]}),),
        finish_reason="tool_calls",
        usage=Usage(calls=1, input_tokens=3, output_tokens=4, cost_usd=None),
        model="p:m",
    )
    request = ask(
        "q\udc80",
        role="judge",
        tools=(ToolSpec(name="t", parameters={"type": "object"}),),
        temperature=0.0,
        stop=("X",),
        output_schema={"type": "object"},
    )
    recording = RecordingClient(FakeLLMClient(lambda _: full), tmp_path / "deep" / "r.jsonl")
    assert await recording.complete(request, "k") == full
    assert await RecordedClient(tmp_path / "deep" / "r.jsonl").complete(request, "k") == full


async def test_a_line_holds_the_request_and_no_times(tmp_path):
    """The fields of a line are the documented ones."""
    await record(tmp_path / "r", ("k", "q", "a"))
    line = json.loads((tmp_path / "r").read_text())
    assert list(line) == ["v", "key", "digest", "role", "model", "request", "response"]
    assert (line["v"], line["key"], line["role"], line["model"]) == (1, "k", "actor", "p:m")


async def test_the_key_decides_between_equal_requests(tmp_path):
    """Two calls with the same request get their own replies, in whatever order they ask."""
    await record(tmp_path / "r", ("sample.1", "q", "one"), ("sample.2", "q", "two"))
    client = RecordedClient(tmp_path / "r")
    assert [(await client.complete(ask("q"), key)).text for key in ("sample.2", "sample.1")] == ["two", "one"]


async def test_an_unknown_key_is_answered_by_the_request_in_the_order_recorded(tmp_path):
    """A renamed call still finds its reply, and is not disturbed by what keyed calls took."""
    await record(tmp_path / "r", ("sample.1", "q", "one"), ("sample.2", "q", "two"))
    client = RecordedClient(tmp_path / "r")
    assert (await client.complete(ask("q"), "sample.1")).text == "one"
    assert [(await client.complete(ask("q"), "other")).text for _ in range(3)] == ["one", "two", "two"]
    assert (await client.complete(ask("q"), "sample.1")).text == "one"


async def test_several_replies_in_one_place_come_in_order_and_the_last_repeats(tmp_path):
    """Several tasks or samples in one file are replayed in the order recorded; after the last, the last again."""
    await record(tmp_path / "r", ("k", "q", "one"), ("k", "q", "two"))
    client = RecordedClient(tmp_path / "r")
    assert [(await client.complete(ask("q"), "k")).text for _ in range(3)] == ["one", "two", "two"]


async def test_a_miss_names_the_nearest_request_and_the_first_differing_line(tmp_path):
    """A changed prompt is shown against the recorded one of the same key."""
    await record(tmp_path / "r", ("trial.1/actor", "Write f.\nUse Python.", "a"), ("trial.2/actor", "Write g.", "b"))
    with pytest.raises(NoRecordedReply) as caught:
        await RecordedClient(tmp_path / "r").complete(ask("Write f.\nUse Rust."), "trial.1/actor")
    message = str(caught.value)
    assert "no reply for 'trial.1/actor'" in message
    assert "'trial.1/actor', differs at messages[0].content line 2" in message
    assert "recorded 'Use Python.', asked 'Use Rust.'" in message
    assert "--record" in message


async def test_a_miss_names_a_differing_setting(tmp_path):
    """A changed temperature is named as the field it is."""
    await record(tmp_path / "r", ("k", "q", "a"), temperature=0.0)
    with pytest.raises(NoRecordedReply, match=r"differs at temperature: recorded '0.0', asked '0.7'"):
        await RecordedClient(tmp_path / "r").complete(ask("q", temperature=0.7), "k")


async def test_a_miss_under_an_unknown_key_finds_the_longest_common_beginning(tmp_path):
    """Without the key, the request that begins alike is the nearest; long lines are cut around the difference."""
    start = "x" * 500
    await record(tmp_path / "r", ("a", "other", "1"), ("b", start + "one", "2"))
    with pytest.raises(NoRecordedReply) as caught:
        await RecordedClient(tmp_path / "r").complete(ask(start + "two"), "c")
    assert "'b', differs at messages[0].content: recorded …'" in str(caught.value)
    assert "xone'" in str(caught.value)
    assert len(str(caught.value)) < 600


async def test_a_torn_last_line_is_left_out_with_a_warning(tmp_path):
    """A crash while recording costs only the line it cut, and the reader says so."""
    path = tmp_path / "r"
    await record(path, ("k", "q", "a"), ("k2", "q2", "b"))
    path.write_bytes(path.read_bytes()[:-20])
    client = RecordedClient(path)
    assert "cut off" in client.warning
    assert (await client.complete(ask("q"), "k")).text == "a"
    with pytest.raises(NoRecordedReply):
        await client.complete(ask("q2"), "k2")


async def test_recording_goes_on_after_a_torn_line(tmp_path):
    """A resumed recording cuts the torn line off and appends after the whole ones."""
    path = tmp_path / "r"
    await record(path, ("k", "q", "a"), ("k2", "q2", "b"))
    path.write_bytes(path.read_bytes()[:-20])
    await record(path, ("k2", "q2", "again"))
    client = RecordedClient(path)
    assert client.warning == ""
    assert [(await client.complete(ask(q), k)).text for k, q in (("k", "q"), ("k2", "q2"))] == ["a", "again"]


@pytest.mark.parametrize("line", ["{", "[]", "7", '{"v": 1}', '{"v": 1, "key": "k"}', '{"key": "k"}', "\x00"])
async def test_a_broken_line_is_named_by_its_number(tmp_path, line):
    """Another line than the last being broken is refused, with its number."""
    path = tmp_path / "r"
    await record(path, ("k", "q", "a"))
    path.write_text(path.read_text() + line + "\n" + path.read_text())
    with pytest.raises(ConfigError, match=r"line 2 of the recording '.*/r' is broken"):
        RecordedClient(path)


async def test_a_later_form_is_refused_by_name(tmp_path):
    """A line of a later version says which forms this version reads."""
    (tmp_path / "r").write_text('{"v": 2}\n')
    with pytest.raises(ConfigError, match=r"form 2, and this version of retrial reads 1"):
        RecordedClient(tmp_path / "r")


def test_a_missing_or_empty_file_is_named(tmp_path):
    """A recording that is not there, or holds nothing, is refused before the run."""
    with pytest.raises(ConfigError, match=r"cannot read the recording '.*/gone': No such file"):
        RecordedClient(tmp_path / "gone")
    (tmp_path / "empty").touch()
    with pytest.raises(ConfigError, match="holds no reply"):
        RecordedClient(tmp_path / "empty")


@pytest.mark.parametrize("content", ["my thesis", "my thesis\n", '{"v": 1, "key": "k"}\n'])
def test_recording_never_touches_a_file_that_is_no_recording(tmp_path, content):
    """A wrong file name costs nobody their file."""
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(ConfigError):
        RecordingClient(FakeLLMClient(lambda _: "x"), path)
    assert path.read_text() == content


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """A folder in place of the file is refused before anything is paid for."""
    with pytest.raises(ConfigError, match="cannot record to"):
        RecordingClient(FakeLLMClient(lambda _: "x"), tmp_path)


async def test_a_failed_call_is_not_recorded(tmp_path):
    """Only answers are recorded."""

    def model(request):
        raise ModelUnavailable("down")

    with pytest.raises(ModelUnavailable):
        await RecordingClient(FakeLLMClient(model), tmp_path / "r").complete(ask("q"), "k")
    assert (tmp_path / "r").read_bytes() == b""


async def test_output_calls_it_a_recorded_reply(tmp_path):
    """The label names the model that answered once, and says that it is a recording."""
    await record(tmp_path / "r", ("k", "q", "a"))
    client = RecordedClient(tmp_path / "r")
    assert describe(client) == "recorded reply of p:m"
    assert (await client.complete(ask("q"), "k")).model == "p:m"


@settings(deadline=None, max_examples=60)
@given(data=st.data(), count=st.integers(1, 12), kinds=st.integers(1, 3))
def test_every_call_gets_its_own_reply_whatever_finishes_first(data, count, kinds):
    """Concurrent calls, equal requests among them, may finish in any order: a replay in any order answers each alike."""
    finishing = data.draw(st.permutations(range(count)))
    replaying = data.draw(st.permutations(range(count)))

    async def trial(folder: str) -> None:
        may_finish = [asyncio.Event() for _ in range(count)]
        path = Path(folder) / "r.jsonl"

        def call(number: int) -> tuple[ModelRequest, str]:
            return ask(f"prompt {number % kinds}"), f"call.{number}"

        async def one(number: int) -> None:
            async def model(request):
                await may_finish[number].wait()
                return f"reply {number}"

            await RecordingClient(FakeLLMClient(model), path).complete(*call(number))

        calls = [asyncio.create_task(one(number)) for number in range(count)]
        for number in finishing:
            may_finish[number].set()
            await calls[number]
        replay = RecordedClient(path)
        replies = await asyncio.gather(*(replay.complete(*call(number)) for number in replaying))
        assert [reply.text for reply in replies] == [f"reply {number}" for number in replaying]

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(trial(folder))
