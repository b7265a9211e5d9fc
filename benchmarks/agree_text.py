"""Sets for ``agree``: answers to HotPotQA and queries of Spider, as they were judged when they were recorded.

Each set is a function that is given the data and yields cases, as in ``agree``; ``SETS`` names those that have to agree
in full. Run alone, it prints what agrees and why the rest does not: ``python benchmarks/agree_text.py``.
"""

from __future__ import annotations

import ast
import asyncio
import functools
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from retrial.core.tasks import Outcome, Status, Task, Verdict
from retrial.engine import Engine, Run
from retrial.evaluate import SqlHandler, evaluator_from
from retrial.evaluate.answers import f1_score
from retrial.evaluate.result_sets import same_rows
from retrial.evaluate.sql_handler import run_query

Case = tuple[str, Callable[[], str | None]]


class _Asks:
    """An algorithm that asks one evaluator."""

    name, version, max_calls = "asks", "1", 0

    def __init__(self, spec: Mapping[str, Any], task: Task, output: str) -> None:
        self.evaluator, self.task, self.output = evaluator_from(spec), task, output
        self.verdict: Verdict | None = None

    def parameters(self) -> Mapping[str, Any]:
        return {}

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        self.verdict = await self.evaluator(run, self.task, self.output)
        return Outcome(Status.COMPLETED, None)


def judged(spec: Mapping[str, Any], task: Task, output: str, databases: Path | None = None) -> Verdict | str:
    """What an evaluator says about an output, or why it broke."""

    async def ask() -> Verdict | str:
        asks = _Asks(spec, task, output)
        async with Engine() as engine:
            SqlHandler(folder=databases).attach(engine)
            result = await engine.run(asks, {})
        return asks.verdict or result.error

    return asyncio.run(ask())


def hotpotqa(bench: Any, *, quick: bool) -> Iterator[Case]:
    """Recorded answers of models, by the official exact match."""

    def ask(row: dict[str, Any]) -> str | None:
        task = Task(id=row["task_id"], prompt="?", answer=row["gold"])
        verdict = judged({"kind": "normalised"}, task, row["predicted"] or "")
        passed = isinstance(verdict, Verdict) and verdict.passed
        wrong = [name for name in ("em", "recorded_correct") if row[name] is not passed]
        return f"{row['predicted']!r} for {row['gold']!r}: {passed}, recorded {', '.join(wrong)}" if wrong else None

    for number, row in enumerate(bench.rows("corpus/hotpotqa_attempts.jsonl")[:: 20 if quick else 1]):
        yield f"{row['task_id']}.{number}", functools.partial(ask, row)


def hotpotqa_f1(bench: Any, *, quick: bool) -> Iterator[Case]:
    """Recorded answers of models, by the official F1."""

    def ask(row: dict[str, Any]) -> str | None:
        score = f1_score(row["predicted"] or "", row["gold"])
        recorded = row["f1"] or 0.0
        if abs(score - recorded) < 0.001:
            return None
        return f"{row['predicted']!r} for {row['gold']!r}: {score:.3f}, recorded {recorded:.3f}"

    for number, row in enumerate(bench.rows("corpus/hotpotqa_attempts.jsonl")[:: 20 if quick else 1]):
        yield f"{row['task_id']}.{number}", functools.partial(ask, row)


def spider_gold(bench: Any, *, quick: bool) -> Iterator[Case]:
    """The expected queries of Spider run, and are right by themselves."""
    databases = bench.data / "envs" / "sql" / "sqlite"

    def ask(row: dict[str, Any]) -> str | None:
        task = Task(id=row["id"], prompt="?", answer=row["gold_sql"])
        verdict = judged({"kind": "sql", "database": row["database"]}, task, row["gold_sql"], databases)
        return None if isinstance(verdict, Verdict) and verdict.passed else str(getattr(verdict, "reason", verdict))

    for row in bench.rows("envs/sql/spider_questions.jsonl")[:: 20 if quick else 1]:
        yield row["id"], functools.partial(ask, row)


def spider_sessions(bench: Any, *, quick: bool) -> Iterator[Case]:
    """The last query of recorded sessions on MySQL, by the reward that it got there."""
    databases = bench.data / "envs" / "sql" / "sqlite"

    def ask(row: dict[str, Any]) -> str | None:
        session = row["recorded_gpt4"]
        query, reward = session["actions"][-1], session["rewards"][-1]
        task = Task(id=row["id"], prompt="?", answer=row["gold_sql"])
        verdict = judged({"kind": "sql", "database": row["database"]}, task, query, databases)
        if not isinstance(verdict, Verdict):
            return verdict
        if verdict.passed is (reward == 1):
            return None
        strict = judged({"kind": "sql", "database": row["database"], "ordered_columns": True}, task, query, databases)
        if isinstance(strict, Verdict) and strict.passed is (reward == 1):
            return "the columns are in another order, which Spider's test accepts"
        path = databases / f"{row['database']}.sqlite"
        return _why(path, query, row["gold_sql"], _rows(session["observations"][-1]), verdict.reason)

    for row in bench.rows("envs/sql/spider_questions.jsonl")[:: 20 if quick else 1]:
        if row["recorded_gpt4"]["actions"]:
            yield row["id"], functools.partial(ask, row)


def _why(path: Path, query: str, gold: str, theirs: list[tuple[Any, ...]] | None, reason: str) -> str:
    """What about the two databases explains that a reward on MySQL is another than the verdict on SQLite."""
    found = run_query(path, query, max_rows=10_000, timeout=5)
    if "error" in found:
        return f"MySQL's dialect: {reason}"
    ours = [tuple(row) for row in found["rows"]]
    wanted = run_query(path, gold, max_rows=10_000, timeout=5)
    if not ours and not wanted["rows"] and len(found["columns"]) != len(wanted["columns"]):
        return "both queries return nothing, and not as many columns"
    if theirs is None or not same_rows(ours, theirs, ordered=False):
        return "MySQL returned other rows for the same query: ties, padded texts or loose grouping"
    return "the same rows, and others for the expected query in MySQL: ties, padded texts or loose grouping"


def _rows(observation: str) -> list[tuple[Any, ...]] | None:
    """The rows that MySQL printed, None if they cannot be read."""
    try:
        rows = ast.literal_eval(re.sub(r"Decimal\('([^']*)'\)", r"\1", observation))
    except (ValueError, SyntaxError):
        return None
    return [tuple(row) for row in rows] if isinstance(rows, list) else None


SETS = {"hotpotqa": hotpotqa, "spider_gold": spider_gold}
"""The sets in which every case agrees."""

EXPLAINED = {"hotpotqa_f1": hotpotqa_f1, "spider_sessions": spider_sessions}
"""Those in which some were recorded by another rule, or on another database; each case says which."""


class _Data:
    """What cases need."""

    data = Path(__file__).resolve().parents[2] / "shared" / "data"

    def rows(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.data / name).read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Print each set: how many agree, and why others do not. The exit code is 1 if one that has to agree does not."""
    wrong = 0
    for name, cases in {**SETS, **EXPLAINED}.items():
        answers = {case: ask() for case, ask in cases(_Data(), quick="--quick" in sys.argv)}
        reasons = Counter(re.sub(r"no such function: \w+", "no such function", why) for why in answers.values() if why)
        wrong += reasons.total() if name in SETS else 0
        print(f"{name}: {len(answers) - reasons.total()} of {len(answers)} agree")
        for reason, count in reasons.most_common(12):
            print(f"  {count:3} {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
