"""Seed 5, Reflexion beyond code: each row of the table is a configuration of the one loop."""

from __future__ import annotations

import json
import sqlite3

from retrial.assembly import solve_async
from retrial.core.tasks import Task
from worlds import Model, reply, said

LESSON = "Next time, follow what the check asks for."


async def learn(tmp_path, task, wrong, right, *, judge=None):
    """Solve a task with a model that is wrong until it was told a lesson; return the result and what was asked."""

    def answer(request):
        if request.role == "judge":
            return reply(judge(said(request)))
        if request.role == "reflector":
            return reply(LESSON)
        return reply(right if LESSON in said(request) else wrong)

    model = Model(answer)
    result = await solve_async(task, model=model, store=tmp_path / "store.db")
    assert (result.passed, len(result.attempts)) == (True, 2)
    return said(model.asked("reflector")[0])


SCHEMA = {
    "type": "object",
    "required": ["enrolments"],
    "properties": {
        "enrolments": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["student", "course", "date"],
                "properties": {"date": {"type": "string", "format": "date"}},
            },
        }
    },
}


def enrolment(date):
    return json.dumps({"enrolments": [{"student": "Ada", "course": "SQL", "date": date}]})


async def test_json_extraction_by_schema_validation(tmp_path):
    """Dates as "15 Nov" where YYYY-MM-DD is asked for: the reflector reads the place, the value and the form."""
    task = Task(id="x", prompt="Extract: Ada joins SQL on 15 Nov.", evaluator={"kind": "json_schema", "schema": SCHEMA})
    seen = await learn(tmp_path, task, enrolment("15 Nov"), f"```json\n{enrolment('2026-11-15')}\n```")
    assert 'enrolments[0].date: "15 Nov" is not a date YYYY-MM-DD' in seen


async def test_exercise_3_a_pydantic_model_as_the_evaluator(tmp_path):
    """The validation error is what the reflector is told."""
    task = Task(id="x", prompt="Extract it.", evaluator={"kind": "pydantic_model", "model": "shapes:Message"})
    seen = await learn(tmp_path, task, enrolment("Nov the 15th"), enrolment("2026-11-15"))
    assert 'enrolments[0].date: "Nov the 15th": Input should be a valid date' in seen


async def test_summarisation_by_a_number_check_and_a_faithfulness_check(tmp_path):
    """A number and a reason that the source does not hold; the cheap check is asked first and saves the judge."""
    source = "Enrolments rose from 1,200 to 1,350 in 2026."
    parts = [
        {"kind": "faithfulness", "source": source},
        {"kind": "rubric", "numbers_in_source": True, "source": source},
    ]
    asked = []

    def judge(prompt):
        asked.append(prompt)
        return json.dumps(
            {"claims": [{"claim": "they rose", "supported": "popular" not in prompt, "why": "no reason"}]}
        )

    task = Task(id="s", prompt=f"Summarise: {source}", evaluator={"kind": "first_failing", "parts": parts})
    seen = await learn(tmp_path, task, "They rose by 150.", "They rose to 1350.", judge=judge)
    assert "these numbers are not in the source: 150" in seen
    assert len(asked) == 1
    task = Task(id="t", prompt=f"Summarise: {source}", evaluator={"kind": "all_of", "parts": parts})
    seen = await learn(tmp_path, task, "They rose as SQL is popular.", "They rose to 1,350.", judge=judge)
    assert "'they rose': no reason" in seen


async def test_sql_generation_by_running_the_query_on_a_database(tmp_path):
    """A join on the wrong column returns other rows; the expected query is never told."""
    path = tmp_path / "school.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE student (id, name); INSERT INTO student VALUES (1, 'Ada'), (2, 'Bo');"
            "CREATE TABLE enrolment (id, student_id); INSERT INTO enrolment VALUES (2, 1);"
        )
    connection.close()
    gold = "SELECT name FROM student JOIN enrolment ON student.id = student_id"
    spec = {"kind": "sql", "database": str(path)}
    task = Task(id="q", prompt="Who is enrolled?", answer=gold, evaluator=spec)
    wrong = "SELECT name FROM student JOIN enrolment USING (id)"
    seen = await learn(tmp_path, task, wrong, gold.replace("name", "student.name"))
    assert "the query ran and returned 1 row of 1 column, not the expected result" in seen
    assert "Ada" not in seen


async def test_agent_tasks_by_a_success_check_and_the_repeated_action(tmp_path):
    """The same action three times is named, and so is a goal that was not reached."""
    spec = {"kind": "rubric", "required": ["Observation: enrolled"], "max_same_action": 2}
    task = Task(id="a", prompt="Enrol Ada in the course.", evaluator=spec)
    looping = "Action: search Pyhton\nObservation: nothing\n" * 3
    right = "Action: list courses\nObservation: Python\nAction: enrol Ada\nObservation: enrolled"
    seen = await learn(tmp_path, task, looping, right)
    assert "the action 'search Pyhton' was repeated 3 times" in seen
    assert "does not say 'Observation: enrolled'" in seen
