"""``retrial evaluate``: outputs in, verdicts out, one a line."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from retrial.casefile import LONGEST_LINE, Line, case_of, lines_of, name_of
from retrial.cli.ordering import AHEAD, each, in_order
from retrial.core.codec import decode
from retrial.core.tasks import Verdict
from retrial.errors import ConfigError

TESTS = ["assert add(1, 2) == 3", ["add(2, 2)", 4]]
RIGHT = {"id": "right", "output": "def add(a, b):\n    return a + b\n", "tests": TESTS}
WRONG = {"id": "wrong", "output": "def add(a, b):\n    return a - b\n", "tests": TESTS}


def lines(*rows):
    return "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)


def judged(retrial, text):
    """What the command says about a file with this text, in the folder that is worked in."""
    Path("in.jsonl").write_text(text)
    return retrial("evaluate", "in.jsonl")


def verdicts(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_gets_a_verdict_in_its_place(folder, retrial):
    """Passed and not passed, with the id and the line, every field of a verdict, and exit code 1."""
    (folder / "cases.jsonl").write_text(lines(RIGHT, WRONG, RIGHT))
    done = retrial("evaluate", "cases.jsonl")
    assert done.exit_code == 1
    first, second, third = verdicts(done)
    assert [(one["id"], one["line"], one["passed"]) for one in (first, second, third)] == [
        ("right", 1, True), ("wrong", 2, False), ("right", 3, True),
    ]  # fmt: skip
    assert (second["score"], second["trust"], second["bad_test_count"], second["shared_process"]) == (0, "tests", 0, 0)
    assert "add(1, 2) returned -1, expected 3" in second["reason"]
    assert second["isolation"]["level"] in ("jailed", "confined")
    assert second["seconds"] >= 0
    assert decode(Verdict, first).passed
    assert "2 of 3 passed" in done.stderr
    assert not (folder / ".retrial").exists()


def test_every_way_to_judge_is_there(folder, retrial):
    """Standard input; a body that continues its prompt, tables, suites, doctests and answers; all pass, so exit 0."""
    body = {"prompt": "def add(a, b):\n    '''Add.'''\n", "entry_point": "add", "output": "    return a + b\n"}
    code = {"output": RIGHT["output"]}
    unit = "import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n    def test(self):\n"
    rows = [
        {**body, "style": "check", "tests": "def check(candidate):\n    assert candidate(1, 2) == 3\n"},
        {**code, "style": "table", "tests": [["add(1, 2)", 3], '["add(0, 0)", 0]'], "timeout": 5},
        {**code, "style": "unittest", "tests": f"{unit}        self.assertEqual(add(1, 2), 3)\n"},
        {**code, "style": "doctest", "tests": ">>> add(1, 2)\n3\n", "entry_point": "add"},
        {"output": "It is 42.", "answer": 42, "evaluator": "numeric"},
        {"output": "Paris", "answer": "paris"},
        {"output": "one two", "evaluator": {"kind": "rubric", "max_words": 2}},
    ]
    done = judged(retrial, "\ufeff" + lines(*rows))
    found = verdicts(done)
    assert [one["reason"] for one in found] == [""] * len(rows)
    assert [one["id"] for one in found] == [str(number) for number in range(1, len(rows) + 1)]
    assert done.exit_code == 0


BROKEN = {
    "nonsense\n": "not JSON",
    "[1]\n": "a case is an object",
    '{"id": "x"}\n': "'output' is missing",
    '{"id": "x", "output": null, "tests": []}\n': "output is None and must be a text",
    '{"id": "x", "outptu": "y"}\n': "did you mean 'output'?",
    '{"id": "x", "output": "y"}\n': "has no tests, so nothing could fail",
    '{"id": "x", "output": "y", "tests": "assert f(1) == 1"}\n': "wants a list",
    '{"id": "x", "output": "y", "tests": [1]}\n': "tests holds 1",
    '{"id": "x", "output": "y", "tests": ["# later"]}\n': "it holds no statement",
    '{"id": "x", "output": "y", "tests": ["assert f("]}\n': "'assert f(' cannot be used",
    '{"id": "x", "output": "y", "style": "check", "tests": "def check(c): assert c()"}\n': "needs an entry_point",
    '{"id": "x", "output": "y", "style": "pytets", "tests": ["a"]}\n': "did you mean 'pytest'?",
    '{"id": "x", "output": "y", "tests": ["assert f(1) == 1"], "timeout": 0}\n': "timeout",
    '{"id": "x", "output": "y", "evaluator": "numerik"}\n': "did you mean 'numeric'?",
    '{"id": "x", "output": "y", "evaluator": {"kind": "judge", "rubric": "names it"}}\n': "--judge-model",
    '{"id": "x", "output": "y", "evaluator": "validator"}\n': "validator",
    '{"id": "x", "output": "y", "answer": "1", "metadata": {"a": NaN}}\n': "JSON",
}


def test_a_line_that_is_wrong_is_answered_and_the_rest_is_judged(folder, retrial):
    """Whatever is wrong with a line is said in its place, with its number; exit 4."""
    done = judged(retrial, lines(RIGHT, *BROKEN, "\n", RIGHT))
    found = verdicts(done)
    assert len(found) == len(BROKEN) + 2
    assert (found[0]["passed"], found[-1]["passed"]) == (True, True)
    for number, (one, words) in enumerate(zip(found[1:-1], BROKEN.values(), strict=True), 2):
        assert (one["line"], one["passed"], one["score"], one["error"]["fault"]) == (number, None, None, "case"), words
        assert one["error"]["message"].startswith(f"line {number}: ")
        assert words in one["error"]["message"]
    assert found[-1]["line"] == len(BROKEN) + 3
    assert found[5]["id"] == "x"
    assert done.exit_code == 4
    assert f"{len(BROKEN)} lines are wrong" in done.stderr


def test_what_the_environment_fails_is_no_verdict(folder, retrial):
    """A declared module that is not installed: exit 11, and the rest is judged."""
    done = judged(retrial, lines({**RIGHT, "modules": ["no_such_module"]}, "nonsense\n", WRONG))
    first, _, last = verdicts(done)
    assert first["error"]["fault"] == "environment"
    assert "no_such_module" in first["error"]["message"]
    assert last["passed"] is False
    assert done.exit_code == 11


def test_bad_tests_are_kept_apart(folder, retrial):
    """A tuple assert and a test that does not parse count for nobody; a wrong name is the output's fault."""
    tests = ["assert add(1, 2) == 3", "assert (add(1, 2), 3)", "assert add("]
    other = {"output": "def addition(a, b):\n    return a + b\n", "tests": tests, "entry_point": "add"}
    right, wrong = verdicts(judged(retrial, lines({**RIGHT, "tests": tests}, other)))
    assert (right["passed"], right["score"], right["bad_test_count"], right["valid_count"]) == (True, 1.0, 2, 1)
    assert [check["name"] for check in right["checks"] if check["kind"] == "bad_test"] == tests[1:]
    assert (wrong["passed"], wrong["score"]) == (False, 0.0)
    assert "add is not defined; the code defines: addition" in wrong["reason"]


