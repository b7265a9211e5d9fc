"""A query returns what the expected query returns, on a database that neither of them can change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError, EvaluatorError
from retrial.evaluate.answers import short
from retrial.evaluate.match import expected_of
from retrial.evaluate.result_sets import Row, first_difference, orders_rows, overlap, same_rows

__all__ = ["Sql", "query_in"]

_FENCE = re.compile(r"^[ \t]*+```[ \t]*+(\w*+)[^\n]*+\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_BEGINS = re.compile(r"^[ \t]*(?:select|with|values)\b", re.IGNORECASE | re.MULTILINE)
_INSIDE = re.compile(r"\b(?:select|with)\b", re.IGNORECASE)


class Sql:
    """Judges a reply that holds a query by running it; the task's answers are queries that are right.

    Args:
        database: the name of the database, or its path; None for ``metadata["database"]`` of the task.
        ordered_columns: whether columns have to stand in the order of the expected query; Spider's test lets them not.
        ignore_case: whether texts in the results are compared without case.
        timeout: seconds for one query, above 0.
        max_rows: the most rows of a result; one that has more fails.
        show_expected: whether the reason says how many rows were expected and shows the first that differ.

    Order counts where the expected query orders its rows at the top level. The score is 1 for equal results; otherwise
    the share of rows in common, at most 0.9, and 0 for a query that does not run.
    """

    max_calls = 0

    def __init__(
        self,
        *,
        database: str | None = None,
        ordered_columns: bool = False,
        ignore_case: bool = False,
        timeout: float = 5.0,
        max_rows: int = 10_000,
        show_expected: bool = False,
    ) -> None:
        if not 0 < timeout <= 600:
            raise ConfigError(f"sql: timeout={timeout!r} is not possible; it is above 0 and at most 600")
        if max_rows < 1:
            raise ConfigError(f"sql: max_rows={max_rows!r} is not possible; it is at least 1")
        self._database, self._ordered_columns, self._ignore_case = database, ordered_columns, ignore_case
        self._timeout, self._max_rows, self._show = timeout, max_rows, show_expected

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {
            "kind": "sql",
            "database": self._database,
            "ordered_columns": self._ordered_columns,
            "ignore_case": self._ignore_case,
            "timeout": self._timeout,
            "max_rows": self._max_rows,
            "show_expected": self._show,
        }

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``.

        Raises:
            EvaluatorError: if the task names no database or no query, or its own query does not run.
        """
        expected = expected_of(task)
        database = self._database or task.metadata.get("database")
        if not isinstance(database, str):
            raise EvaluatorError(f'task {task.id!r} names no database; give the evaluator database = "..."')
        query = query_in(output)
        if not query:
            return _failed("the reply holds no query: give one SELECT", "", 0.0)
        found = await self._ask(run, "query", database, query)
        if "error" in found:
            return _failed(f"the query does not run: {found['error']}", query, 0.0)
        verdicts: list[Verdict] = []
        for number, gold in enumerate(expected, 1):
            wanted = await self._ask(run, f"expected.{number}", database, gold)
            if "error" in wanted or wanted["more"]:
                why = wanted.get("error", f"it returns more than {self._max_rows} rows")
                raise EvaluatorError(f"task {task.id!r}: its own query {gold!r} cannot be used: {why}")
            verdicts.append(self._compared(query, found, wanted, orders_rows(gold)))
            if verdicts[-1].passed:
                break
        return max(verdicts, key=lambda verdict: verdict.score)

    async def _ask(self, run: Run, name: str, database: str, query: str) -> Mapping[str, Any]:
        given = {"database": database, "query": query, "max_rows": self._max_rows, "timeout": self._timeout}
        return cast("Mapping[str, Any]", await run.host(name, "sql", given, repeatable=True))

    def _compared(self, query: str, found: Mapping[str, Any], wanted: Mapping[str, Any], ordered: bool) -> Verdict:
        """The verdict about a query that ran."""
        rows, theirs = _rows(found), _rows(wanted)
        if found["more"]:
            return _failed(f"the query returns more than {self._max_rows} rows", query, 0.0)
        shape, expected = _shape(found), _shape(wanted)
        # Two results without rows say little, so their columns have to be as many.
        if (rows or shape == expected) and self._same(rows, theirs, ordered=ordered):
            check = Check(name="result", passed=True, input=query, actual=shape, kind="match")
            return Verdict(passed=True, score=1.0, answer=query, checks=(check,), trust="match")
        score = min(overlap(rows, theirs, ignore_case=self._ignore_case), 0.9) if rows else 0.0
        unordered = bool(rows) and ordered and self._same(rows, theirs, ordered=False)
        if unordered:
            reason = f"the query returned {shape}, the right ones in the wrong order"
        elif self._show:
            reason = f"the query returned {shape}, expected {expected}"
        else:
            some = ", though some rows are right" if score else ""
            reason = f"the query ran and returned {shape}, not the expected result{some}"
        one, other = first_difference(rows, theirs, ordered=ordered)
        if self._show and (one, other) != (None, None):
            reason += f"; first differing row {_row(one)}, expected {_row(other)}"
        return _failed(reason, query, score, actual=shape, expected=expected if self._show else None)

    def _same(self, rows: list[Row], expected: list[Row], *, ordered: bool) -> bool:
        return same_rows(
            rows,
            expected,
            ordered=ordered,
            ordered_columns=self._ordered_columns,
            ignore_case=self._ignore_case,
        )


def query_in(reply: str) -> str:
    r"""Return the query in a reply: that of the last fence that holds one, else from where one begins.

    >>> query_in("Sure:\n```sql\nSELECT a\nFROM t;\n```\nDone.")
    'SELECT a\nFROM t'
    >>> query_in("The query is: SELECT a FROM t;")
    'SELECT a FROM t'
    """
    fences = [match for match in _FENCE.finditer(reply) if _INSIDE.search(match[2])]
    named = [match for match in fences if match[1].casefold() in ("sql", "sqlite", "sqlite3")]
    text = (named or fences)[-1][2] if fences else reply
    begins = _BEGINS.search(text) or (None if fences else _INSIDE.search(text))
    if begins is None:
        return text.strip().rstrip(";").rstrip() if fences else ""
    query = text[begins.start() :]
    if not fences:
        query = re.split(r";[ \t]*(?:\n|$)|\n[ \t]*\n", query, maxsplit=1)[0]
    return query.strip().rstrip(";").strip().strip("`").rstrip()


def _failed(
    reason: str, query: str, score: float, *, actual: str | None = None, expected: str | None = None
) -> Verdict:
    """A verdict that says no."""
    check = Check(
        name="result",
        passed=False,
        message=reason,
        input=query or None,
        actual=actual,
        expected=expected,
        kind="match",
    )
    return Verdict(passed=False, score=score, reason=reason, answer=query, checks=(check,), trust="match")


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [tuple(row) for row in result["rows"]]


def _shape(result: Mapping[str, Any]) -> str:
    """How large a result is, in words."""
    rows, columns = len(result["rows"]), len(result["columns"])
    return f"{rows or 'no'} row{'s' * (rows != 1)} of {columns} column{'s' * (columns != 1)}"


def _row(row: Row | None) -> str:
    return "none" if row is None else short(str(row)).strip('"')
