"""Tests as a text with examples, ``>>> add(1, 2)`` and what they show: one record for each that uses the solution.

What the solution prints itself cannot be seen from another process; what an example prints or gives can.
"""

from __future__ import annotations

import ast
import doctest
import json

from retrial.core.effects import RunTests
from retrial.testbench.plan import Given, Plan, free_names, parsed
from retrial.testbench.usage import tainted_names

__all__ = ["plan_doctest"]


def plan_doctest(effect: RunTests) -> Plan:
    """The plan for the examples of a text."""
    text = "\n\n".join(effect.tests)
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError as error:
        why = f"it is no text with examples: {str(error).partition(': ')[0]}"
        return Plan(given=(Given(name=text.strip()[:200], bad=why),), programs=tuple, literal=None)
    trees = [parsed(example.source) for example in examples]
    body = [part for tree in trees if isinstance(tree, ast.Module) for part in tree.body]
    whole = ast.Module(body=body, type_ignores=[])
    mentioned = free_names(whole)
    if effect.entry_point and effect.entry_point not in mentioned:
        mentioned.append(effect.entry_point)
    uses = tainted_names(whole, {*mentioned, "solution"})
    given: list[Given] = []
    programs: list[tuple[int, str]] = []
    for example, tree in zip(examples, trees, strict=True):
        source = example.source.strip()
        if isinstance(tree, str):
            given.append(Given(name=source, bad=tree))
            continue
        is_counted = _shows(example, tree) and any(
            isinstance(node, ast.Name) and node.id in uses for node in ast.walk(tree)
        )
        step = [example.source, example.want, example.exc_msg, dict(example.options)]
        programs.append((len(given) if is_counted else -1, json.dumps(step)))
        if is_counted:
            given.append(Given(name=source))
    return Plan(
        given=tuple(given),
        programs=lambda: tuple(programs),
        literal=None,
        mentioned=tuple(mentioned),
        suite="doctest",
    )


def _shows(example: doctest.Example, tree: ast.Module) -> bool:
    """Whether an example says what comes out: it shows something, or is an expression that shows nothing."""
    return bool(example.want) or (len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr))