def test_verdicts_go_to_a_file_and_the_summary_to_standard_output(folder, retrial):
    """With --json the summary is one object; the file that is read is not written to."""
    (folder / "cases.jsonl").write_text(lines(RIGHT, "x\n"))
    done = retrial("evaluate", "cases.jsonl", "--out", "v.jsonl", "--json")
    assert json.loads(done.stdout) == {"cases": 2, "passed": 1, "not_passed": 0, "wrong_lines": 1, "environment": 0}
    assert len((folder / "v.jsonl").read_text().splitlines()) == 2
    refused = retrial("evaluate", "cases.jsonl", "--out", "./cases.jsonl")
    assert refused.exit_code == 4
    assert (folder / "cases.jsonl").read_text() == lines(RIGHT, "x\n")


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_nothing_to_judge_is_said(folder, retrial, text):
    """An empty file: exit 5."""
    done = judged(retrial, text)
    assert (done.exit_code, done.stdout) == (5, "")


def test_what_is_no_text_and_what_is_too_long_are_lines_like_others():
    """Bytes that are not UTF-8, and a line that would fill the memory, are answered; the next line is read."""
    long = b'{"output": "' + b"x" * LONGEST_LINE + b'"}\n'
    one, two, three = lines_of(io.BytesIO(b'{"output": "\xff"}\n' + long + b"{}"))
    with pytest.raises(ConfigError, match=r"line 1: not UTF-8 \(byte 12\)"):
        case_of(one)
    with pytest.raises(ConfigError, match="line 2: it is longer than 64 MB"):
        case_of(two)
    assert (two.size, three.number, three.text) == (len(long), 3, b"{}")
    assert (name_of(one), name_of(Line(4, b'{"id": 7}', 0)), name_of(Line(5, b'{"id": []}', 0))) == ("1", "7", "5")


