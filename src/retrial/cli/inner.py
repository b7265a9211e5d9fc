"""What an algorithm did inside one attempt, from its notes: a debate's answers by round, a tree's kept steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrial.core.events import Event

__all__ = ["inner_lines"]

LONGEST = 60
"""How much of an answer or a step one line shows."""


def inner_lines(events: Sequence[Event], scope: str) -> list[str]:
    """Return lines that tell what the notes below ``scope`` (such as ``trial.1/``; empty for all) say, in order."""
    return [line for event in _latest(events, scope) for line in _TELLERS[event.kind](event.data)]


def _latest(events: Sequence[Event], scope: str) -> list[Event]:
    """The newest note of each key, in the order of their keys, which parallel work does not change."""
    found = {event.key: event for event in events if event.kind in _TELLERS and event.key.startswith(scope)}
    return [found[key] for key in sorted(found, key=lambda key: (len(key), key))]


def _debate(data: Mapping[str, Any]) -> list[str]:
    return [f"round {data['round']}: {_several(data['answers'])}"]


def _samples(data: Mapping[str, Any]) -> list[str]:
    return [f"samples: {_several(data['answers'])}, {data['votes']} agree"]


def _tree(data: Mapping[str, Any]) -> list[str]:
    kept = [f"  {node['score']:g}  {_one(node['path'][-1])}" for node in data["kept"]]
    return [f"level {data['level']}, {data['explored']} explored, kept:", *kept]


def _tried(data: Mapping[str, Any]) -> list[str]:
    verdict = data["attempt"]["verdict"]
    came_to = "passed" if verdict["passed"] else f"score {verdict['score']:.2g}"
    return [f"answer {data['attempt']['trial']}: {came_to}"]


def _own_tests(data: Mapping[str, Any]) -> list[str]:
    return [f"own test: {_one(test)}" for test in data["tests"]]


def _several(answers: Sequence[str | None]) -> str:
    return " · ".join("failed" if answer is None else _one(answer) for answer in answers)


def _one(text: str) -> str:
    """A text as one short line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


_TELLERS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "best_of.sample": _tried,
    "debate.answers": _debate,
    "generate_test_repair.version": _tried,
    "generator_critic.answer": _tried,
    "self_consistency.answers": _samples,
    "tree.kept": _tree,
    "ucs.program": _tried,
    "written_tests.tests": _own_tests,
}
"""What tells each kind of note."""
