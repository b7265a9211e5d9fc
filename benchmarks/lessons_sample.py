"""Which real reflections were labelled, and what is known about each: a draw that anyone can make again."""

from __future__ import annotations

import ast
import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "corpus"
LABELS = Path(__file__).resolve().parents[1] / "tests" / "data" / "reflections" / "labels.jsonl"
SEED = 7
QUOTAS = {
    "lats_programming_py": 55,
    "programming_py": 55,
    "programming_rs": 45,
    "hotpotqa_cot": 40,
    "hotpotqa_react": 35,
    "leetcode_py": 25,
    "leetcode_rs": 10,
    "alfworld": 20,
    "webshop": 15,
}
"""How many rows of each family are drawn: 300 in all."""

PROGRAMS = ("lats_programming_py", "programming_py", "programming_rs", "leetcode_py")
NET_SIZE = 70
NET = re.compile(
    r"\b(?:special|specific(?:ally)?|explicit(?:ly)?|hard-?\s?cod\w*|separately|"
    r"add(?:ing)? an? (?:\w+ )?(?:condition|check|case|if))\b[^.]*(?<![\w.])(?:-?\d+|'[^']*'|\"[^\"]*\")",
    re.IGNORECASE,
)
"""A wide net for advice about one case, which the first draw holds none of."""
SPECIAL = re.compile(r"\b(?:special[- ]case|hard[- ]?cod)", re.IGNORECASE)
"""What the detector looked for before it was measured: every row that it marked is labelled too."""

FLAGS = ("has_code_block", "has_code_line", "has_inline_code", "has_forward_plan", "ends_mid_sentence", "blames_tests")


@dataclass(frozen=True)
class Case:
    """One reflection with what a detector is given besides its text."""

    uid: str
    family: str
    task_key: str
    text: str
    earlier: tuple[str, ...]
    """The reflections before it, of the same task in the same run."""
    answers: tuple[str, ...]
    """The gold answer of a question, or the expected values of a program's tests."""

    @property
    def half(self) -> str:
        """``tune`` or ``test``, by the task: both halves never see one task."""
        return "tune" if hashlib.sha256(self.task_key.encode()).digest()[0] % 2 == 0 else "test"


def cases(data: Path = DATA) -> dict[str, Case]:
    """Every real reflection by its uid."""
    rows = _rows(data / "reflections_real.jsonl")
    told = _answers(data)
    before: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["index"]):
        before[_sequence(row)].append(row)
    found: dict[str, Case] = {}
    for row in rows:
        earlier = tuple(one["text"] for one in before[_sequence(row)] if one["index"] < row["index"])
        key = row["task_key"]
        found[row["uid"]] = Case(row["uid"], row["family"], key, row["text"], earlier, tuple(told.get(key, ())))
    return found


def draw(data: Path = DATA) -> list[str]:
    """The uids that were labelled: from each family its quota, in turn from every combination of flags."""
    known = cases(data)
    strata: dict[str, dict[tuple[bool, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(data / "reflections_real.jsonl"):
        case = known[row["uid"]]
        held = row["family"].startswith("hotpotqa") and any(one.lower() in case.text.lower() for one in case.answers)
        strata[row["family"]][(*(row[flag] for flag in FLAGS), held, bool(case.earlier))].append(row["uid"])
    chosen: list[str] = []
    for family, quota in QUOTAS.items():
        groups = [strata[family][key] for key in sorted(strata[family])]
        source = random.Random(f"{SEED}:{family}")
        for group in groups:
            source.shuffle(group)
        turns = (uid for turn in range(max(map(len, groups))) for uid in (g[turn] for g in groups if turn < len(g)))
        chosen += [uid for _, uid in zip(range(quota), turns, strict=False)]
    return chosen


def draw_patches(data: Path = DATA) -> list[str]:
    """The uids labelled for ``patches_a_case`` alone: the net's first rows, and all that were marked before."""
    first, known = {*draw(data)}, cases(data)
    programs = [uid for uid, case in known.items() if case.family in PROGRAMS]
    caught = [uid for uid in programs if NET.search(known[uid].text)]
    random.Random(SEED).shuffle(caught)
    chosen = [uid for uid in caught if uid not in first][:NET_SIZE]
    marked = [uid for uid, case in known.items() if SPECIAL.search(case.text)]
    return chosen + [uid for uid in marked if uid not in first and uid not in chosen]


def _sequence(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["family"], row["run"], row["strategy"], row["task_key"])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _answers(data: Path) -> dict[str, list[str]]:
    """By task: the gold answer of a question, the expected values of a Python program's tests."""
    told: dict[str, list[str]] = defaultdict(list)
    for row in _rows(data / "hotpotqa.jsonl"):
        told[row["task_key"]].append(row["answer"])
    for name in ("humaneval_py", "mbpp_py"):
        for row in _rows(data / f"{name}.jsonl"):
            told[row["task_key"]] += _expected(row["test"])
    return {key: list(dict.fromkeys(values)) for key, values in told.items()}


def _expected(test: str) -> Iterable[str]:
    """The right-hand sides of the asserts of a test file, where they are literals."""
    try:
        tree = ast.parse(test)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=ast.Compare(ops=[ast.Eq()], comparators=[value])):
                try:
                    ast.literal_eval(value)
                except ValueError:
                    continue
                yield ast.unparse(value)
            case _:
                pass
