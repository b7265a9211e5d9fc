"""How often a lesson's faults are found, and how often rightly, on real reflections that a reader labelled.

Prints precision and recall with Wilson intervals (95 %) for each fault, on the half of the labels that no detector was
tuned on. The reflections stand in ``../shared/data`` beside the project, the labels in ``tests/data/reflections``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from lessons_sample import DATA, LABELS, Case, cases, draw
from rich.console import Console
from rich.table import Table

from retrial.memory.copying import copies, normalised
from retrial.memory.quality import MAX_WORDS, faults
from retrial.stats.intervals import wilson

LABELLED = ("code", "narrates", "duplicate", "copies_answer", "patches_a_case")
GOALS = {"precision": 0.9, "recall": 0.8}


@dataclass(frozen=True)
class Score:
    """How a detector did on one fault."""

    fault: str
    right: int
    """Marked by both."""
    wrong: int
    """Marked by the detector alone."""
    missed: int
    """Marked by the reader alone."""
    rows: int

    @property
    def precision(self) -> tuple[int, int]:
        return self.right, self.right + self.wrong

    @property
    def recall(self) -> tuple[int, int]:
        return self.right, self.right + self.missed


def labels(half: str, path: Path = LABELS) -> list[dict]:
    rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if half in ("all", row["half"])]


def measure(rows: Iterable[dict], known: dict[str, Case]) -> list[Score]:
    """Compare what the detectors mark with what the reader marked."""
    counts = {fault: [0, 0, 0, 0] for fault in LABELLED}
    for row in rows:
        case = known[row["uid"]]
        found = faults(case.text, case.earlier, case.answers)
        for fault in LABELLED:
            if row.get("only", fault) == fault:
                marked, meant = fault in found, fault in row["faults"]
                counts[fault][0] += marked and meant
                counts[fault][1] += marked and not meant
                counts[fault][2] += meant and not marked
                counts[fault][3] += 1
    return [Score(fault, *numbers) for fault, numbers in counts.items()]


def corpus(known: dict[str, Case]) -> dict[str, int]:
    """What the detectors mark in all reflections, and what can be counted there without a reader."""
    marked = dict.fromkeys(("empty", *LABELLED, "too_long", "overrides"), 0)
    for case in known.values():
        for fault in faults(case.text, case.earlier, case.answers):
            marked[fault] += 1
    questions = [case for case in known.values() if case.family.startswith("hotpotqa")]
    return {
        "reflections": len(known),
        **{f"marked {fault}": count for fault, count in marked.items()},
        f"more than {MAX_WORDS} words": sum(len(case.text.split()) > MAX_WORDS for case in known.values()),
        "repeat an earlier one word for word": sum(
            normalised(case.text) in {normalised(one) for one in case.earlier} for case in known.values()
        ),
        "HotPotQA reflections": len(questions),
        "hold the gold answer as a substring": sum(
            any(one.casefold() in case.text.casefold() for one in case.answers) for case in questions
        ),
        "hold the gold answer as copies() sees it": sum(copies(case.text, case.answers) for case in questions),
    }


def show(scores: list[Score], counted: dict[str, int], half: str) -> None:
    console = Console(width=110)
    table = Table(title=f"A lesson's faults against a reader's labels, half: {half}", title_justify="left", box=None)
    for name in ("fault", "labelled", "precision", "95 %", "recall", "95 %", "goals"):
        table.add_column(name, justify="left" if name in ("fault", "goals") else "right")
    for score in scores:
        cells = []
        for hits, of in (score.precision, score.recall):
            share = wilson(hits, of)
            cells += (
                [f"{hits}/{of} {share.estimate:.2f}", f"{share.low:.2f}-{share.high:.2f}"] if of else ["0/0    -", "-"]
            )
        table.add_row(score.fault, str(score.rows), *cells, verdict(score))
    console.print(table)
    console.print(f"goals: precision {GOALS['precision']}, recall {GOALS['recall']}\n")
    for name, count in counted.items():
        console.print(f"{name:<45}{count:>7,}")


def verdict(score: Score) -> str:
    """Whether the goals are met, in words."""
    shares = {"precision": score.precision, "recall": score.recall}
    if not all(of for _, of in shares.values()):
        return "no case to measure"
    short = [name for name, (hits, of) in shares.items() if hits / of < GOALS[name]]
    return f"not met: {', '.join(short)}" if short else "met"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("test", "tune", "all"), default="test", help="which labels (default: test)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    arguments = parser.parse_args()
    if not DATA.exists():
        print(f"the reflections are not here: {DATA}", file=sys.stderr)
        return 5
    known = cases()
    assert {row["uid"] for row in labels("all") if "only" not in row} == set(draw()), "the labels are of another draw"
    scores, counted = measure(labels(arguments.half), known), corpus(known)
    if arguments.json:
        rows = [
            {
                **asdict(one),
                "precision": asdict(wilson(*one.precision)),
                "recall": asdict(wilson(*one.recall)),
                "goals": verdict(one),
            }
            for one in scores
        ]
        print(json.dumps({"half": arguments.half, "faults": rows, "corpus": counted}, indent=2))
    else:
        show(scores, counted, arguments.half)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
