"""Task files: every mistake is answered with the place and the next step."""

from __future__ import annotations

import json
import tomllib

import pytest

from retrial.errors import ConfigError
from retrial.taskfile import STYLES, TEMPLATE, load_tasks
from retrial.testbench.styles import RUST
from retrial.testbench.styles import STYLES as JUDGED

GOOD = 'prompt = "p"\ntests = ["assert f() == 1"]\n'


def load(folder, text, name="task.toml"):
    path = folder / name
    path.write_text(text)
    return load_tasks([path])


def test_a_task_is_read_with_the_file_as_its_name(tmp_path):
    """Prompt, tests and cases are read; the id is the file's name."""
    (task,) = load(tmp_path, GOOD + 'cases = [{ call = "f(2)", expected = [1, "a"] }]\ntimeout = 5\n')
    assert (task.id, task.prompt, task.timeout) == ("task", "p", 5.0)
    assert task.tests == ("assert f() == 1", "assert f(2) == [1, 'a']")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('promt = "p"\n' + GOOD, r"line 1: 'promt' is no field of a task; did you mean 'prompt'"),
        (GOOD + "timeout = 0\n", r"line 3: timeout = 0 must be above 0"),
        (GOOD + 'timeout = "5"\n', r"line 3: timeout = '5' must be a number"),
        (GOOD + "timeout = true\n", r"line 3: timeout = True must be a number"),
        ('prompt = "p"\ntests = []\n', "no tests, so nothing could fail"),
        ('tests = ["assert 1"]\n', "no prompt"),
        ('prompt = "p"\n\ntests = [1]\n', r"line 3: tests holds 1"),
        ('prompt = "p"\ncases = [{ call = "f()" }]\n', r"line 2: a case is"),
        ('prompt = "p"\ncheck = "def check(c): ..."\n', "entry_point"),
        (GOOD + 'check = "x"\nentry_point = "f"\n', "'check' and 'tests' are both given"),
        ('prompt = "p\n', r"task.toml: .*line 1"),
        (GOOD + "[wrong]\nx = 1\n", r"line 3: 'wrong' is no field"),
        (GOOD + 'style = "pytst"\n', r"line 3: style = 'pytst' is no style of tests; did you mean 'pytest'"),
        (
            GOOD + 'style = "xyz"\n',
            r"line 3: style = 'xyz' is no style of tests; it can be one of asserts, check, table",
        ),
        (GOOD + "style = 3\n", r"line 3: style = 3 must be a text"),
        (GOOD + 'style = "check"\n', r"line 3: style = 'check' and the tests do not match; put the tests into check"),
        (
            'prompt = "p"\nentry_point = "f"\nstyle = "rust"\ncheck = "x"\n',
            r"line 3: style = 'rust' and the tests do not match",
        ),
        (
            'prompt = "p"\ntests = "assert f()"\n',
            r"line 2: tests is a text, and style 'asserts' wants a list; a text holds whole files: add style = \"pytest\"",
        ),
        ('prompt = "p"\nstyle = "table"\ntests = "x"\n', r"line 3: tests is a text, and style 'table' wants a list"),
        ('prompt = "p"\nstyle = "pytest"\ntests = " "\n', r"line 3: tests is empty, so nothing could fail"),
        ('prompt = "p"\nstyle = "pytest"\ntests = 3\n', r"line 3: tests = 3 must be a list or a text"),
        (
            GOOD + 'style = "pytest"\ncases = [{ call = "f()", expected = 1 }]\n',
            r"line 4: 'cases' are no tests of style 'pytest'",
        ),
        (GOOD + 'hidden_style = "x"\n', r"line 3: hidden_style = 'x' is no style"),
        ('prompt = "p"\nanswer = []\n', r"line 2: answer = \[\] must be a text"),
        ('prompt = "p"\nanswer = true\n', r"line 2: answer = True must be a text"),
        ('prompt = "p"\nanswers = [1]\n', r"line 2: answers holds 1"),
        ('prompt = "p"\nevaluator = 1\n', r"line 2: evaluator = 1 must be a table"),
        (
            'prompt = "p"\nanswer = "a"\nevaluator = "normalized"\n',
            r"line 3: no evaluator is called 'normalized'; did you mean 'normalised'",
        ),
        ('prompt = "p"\nanswer = "a"\n\n[evaluator]\nkind = "f1"\nthreshold = 2\n', r"line 4: f1: threshold=2"),
        ('prompt = "p"\nanswer = 1\nevaluator = { kind = "numeric", tolerance = 1 }\n', r"line 3: .*'tolerance'"),
    ],
)
def test_a_mistake_names_the_line_and_the_next_step(tmp_path, text, told):
    """What is wrong, where, and what would be right."""
    with pytest.raises(ConfigError, match=told):
        load(tmp_path, text)


