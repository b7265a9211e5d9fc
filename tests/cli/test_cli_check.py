"""``retrial check``: evaluators prove themselves, and answers that exist are judged."""

from __future__ import annotations

import json
import sys

import pytest

from cli_tasks import RIGHT, WRONG, learns, make_recording, write_task
from retrial.core.codec import decode
from retrial.core.tasks import Verdict

GOOD = f"known_good = ['''{RIGHT}''']\n"


def test_a_sound_evaluator_is_shown_as_a_table(folder, retrial):
    """What must fail fails, what must pass passes, and faults put into the right answer are noticed."""
    done = retrial("check", write_task(folder, extra=GOOD))
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["stub", "fail", "✓", "fails", "0", "of", "2", "checks", "passed"] in lines
    assert ["known_good", "1", "pass", "✓", "passes", "2", "of", "2", "checks", "passed"] in lines
    assert "mutants  2 of 2 noticed (100%)" in done.stdout
    assert done.stdout.splitlines()[0].startswith("add · tests · ")
    assert "sound" in done.stdout
    assert not (folder / ".retrial").exists()


def test_a_known_bad_answer_that_passes_is_refused(folder, retrial):
    """Exit 12, with the label of the answer; the same as JSON."""
    (folder / "trap.py").write_text("def add(a, b):\n    return 3 if a else 0\n")
    task = write_task(folder, extra=GOOD)
    done = retrial("check", task, "--bad", "trap.py")
    assert done.exit_code == 12
    assert "refused  the known-bad output 'trap.py' passes, so a pass means nothing" in done.stdout
    found = json.loads(retrial("check", task, "--bad", "trap.py", "--json").stdout)
    (one,) = found["tasks"]
    assert (found["ok"], one["ok"], one["task_id"]) == (False, False, "add")
    assert {row["label"]: row["ok"] for row in one["rows"]} == {
        "empty": True, "banana": True, "stub": True, "trap.py": False, "known_good 1": True,
    }  # fmt: skip
    assert decode(Verdict, one["rows"][-1]["verdict"]).passed


def test_a_known_good_answer_that_fails_is_refused(folder, retrial):
    """Tests that refuse the right answer are as bad as tests that pass a wrong one."""
    (folder / "mine.py").write_text(WRONG)
    done = retrial("check", write_task(folder), "--good", "mine.py")
    assert done.exit_code == 12
    assert "refused  the known-good output 'mine.py' fails: 1 of 2 checks passed" in done.stdout


def test_mutants_that_no_test_notices_are_shown_as_diffs(folder, retrial):
    """With the line that went and the one that came, coloured on a terminal and never with NO_COLOR."""
    (folder / "clamp.toml").write_text(
        'prompt = "p"\nentry_point = "clamp"\ntests = ["assert clamp(5, 3) == 3", "assert clamp(1, 3) == 1"]\n'
        "known_good = '''def clamp(x, high):\n    if x > high:\n        return high\n    return x'''\n"
    )
    done = retrial("check", "clamp.toml")
    assert done.exit_code == 0
    assert "not noticed: line 2: > becomes >=\n  -    if x > high:\n  +    if x >= high:" in done.stdout
    assert "\x1b[" not in done.stdout
    survivors = json.loads(retrial("check", "clamp.toml", "--json").stdout)["tasks"][0]["mutants"]["survivors"]
    assert len(survivors) == 1
    assert "mutants" not in retrial("check", "clamp.toml", "--mutants", "0").stdout


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_that_want_them(folder, process, variables, coloured):
    """FORCE_COLOR stands in for a terminal."""
    done = process("check", write_task(folder, extra=GOOD), FORCE_COLOR="1", **variables)
    out, _ = done.communicate(timeout=60)
    assert ("\x1b[32m" in out) is coloured