def test_a_prompt_is_continued_only_if_it_begins_the_code():
    """Words are a task for a judge; code that defines the entry point may be continued with a body."""
    row = {"output": "x", "tests": ["assert f(1) == 1"], "entry_point": "f"}

    def completes(prompt):
        return case_of(Line(1, json.dumps({**row, "prompt": prompt}).encode(), 0)).task.completes

    assert completes("import re\n\ndef f(n):\n    '''Doc.'''\n")
    assert not completes("Write a function f, def by def.")


async def test_results_come_in_order_and_few_are_held():
    """However the work ends, the results have the order of the items, and no more is begun than there is room for."""
    import asyncio

    begun: list[int] = []
    most = 0

    async def work(item):
        nonlocal most
        begun.append(item)
        most = max(most, len(begun) - len(seen))
        await asyncio.sleep(0.02 if item == 0 else 0)
        return -item

    seen: list[int] = []
    async for item, result in in_order(each(range(100)), work, at_once=2):
        assert result == -item
        seen.append(item)
    assert seen == [*range(100)]
    assert most <= 2 * AHEAD


async def test_an_error_ends_the_work_and_the_rest_is_cancelled():
    """What the work raises is raised in its turn."""
    import asyncio

    ended: list[int] = []

    async def work(item):
        if item == 1:
            raise ZeroDivisionError
        try:
            await asyncio.sleep(60 if item else 0)
        except asyncio.CancelledError:
            ended.append(item)
            raise

    with pytest.raises(ZeroDivisionError):
        async for _ in in_order(each([0, 1, 2]), work, at_once=3):
            pass
    assert ended == [2]


def test_a_verdict_comes_as_soon_as_its_turn_does_and_ctrl_c_ends_it(folder, process):
    """While standard input is still open the first verdict is there; Ctrl-C then ends the command with 2."""
    os.mkfifo(folder / "cases")
    running = process("evaluate", "cases")
    killer = threading.Timer(60, running.kill)
    killer.start()
    with (folder / "cases").open("w") as pipe:
        pipe.write(lines(RIGHT))
        pipe.flush()
        assert json.loads(running.stdout.readline())["passed"]
        running.send_signal(signal.SIGINT)
        assert running.wait() == 2
    killer.cancel()
    assert "interrupted" in running.stderr.read()
    running.stdout.close()
    running.stderr.close()


def test_standard_input_is_read_too(process):
    """As a name, -."""
    running = process("evaluate", "-", stdin=True)
    out, _ = running.communicate(lines(RIGHT), timeout=60)
    assert json.loads(out)["passed"]


def test_a_reader_that_goes_away_is_no_error(folder, process):
    """A closed pipe ends the command quietly."""
    rows = [{"output": "1", "answer": "1", "metadata": {"padding": "x" * 200}}] * 2000
    (folder / "cases.jsonl").write_text(lines(*rows))
    running = process("evaluate", "cases.jsonl")
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(timeout=60) == 0
    assert "Traceback" not in running.stderr.read()
    running.stderr.close()