@pytest.mark.parametrize("style", ["unittest", "pytest", "doctest", "rust"])
def test_whole_files_of_tests_are_given_as_one_text(tmp_path, style):
    """One text, or a list of texts, with the style that says how to read them; hidden tests are written alike."""
    text = f'prompt = "p"\nstyle = "{style}"\nhidden_tests = ["c"]\n'
    (task,) = load(tmp_path, text + 'tests = """\na\nb\n"""\n')
    assert (task.style, task.tests) == (style, ("a\nb\n",))
    assert (task.hidden_style, task.hidden_tests) == (style, ("c",))
    (task,) = load(tmp_path, text + 'tests = ["a", "b"]\n')
    assert task.tests == ("a", "b")


def test_cases_are_rows_of_a_table_or_asserts(tmp_path):
    """With style table the expected value stays data."""
    text = (
        'prompt = "p"\nstyle = "table"\ncases = [{ call = "f(2)", expected = [1, "a"] }]\ntests = [\'["f(1)", 2]\']\n'
    )
    (task,) = load(tmp_path, text)
    assert task.tests == ('["f(1)", 2]', '["f(2)", [1, "a"]]')


def test_asserts_can_be_hidden_behind_a_check_function(tmp_path):
    """Hidden tests have a style of their own: a list beside a check function holds asserts, unless the file says more."""
    text = 'prompt = "p"\nentry_point = "f"\ncheck = "def check(c): assert c()"\n'
    (task,) = load(tmp_path, text + 'hidden_tests = ["assert f()"]\n')
    assert (task.style, task.hidden_style) == ("check", "asserts")
    (task,) = load(tmp_path, text + 'hidden_style = "doctest"\nhidden_tests = ">>> f()"\n')
    assert (task.hidden_style, task.hidden_tests) == ("doctest", (">>> f()",))


def test_the_styles_are_those_of_the_test_bench():
    """What a file may say is what can be judged."""
    assert {*STYLES} == {*JUDGED, RUST}


def test_files_that_cannot_be_read_are_named(tmp_path):
    """A missing file, another ending, and bytes that are no text."""
    with pytest.raises(ConfigError, match="nothing.toml"):
        load_tasks([tmp_path / "nothing.toml"])
    with pytest.raises(ConfigError, match="a task is a .toml file"):
        load(tmp_path, GOOD, "task.txt")
    (tmp_path / "bytes.toml").write_bytes(b"prompt = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_tasks([tmp_path / "bytes.toml"])


def test_a_folder_stands_for_its_files_and_an_id_is_used_once(tmp_path):
    """Files of a folder are read in order of their names, and two tasks with one id are refused."""
    (tmp_path / "b.toml").write_text(GOOD)
    (tmp_path / "a.toml").write_text(GOOD)
    (tmp_path / "notes.md").write_text("no task")
    assert [task.id for task in load_tasks([tmp_path])] == ["a", "b"]
    (tmp_path / "c.toml").write_text('id = "a"\n' + GOOD)
    with pytest.raises(ConfigError, match=r"'a' stands in .*a.toml and in .*c.toml"):
        load_tasks([tmp_path])


def test_humaneval_shaped_lines_are_read(tmp_path):
    """A JSONL line becomes a task whose prompt can be continued, judged by its check function."""
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def f():\n",
        "entry_point": "f",
        "test": "def check(c): assert c() == 1",
        "x": 1,
    }
    (task,) = load(tmp_path, json.dumps(row) + "\n\n", "tasks.jsonl")
    assert (task.id, task.style, task.completes, task.entry_point) == ("HumanEval/0", "check", True, "f")
    with pytest.raises(ConfigError, match="line 1: 'test' is missing"):
        load(tmp_path, '{"task_id": 1, "prompt": "p", "entry_point": "f"}', "tasks.jsonl")
    with pytest.raises(ConfigError, match="line 1: not JSON"):
        load(tmp_path, "{", "tasks.jsonl")


def test_the_template_is_a_task_that_can_be_run(tmp_path):
    """What ``retrial new`` writes is valid and has tests."""
    text = TEMPLATE.format(name="mine", function="mine")
    (task,) = load(tmp_path, text)
    assert len(task.tests) == 3
    assert tomllib.loads(text)["entry_point"] == "mine"