def test_weak_tests_are_warned_about_and_refuse_nothing(folder, retrial):
    """One test, a test that code without effect passes, tests that contradict each other, invalid tests."""
    (folder / "w.toml").write_text(
        'prompt = "p"\ntests = ["assert f(1) is None", "assert f(2) == 3", "assert f(2) == 4", "assert (f(3), 1)"]\n'
    )
    done = retrial("check", "w.toml")
    assert done.exit_code == 0
    for words in (
        "tests contradict each other: 'assert f(2) == 3' and 'assert f(2) == 4'",
        "1 of 4 tests cannot be used and count for nobody; the first, 'assert (f(3), 1)': the test is invalid",
        "1 of 3 tests passes with code that does nothing: 'assert f(1) is None'",
        "no known-good output is given",
    ):
        assert f"warning  {words}" in done.stdout, words


def test_answers_and_rules_are_put_to_the_proof_too(folder, retrial):
    """The expected answer is known to be good; an upper bound alone passes a banana."""
    (folder / "n.toml").write_text('prompt = "6 times 7?"\nanswer = "42"\nevaluator = "numeric"\n')
    (folder / "r.toml").write_text('prompt = "Greet."\nevaluator = { kind = "rubric", max_words = 2 }\n')
    done = retrial("check", folder)
    assert done.exit_code == 12
    assert "the known-bad output 'banana' passes" in done.stdout
    assert "1 of 2 evaluators are sound" in done.stdout
    number, _ = json.loads(retrial("check", folder, "--json").stdout)["tasks"]
    assert number["rows"][-1]["label"] == "answer"


def test_a_judge_needs_a_model_and_a_vague_rubric_is_named(folder, retrial):
    """Without one it is a usage error; with one every known output costs a call."""
    (folder / "j.toml").write_text(
        'prompt = "Write a slogan."\nevaluator = { kind = "judge", rubric = ["At most 5 words", "sounds nice"] }\n'
    )
    refused = retrial("check", "j.toml")
    assert refused.exit_code == 4
    assert "task 'j' is judged by a model; name it with --judge-model" in refused.stderr
    judge = strict_judge(folder)
    done = retrial("check", "j.toml", "--judge-model", judge)
    assert done.exit_code == 0, done.output
    assert "warning  rubric item 'sounds nice': 'nice' is a matter of taste" in done.stdout
    assert "other_model" in done.stdout


def strict_judge(folder):
    """A recording of a judge that refuses a banana and nothing at all."""
    import asyncio

    from retrial.assembly import assemble
    from retrial.cli.bench import JUDGES
    from retrial.core.codec import encode
    from retrial.gating import gate_for
    from retrial.models.fake import FakeLLMClient
    from retrial.models.recording import RecordingClient
    from retrial.taskfile import load_tasks

    async def record():
        client = FakeLLMClient(lambda request: '{"passed": false, "reason": "no slogan"}')
        async with assemble(RecordingClient(client, folder / "judge.rec")) as engine:
            (task,) = load_tasks([folder / "j.toml"])
            await engine.run(gate_for(task, JUDGES)[0], {"task": encode(task.identified())})

    asyncio.run(record())
    return f"recorded:{folder / 'judge.rec'}"


def test_a_person_is_not_asked_about_a_banana(folder, retrial):
    """Nothing is put to a person, and that is said."""
    (folder / "p.toml").write_text('prompt = "p"\nevaluator = "person"\n')
    done = retrial("check", "p.toml")
    assert done.exit_code == 0
    assert "a person judges this task" in done.stdout


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ("[]", "has no tests, so nothing could fail"),
        ('["# nothing"]', "'# nothing' cannot be used, because it holds no statement"),
        ('["assert f("]', "'assert f(' cannot be used, because it is no valid Python"),
        ('["assert (f(1), 1)"]', "it asserts a tuple, which always holds"),
    ],
)
def test_tests_that_judge_nothing_are_named_before_anything_runs(folder, retrial, tests, words):
    """Zero tests, comments, what does not parse and what always holds: exit 4."""
    (folder / "t.toml").write_text(f'prompt = "p"\nentry_point = "f"\ntests = {tests}\n')
    done = retrial("check", "t.toml")
    assert done.exit_code == 4
    assert words in done.stderr


