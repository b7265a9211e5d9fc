"""Queries: judged by what they return, on a database that nothing they say can change."""

from __future__ import annotations

import hashlib
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging import judged, verdict_on
from retrial.core.tasks import Status, Task
from retrial.errors import ConfigError, HostError
from retrial.evaluate import SqlHandler, evaluator_from
from retrial.evaluate.result_sets import orders_rows, same_rows
from retrial.evaluate.sql import Sql, query_in
from retrial.evaluate.sql_handler import run_query

SCHEMA = """
CREATE TABLE student (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, city TEXT COLLATE NOCASE);
CREATE TABLE enrolment (student_id INTEGER, course TEXT COLLATE NOCASE, fee REAL);
INSERT INTO student VALUES (1, 'Ada', 'Paris'), (2, 'Bo', 'Rome'), (3, 'Cy', NULL);
INSERT INTO enrolment VALUES (1, 'SQL', 10.1), (1, 'Rust', 20.2), (2, 'SQL', 10.1);
"""
NAMES = Task(
    id="names", prompt="Who is enrolled?", answer="SELECT DISTINCT name FROM student JOIN enrolment ON id = student_id"
)
ORDERED = Task(id="o", prompt="Names by id, last first", answer="SELECT name, id FROM student ORDER BY id DESC")


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    path = tmp_path_factory.mktemp("sql") / "school.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA)
    connection.close()
    return path


@pytest.fixture
def ask(school):
    async def ask(output, task=NAMES, **options):
        evaluator = Sql(database="school", **options)
        return await verdict_on(evaluator, output, task, handlers=[SqlHandler({"school": school})])

    return ask


@pytest.mark.parametrize(
    "output",
    [
        "",
        "banana",
        "None",
        "SELECT",
        "SELECT 1",
        "SELECT name FROM student",
        "SELECT name FROM student WHERE 0",
        "DROP TABLE student",
    ],
)
async def test_a_known_bad_output_fails(ask, output):
    """Emptiness, a banana, a query with other rows, and what is no query."""
    verdict = await ask(output)
    assert (verdict.passed, verdict.trust) == (False, "match")
    assert verdict.score < 1
    assert verdict.reason


@pytest.mark.parametrize(
    "output",
    [
        "SELECT name FROM student WHERE id IN (SELECT student_id FROM enrolment)",
        "```sql\nSELECT name FROM student WHERE id < 3 ORDER BY name DESC;\n```",
        "Here it is:\n\n```\nWITH e AS (SELECT student_id FROM enrolment)\nSELECT DISTINCT s.name AS who FROM e JOIN student s ON s.id = e.student_id\n```\nIt joins both tables.",
        "The query is: select name from student where city is not null;\n\nIt selects all.",
        "VALUES ('Bo'), ('Ada')",
    ],
)
async def test_a_query_with_the_same_rows_passes_however_it_is_written(ask, output):
    """In a fence or in prose, with another order of rows and other names of columns."""
    verdict = await ask(output)
    assert (verdict.passed, verdict.score, verdict.reason) == (True, 1.0, "")


async def test_order_counts_where_the_expected_query_orders(ask):
    """The same rows in another order fail, with the order as the reason; columns may be exchanged."""
    right = await ask("SELECT id, name FROM student ORDER BY id DESC", ORDERED)
    wrong = await ask("SELECT name, id FROM student ORDER BY id", ORDERED)
    assert right.passed
    assert not wrong.passed
    assert "wrong order" in wrong.reason
    assert not (await ask("SELECT id, name FROM student ORDER BY id DESC", ORDERED, ordered_columns=True)).passed


async def test_results_without_rows_are_the_same_only_with_as_many_columns(ask):
    """Nothing is equal to nothing as far as it can be told."""
    task = Task(id="none", prompt="?", answer="SELECT name FROM student WHERE city = 'Oslo'")
    assert (await ask("SELECT name FROM student WHERE city = 'Bergen'", task)).passed
    verdict = await ask("SELECT name, id FROM student WHERE 0", task)
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert verdict.reason == "the query ran and returned no rows of 2 columns, not the expected result"


async def test_the_message_is_sqlites_in_words(ask):
    """A misspelt column is named."""
    assert (await ask("SELECT nme FROM student")).reason == "the query does not run: no such column: nme"
    assert "no such table: studnet" in (await ask("SELECT name FROM studnet")).reason


async def test_expected_rows_are_shown_only_on_request(ask):
    """Without show_expected neither the number nor a row of the expected result is said."""
    hidden, shown = await ask("SELECT name FROM student"), await ask("SELECT name FROM student", show_expected=True)
    assert (
        hidden.reason
        == "the query ran and returned 3 rows of 1 column, not the expected result, though some rows are right"
    )
    assert "Bo" not in f"{hidden}"
    assert (
        shown.reason
        == "the query returned 3 rows of 1 column, expected 2 rows of 1 column; first differing row ('Cy',), expected none"
    )
    ordered = await ask("SELECT name, id FROM student ORDER BY id", ORDERED, show_expected=True)
    assert "('Ada', 1), expected ('Cy', 3)" in ordered.reason