def test_an_answer_or_an_evaluator_stands_in_the_place_of_tests(tmp_path):
    """An answer alone is a normalised match; an evaluator is a kind or a table; numbers become text."""
    assert load(tmp_path, 'prompt = "p"\nanswer = 42\n')[0].evaluator == {"kind": "normalised"}
    (task,) = load(tmp_path, 'prompt = "p"\nanswer = 1.5\nanswers = ["1.6"]\nevaluator = "numeric"\n')
    assert (task.accepted, task.evaluator) == (("1.5", "1.6"), {"kind": "numeric"})
    (task,) = load(tmp_path, 'prompt = "p"\n[evaluator]\nkind = "judge"\nrubric = ["names the price"]\n')
    assert task.evaluator == {"kind": "judge", "rubric": ["names the price"]}
    assert load(tmp_path, GOOD + 'answer = "a"\n')[0].evaluator is None


def test_a_database_beside_the_task_file_is_found_from_everywhere(tmp_path):
    """A relative name is made whole, inside a composition too."""
    (tmp_path / "school.db").write_bytes(b"")
    part = '{ kind = "sql", database = "school.db" }'
    for evaluator in (part, f'{{ kind = "all_of", parts = [{part}] }}'):
        (task,) = load(tmp_path, f'prompt = "p"\nanswer = "SELECT 1"\nevaluator = {evaluator}\n')
        spec = task.evaluator.get("parts", [task.evaluator])[0]
        assert spec["database"] == str(tmp_path / "school.db")


@pytest.mark.parametrize("value", ["nan", "1979-05-27", "[1979-05-27]"])
def test_an_expected_value_without_a_literal_is_refused(tmp_path, value):
    """A value that no answer could equal is refused before a model is asked."""
    with pytest.raises(ConfigError, match="cannot be written as a literal"):
        load(tmp_path, f'prompt = "p"\ncases = [{{ call = "f()", expected = {value} }}]\n')


def test_infinity_is_written_so_that_an_answer_can_equal_it(tmp_path):
    """An infinite value becomes a call of float."""
    (task,) = load(tmp_path, 'prompt = "p"\ncases = [{ call = "f()", expected = -inf }]\n')
    assert task.tests == ("assert f() == float('-inf')",)


def test_a_line_separator_within_a_string_is_no_line_end(tmp_path):
    """JSON may hold U+2028 as it is."""
    row = {"task_id": 7, "prompt": "a\u2028b", "entry_point": "f", "test": "def check(c): assert c()"}
    (task,) = load(tmp_path, json.dumps(row, ensure_ascii=False), "tasks.jsonl")
    assert (task.id, task.prompt) == ("7", "a\u2028b")
    with pytest.raises(ConfigError, match="'prompt' is None"):
        load(tmp_path, json.dumps({**row, "prompt": None}), "tasks.jsonl")


def test_nesting_without_end_is_refused(tmp_path):
    """A file that nests deeper than Python can read is a mistake in the file."""
    with pytest.raises(ConfigError):
        load(tmp_path, GOOD + "metadata.x = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(ConfigError):
        load(tmp_path, "[" * 200_000, "tasks.jsonl")


def test_known_outputs_are_texts_and_files_beside_the_task(tmp_path):
    """Each has a label by which the gate names it; a row's canonical solution is known to be good."""
    (tmp_path / "right.py").write_text("def f(n): return n\n")
    extra = 'known_good = [{ file = "right.py" }, "def f(n): return +n"]\nknown_bad = "def f(n): return -n"\n'
    (task,) = load(tmp_path, GOOD + extra)
    assert task.known_good == {"right.py": "def f(n): return n\n", "known_good 2": "def f(n): return +n"}
    assert task.known_bad == {"known_bad": "def f(n): return -n"}
    row = {"task_id": "t", "prompt": "def f():", "entry_point": "f", "test": "def check(candidate): assert candidate()"}
    path = tmp_path / "rows.jsonl"
    path.write_text(
        json.dumps(row | {"canonical_solution": "    return 1\n"}) + "\n" + json.dumps(row | {"task_id": 2})
    )
    with_solution, without = load_tasks([path])
    assert with_solution.known_good == {"canonical_solution": "    return 1\n"}
    assert without.known_good == {}


@pytest.mark.parametrize(
    "value", ['[{ file = "gone.py" }]', "[1]", '[{ files = "x" }]', '[{ file = "a", name = "b" }]']
)
def test_known_outputs_of_another_form_are_refused(tmp_path, value):
    """With the file and the line, or the name of the file that is not there."""
    with pytest.raises(ConfigError, match=r"gone\.py|line \d+: known_good holds"):
        load(tmp_path, f"{GOOD}known_good = {value}\n")
