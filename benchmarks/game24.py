"""Game of 24: does the exact checker agree with recorded labels, and the tree with a recorded beam search?

``python benchmarks/game24.py`` reads ``shared/data`` beside the project. The recorded search (GPT-4, a beam of 5) had
dozens of candidates a node; the tree is offered the five best of each node, which hold the best five of all.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console

from retrial.algorithms import TreeOfThoughts
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.engine import Engine
from retrial.models import LLMHandler
from retrial.models.fake import text

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "data" / "corpus" / "tot_game24.jsonl"
BEAM, TOP = 5, 6.0
"""The recorded beam, and what a recorded value is divided by: 60, three times sure, is a score of 10."""

_OPERATIONS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def value_of(expression: str) -> Fraction | None:
    """Return the exact value of an arithmetic expression of whole numbers, None if it is something else.

    >>> value_of("8 / (3 - 8 / 3)"), value_of("2 ** 3"), value_of("1 / 0"), value_of("24.5")
    (Fraction(24, 1), None, None, None)
    """
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    raise ValueError(ast.dump(node))


def makes_24(puzzle: str, output: str) -> bool:
    """Whether the last line of an output makes exactly 24 of exactly the puzzle's numbers.

    >>> makes_24("3 3 8 8", "Answer: 8 / (3 - 8 / 3) = 24"), makes_24("3 3 8 8", "Answer: 3 * 8 = 24")
    (True, False)
    """
    last = (output.strip().splitlines() or [""])[-1]
    expression = re.sub(r"^\s*answer:\s*", "", last, flags=re.IGNORECASE).split("=")[0]
    uses = sorted(re.findall(r"\d+", expression)) == sorted(puzzle.split())
    return uses and value_of(expression) == 24


class Recording:
    """Proposes what was proposed after the same steps, the best first of each node, and scores it as it was scored."""

    name = "recorded search"

    def __init__(self, steps: Sequence[Mapping[str, Any]]) -> None:
        self._values: dict[tuple[str, ...], float] = {}
        for step in steps:
            for one in step["candidates"]:
                self._values.setdefault(_path(one["text"]), one["value"])

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Answer for the steps that the request shows."""
        shown = (request.messages[-1].content or "").partition("<steps>")[2].partition("</steps>")[0]
        path = tuple(re.findall(r"^\d+\. (.*)$", shown, re.MULTILINE))
        if request.role == "judge":
            return text(json.dumps({"score": self._values[path] / TOP}))
        after = [one for one in self._values if one[:-1] == path]
        after.sort(key=lambda one: -self._values[one])
        place = int(key.rpartition(".")[2]) - 1
        return text(after[place][-1] if place < len(after) else "")


def _path(candidate: str) -> tuple[str, ...]:
    """A recorded chain as the tree's steps."""
    return tuple(re.sub(r"^Answer:", "FINAL:", line.strip()) for line in candidate.strip().splitlines())


async def searched(row: Mapping[str, Any]) -> tuple[list[set[tuple[str, ...]]], Mapping[str, Any]]:
    """The chains that the tree keeps level by level, and what it returns."""
    async with Engine() as engine:
        LLMHandler(Recording(row["steps"])).attach(engine)
        tree = TreeOfThoughts(depth=len(row["steps"]), width=BEAM, branching=BEAM, stop_score=None)
        out = await engine.run(tree, {"task": f"Make 24 from {row['puzzle']}"}, run_id="r")
        notes = [event.data for event in await engine.journal.events("r") if event.kind == "tree.kept"]
    return [{tuple(node["path"]) for node in note["kept"]} for note in notes], out.value


def compare(row: Mapping[str, Any]) -> list[str]:
    """Where the tree parts from the recorded search, in words.

    Which of equals is kept is a matter of order, so their scores are compared. Steps without text, which the recorded
    search kept and the tree does not, are left out; of equally good chains the tree returns a complete one.
    """
    levels, found = asyncio.run(searched(row))
    apart: list[str] = []
    kept: list[tuple[str, ...]] = []
    scores: dict[tuple[str, ...], float] = {}
    for number, (ours, step) in enumerate(zip(levels, row["steps"], strict=True), 1):
        scores = {_path(one["text"]): one["value"] for one in reversed(step["candidates"])}
        kept = [path for one in step["candidates"] if one["kept"] and len(path := _path(one["text"])) == number]
        theirs = {*kept}
        if sorted(scores[one] for one in ours)[-len(theirs) :] != sorted(scores[one] for one in theirs):
            apart.append(f"{row['puzzle']}: level {number} keeps other scores than the recorded search")
    labels = {_path(one["text"]): bool(one["recorded"]) for one in row["outputs"]}
    best = max(kept, key=lambda path: (scores[path], path[-1].startswith("FINAL:")))
    solved = makes_24(row["puzzle"], f"Answer: {found['answer']}")
    if solved != labels[best]:
        apart.append(f"{row['puzzle']}: the answer {found['answer']!r} is {'right' if solved else 'wrong'}")
    return apart


def main(argv: Sequence[str] | None = None) -> int:
    """Compare everything; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=RECORDED)
    parser.add_argument("--limit", type=int, help="only the first rows of each kind")
    given = parser.parse_args(argv)
    console = Console()
    rows = [json.loads(line) for line in given.data.read_text(encoding="utf-8").splitlines()]
    outputs = [(row, one) for row in rows for one in row["outputs"]]
    wrong = [(row, one) for row, one in outputs if makes_24(row["puzzle"], one["text"]) != bool(one["recorded"])]
    console.print(f"checker: {len(outputs) - len(wrong)} of {len(outputs)} recorded labels agree")
    for row, one in wrong[:10]:
        console.print(f"  {row['puzzle']}: {one['text'][-60:]!r} was {one['recorded']}", markup=False)
    trees = [row for row in rows if row["method"] == "tot_b5"][: given.limit]
    apart = [line for row in trees for line in compare(row)]
    console.print(f"tree: {len(apart)} differences in {len(trees)} searches")
    for line in apart[:20]:
        console.print(f"  {line}", markup=False)
    return bool(wrong or apart)


if __name__ == "__main__":
    sys.exit(main())