ATTACKS = [
    "DELETE FROM student",
    "INSERT INTO student VALUES (9, 'x', 'y')",
    "UPDATE student SET name = 'x'",
    "CREATE TABLE x (a)",
    "CREATE TEMP TABLE x (a)",
    "ATTACH DATABASE ':memory:' AS x",
    "ATTACH DATABASE '/etc/passwd' AS x",
    "DETACH DATABASE main",
    "PRAGMA writable_schema = 1",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA user_version = 7",
    "PRAGMA table_info(student)",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "VACUUM INTO '/tmp/retrial-stolen.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT x",
    "SELECT 1; DROP TABLE student",
    "WITH x AS (SELECT 1) DELETE FROM student",
    "EXPLAIN DELETE FROM student",
    "SELECT zeroblob(2000000000)",
    "SELECT replace(hex(printf('%.*c', 900000, 'x')), '7', '77777')",
    "SELECT group_concat(hex(randomblob(100000)), '') FROM student",
]


@pytest.mark.parametrize("query", ATTACKS)
async def test_nothing_but_reading_is_possible(school, query):
    """Writes, other files, extensions, settings and giants are refused in words, and the file stays as it was."""
    before = hashlib.sha256(school.read_bytes()).digest()
    found = run_query(school, query, max_rows=10, timeout=5)
    assert found.get("error"), found
    assert hashlib.sha256(school.read_bytes()).digest() == before
    assert [path.name for path in school.parent.iterdir()] == ["school.sqlite"]


@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c ORDER BY x DESC",
    ],
)
async def test_an_endless_query_ends_in_time_and_fails(ask, query):
    """The limit is told as the reason."""
    verdict = await ask(query, timeout=0.2)
    assert "did not end within 0.2 seconds" in verdict.reason


async def test_too_many_rows_fail(ask, school):
    """A result beyond the limits is not compared, and not kept."""
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    assert "more than 100 rows" in (await ask(endless, max_rows=100)).reason
    wide = endless.replace("SELECT x FROM c", "SELECT printf('%100000d', x) FROM c")
    found = run_query(school, wide, max_rows=10_000, timeout=5)
    assert found["more"]
    assert len(found["rows"]) < 100


async def test_what_is_not_the_querys_fault_is_no_verdict(school, tmp_path):
    """A missing or broken database ends the run; an expected query that fails is a broken evaluator."""
    (tmp_path / "broken.db").write_text("no database at all, " * 100)
    handlers = [SqlHandler({"school": school, "broken": tmp_path / "broken.db"})]
    for database, task, message in (
        ("shcool", NAMES, "there is no database 'shcool'; known are broken, school"),
        ("broken", NAMES, "cannot be read"),
        ("school", Task(id="t", prompt="p", answer="SELECT x FROM y"), "its own query"),
        ("school", Task(id="t", prompt="p"), "has no answer"),
        (None, NAMES, "names no database"),
    ):
        verdict, result = await judged(Sql(database=database), "SELECT 1", task, handlers=handlers)
        assert (verdict, result.status) == (None, Status.FAILED)
        assert message in result.error
    with pytest.raises(HostError):
        run_query(tmp_path, "SELECT 1", max_rows=1, timeout=1)


async def test_a_folder_of_databases_is_found_by_name_and_another_answer_is_right_too(school):
    """The task's metadata name the database; any accepted query decides."""
    task = Task(id="t", prompt="p", answer="SELECT 7", answers=(NAMES.answer,), metadata={"database": "school"})
    verdict = await verdict_on(
        Sql(), "SELECT name FROM student WHERE id < 3", task, handlers=[SqlHandler(folder=school.parent)]
    )
    assert verdict.passed


def test_what_cannot_be_is_refused():
    """Limits are above 0."""
    for options in ({"timeout": 0}, {"max_rows": 0}, {"databse": "x"}):
        with pytest.raises(ConfigError):
            evaluator_from({"kind": "sql", **options})


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("select a from t order   by a", True),
        ("select a from t where b in (select c from d order by c limit 3)", False),
        ("select a from t -- order by a", False),
        ("select 'order by', [order by] from t /* order by */", False),
        ("select a from t order\nby (select 1)", True),
    ],
)
def test_only_an_order_at_the_top_level_orders(query, ordered):
    """Subqueries, texts, names and comments do not."""
    assert orders_rows(query) is ordered


def test_a_query_is_taken_out_of_a_reply():
    """The last SQL fence wins; prose around a bare query goes."""
    assert query_in("```sql\nSELECT 1;\n```\nor better\n```sql\nSELECT 2;\n```") == "SELECT 2"
    assert query_in("I select what you asked for, with care.") != ""
    assert query_in("No idea.") == ""
    assert query_in("`SELECT a FROM t`") == "SELECT a FROM t"


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.sampled_from([0.1, 2.0])), max_size=6
)


@given(ROWS, st.randoms(use_true_random=False))
def test_results_are_the_same_under_any_order_of_rows_and_columns(rows, chance):
    """Shuffled rows and permuted columns are the same multiset; with one row more or less they are not."""
    columns = [0, 1, 2]
    chance.shuffle(columns)
    other = [tuple(row[column] for column in columns) for row in rows]
    assert same_rows(other, rows, ordered=True)
    chance.shuffle(other)
    assert same_rows(other, rows, ordered=False)
    assert not same_rows([*other, (9, "z", 9.0)], rows, ordered=False)
    if rows:
        assert not same_rows([(7, "z", 9.0), *rows[1:]], rows, ordered=False)


def test_floats_are_compared_to_nine_digits_and_duplicates_count():
    """0.1 + 0.2 is 0.3; twice is not once."""
    assert same_rows([(0.1 + 0.2,)], [(0.3,)], ordered=False)
    assert not same_rows([(0.31,)], [(0.3,)], ordered=False)
    assert not same_rows([(1,), (1,), (2,)], [(1,), (2,), (2,)], ordered=False)
    assert not same_rows([("1",)], [(1,)], ordered=False)
    assert same_rows([("A",)], [("a",)], ordered=False, ignore_case=True)
