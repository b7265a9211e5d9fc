"""Tests as a list of statements, such as ``assert add(1, 2) == 3``: one record for each.

They run in order in one namespace, so that one may prepare what the next needs.
"""

from __future__ import annotations

import ast

from retrial.core.effects import RunTests
from retrial.core.syntax import tree_of
from retrial.testbench.literal import read_literal
from retrial.testbench.plan import Given, LiteralTest, Plan, free_names, parsed
from retrial.testbench.rewrite import is_tuple, rewritten, subject_of
from retrial.testbench.usage import assertion_words, tainted_names

__all__ = ["plan_asserts"]


def plan_asserts(effect: RunTests) -> Plan:
    """The plan for a list of statements."""
    sources = list(effect.tests)
    trees = [parsed(source) for source in sources]
    whole = ast.Module(
        body=[part for tree in trees if isinstance(tree, ast.Module) for part in tree.body], type_ignores=[]
    )
    mentioned = free_names(whole)
    if effect.entry_point and effect.entry_point not in mentioned:
        mentioned.append(effect.entry_point)
    uses = {*mentioned, *tainted_names(whole, {*mentioned, "solution"})}
    asserted = any("assert" in name.lower() for name in assertion_words(whole))
    given: list[Given] = []
    literal: list[LiteralTest] | None = []
    for index, (source, tree) in enumerate(zip(sources, trees, strict=True)):
        bad = tree if isinstance(tree, str) else _fault(tree, uses, asserted=asserted)
        if bad or isinstance(tree, str):
            given.append(Given(name=source.strip(), bad=bad))
            continue
        asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        subject = subject_of(asserts[0]) if len(asserts) == 1 else None
        is_call = isinstance(subject, ast.Call) and isinstance(subject.func, ast.Name) and subject.func.id in mentioned
        text = ast.unparse(subject) if subject else source.strip().splitlines()[-1]
        given.append(Given(name=source.strip(), subject=text, subject_is_call=is_call))
        if literal is not None:
            only = tree.body[0] if len(tree.body) == 1 else None
            test = (
                read_literal(only, index, {name: name for name in mentioned}) if isinstance(only, ast.Assert) else None
            )
            literal = [*literal, test] if test else None

    def programs() -> tuple[tuple[int, str], ...]:
        return tuple(
            (index, rewritten(tree_of(source), lambda _node, index=index: index, inside=False))
            for index, source in enumerate(sources)
            if not given[index].bad
        )

    return Plan(
        given=tuple(given),
        programs=programs,
        literal=None if literal is None else tuple(literal),
        mentioned=tuple(mentioned),
    )


def _fault(tree: ast.Module, uses: set[str], *, asserted: bool) -> str:
    """Why a test can tell nothing about any solution; empty if it can."""
    if not tree.body:
        return "it holds no statement"
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    if any(is_tuple(node) for node in asserts):
        return "it asserts a tuple, which always holds"
    if not asserts and not asserted:
        return "neither it nor any other test asserts anything"
    if asserts and not any(isinstance(node, ast.Name) and node.id in uses for node in ast.walk(tree)):
        return "it never uses the solution"
    return ""