def test_skipped_tests_prove_nothing(folder, retrial):
    """A suite in which every test is skipped is no evaluator, and the test is named."""
    (folder / "s.toml").write_text(
        'prompt = "p"\nstyle = "unittest"\nentry_point = "add"\n'
        "tests = '''import unittest\nfrom solution import add\nclass T(unittest.TestCase):\n"
        '    @unittest.skip("later")\n    def test_it(self):\n        self.assertEqual(add(1, 2), 3)\n'
        f"'''\n{GOOD}"
    )
    done = retrial("check", "s.toml")
    assert done.exit_code == 4
    assert "'T.test_it' cannot be used, because it is skipped" in done.stderr


@pytest.mark.parametrize(("code", "exit_code", "sign"), [(RIGHT, 0, "✓"), (WRONG, 1, "✗")])
def test_an_answer_that_exists_is_judged(folder, retrial, code, exit_code, sign):
    """From a file or standard input: exit 0 passed, 1 not; --json is the verdict."""
    task = write_task(folder)
    (folder / "answer.py").write_text(code)
    done = retrial("check", task, "--output", "answer.py")
    assert done.exit_code == exit_code
    assert done.stdout.startswith(f"{sign} add · ")
    assert " · tests · " in done.stdout.splitlines()[0]
    piped = retrial("check", task, "--output", "-", "--json", input=code)
    assert piped.exit_code == exit_code
    verdict = json.loads(piped.stdout)
    assert (verdict["passed"], verdict["trust"], verdict["bad_test_count"]) == (exit_code == 0, "tests", 0)
    assert decode(Verdict, verdict).isolation.level == verdict["isolation"]["level"]


def test_an_answer_with_another_name_is_not_passed_and_the_name_is_said(folder, retrial):
    """A wrong entry point is the answer's fault."""
    done = retrial("check", write_task(folder), "--output", "-", input="def addition(a, b):\n    return a + b\n")
    assert done.exit_code == 1
    assert "add is not defined; the code defines: addition" in done.stdout


def test_contradicting_and_invalid_tests_are_named_and_the_invalid_one_is_out_of_the_score(folder, retrial):
    """One of two that contradict each other fails by name; a tuple counts for nobody."""
    (folder / "c.toml").write_text(
        'prompt = "p"\nentry_point = "f"\ntests = ["assert f(1) == 1", "assert f(1) == 2", "assert (f(1), 1)"]\n'
    )
    done = retrial("check", "c.toml", "--output", "-", "--json", input="def f(n):\n    return n\n")
    verdict = json.loads(done.stdout)
    assert (done.exit_code, verdict["score"], verdict["bad_test_count"], verdict["valid_count"]) == (1, 0.5, 1, 2)
    assert [check["name"] for check in verdict["checks"] if not check["passed"]] == [
        "assert f(1) == 2",
        "assert (f(1), 1)",
    ]


def test_output_is_for_one_task_and_one_answer(folder, retrial):
    """Other combinations, files that are missing and files that are no text are refused."""
    one, two = write_task(folder), write_task(folder, "two")
    assert retrial("check", one, two, "--output", "-", input="x").exit_code == 4
    assert retrial("check", one, "--output", "-", "--good", "x", input="x").exit_code == 4
    (folder / "bytes.py").write_bytes(b"x = '\xff'")
    bad = retrial("check", one, "--output", "bytes.py")
    assert (bad.exit_code, "bytes.py is not UTF-8 (byte 5)" in bad.stderr) == (4, True)
    gone = retrial("check", one, "--good", "gone.py")
    assert gone.exit_code == 4
    assert "cannot read 'gone.py': No such file or directory; check the name" in gone.stderr
    assert retrial("check", folder / "gone.toml").exit_code == 4


def test_a_gate_stands_before_a_run(folder, retrial):
    """Behind a sound evaluator the run goes on; what was put to it can be shown, and replayed."""
    task = write_task(folder, extra=GOOD)
    model = make_recording(folder / "r.rec", [task], learns)
    done = retrial("run", task, "--model", model, "--gate", "--json")
    assert done.exit_code == 0, done.stderr
    assert "1 evaluator proved sound" in done.stderr
    gate = done.stderr.partition("retrial show ")[2].split()[0]
    assert "evaluator sound" in retrial("runs").stdout
    shown = retrial("show", gate)
    assert "sound" in shown.stdout
    assert "known_good 1" in shown.stdout
    assert retrial("replay", gate).exit_code == 0
    assert json.loads(retrial("show", "last", "--json").stdout)["metadata"]["gate"] == gate


def test_a_gate_that_refuses_begins_nothing(folder, retrial):
    """Exit 12; every evaluator that is refused is named and nothing was asked of a model."""
    good = write_task(folder, "good", extra=GOOD)
    (folder / "bad.toml").write_text('prompt = "p"\nentry_point = "f"\ntests = ["assert f(1) is None"]\n')
    model = make_recording(folder / "r.rec", [good], learns)
    done = retrial("run", good, "bad.toml", "--model", model, "--gate")
    assert done.exit_code == 12
    assert "task 'bad' is refused: the known-bad output 'stub' passes" in done.stdout
    assert "nothing was begun" in done.stderr
    listed = json.loads(retrial("runs", "--json").stdout)["runs"]
    assert sorted((row["task_id"], row["algorithm"], row["usage"]["calls"]) for row in listed) == [
        ("bad", "gate", 0),
        ("good", "gate", 0),
    ]
    refused = retrial("run", good, "bad.toml", "--model", model, "--gate", "--json")
    assert [one["task_id"] for one in json.loads(refused.stdout)["refused"]] == ["bad"]


def test_the_calls_of_a_gate_are_foretold(folder, retrial, monkeypatch):
    """A judge that proves itself is asked, and the bound says so."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    (folder / "j.toml").write_text('prompt = "p"\nevaluator = { kind = "judge", rubric = "At most 5 words" }\n')
    words = ("run", "j.toml", "--model", "openai:gpt-5-mini", "--judge-model", "openai:gpt-5", "--dry-run", "--json")
    plain, gated = json.loads(retrial(*words).stdout), json.loads(retrial(*words, "--gate").stdout)
    assert gated["gate_calls"] == 4
    assert gated["max_calls"] == plain["max_calls"] + 4
    assert gated["max_cost_usd"] > plain["max_cost_usd"]


@pytest.mark.skipif(sys.platform != "linux", reason="rustc is looked for where Linux has it")
def test_a_shared_process_is_said(folder, retrial):
    """In Rust tests and code are one program, and every place that shows a verdict says so."""
    import shutil

    if shutil.which("rustc") is None:
        pytest.skip("needs rustc")
    (folder / "r.toml").write_text(
        'prompt = "p"\nstyle = "rust"\nentry_point = "add"\ntests = ["assert_eq!(add(1, 2), 3);"]\n'
    )
    code = "fn add(a: i32, b: i32) -> i32 { a + b }"
    done = retrial("check", "r.toml", "--output", "-", input=code)
    assert "tests and code share a process" in done.stdout
    assert json.loads(retrial("check", "r.toml", "--output", "-", "--json", input=code).stdout)["shared_process"]
    model = make_recording(folder / "r.rec", [folder / "r.toml"], lambda request: code)
    assert retrial("run", "r.toml", "--model", model).exit_code == 0
    assert "tests and code share a process" in retrial("show", "last").stdout


def test_a_known_output_whose_file_is_missing_is_named_with_its_field(folder, retrial):
    """The advice is about the field that names the file, not about making a task."""
    done = retrial("check", write_task(folder, extra='known_bad = [{ file = "gone.py" }]'))
    assert done.exit_code == 4
    assert "known_bad of" in done.stderr
    assert "retrial new" not in done.stderr
