"""What is to be checked, read from the tests before anything runs.

Knows the shapes that every test style turns its tests into; knows no process and no candidate. Whether a test is
invalid is decided here, from the test alone, so that no candidate can talk a test out of the count.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass

from retrial.core.syntax import compiles, tree_of

__all__ = ["Given", "LiteralTest", "Note", "Plan", "free_names", "parsed"]


Note = tuple[str, str, bool]
"""An assert for messages: its source, the source of what is compared, and whether that is one call of the solution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One test as it was given."""

    name: str
    """Its source text."""
    subject: str = ""
    """The source of what is compared, for messages."""
    subject_is_call: bool = False
    """Whether the subject is one call of the solution."""
    bad: str = ""
    """Why the test is invalid; empty if it is valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralTest:
    """An assert about one call with plain arguments, which needs no judge process."""

    index: int
    """Which given test it is."""
    function: str
    """The name that is called."""
    args: tuple[object, ...]
    """Positional arguments."""
    kwargs: dict[str, object]
    """Keyword arguments."""
    call: str
    """The call as source text."""
    op: str
    """A comparison operator, or ``true`` or ``false``."""
    expected: object = None
    """What the call is compared with."""
    offset: object = None
    """For ``abs(call - offset) < expected``: what is taken away first."""
    digits: object = None
    """For ``round(call, digits)``: how many, or None."""
    subject: str = ""
    """The source of what is compared: the call, or what surrounds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All tests of one request."""

    given: tuple[Given, ...]
    """The tests, in order."""
    programs: Callable[[], tuple[tuple[int, str], ...]]
    """Gives what the judge runs, if one is needed: the index of the test and its rewritten source."""
    literal: tuple[LiteralTest, ...] | None
    """All valid tests, where each of them is literal; else None."""
    inside: bool = False
    """Whether asserts record themselves (a check function), so that a record is about an assert and not a program."""
    mentioned: tuple[str, ...] = ()
    """Names that the tests use and do not define: those that the solution may define."""
    suite: str = ""
    """What runs the tests, where it is more than their own text: unittest, pytest or doctest."""
    notes: tuple[Note, ...] = ()
    """For a suite: every assert in its text."""
    paths: tuple[str, ...] = ()
    """Folders of modules that the judge needs, and the candidate must not see."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names that the tests use as classes, by the convention of a capital letter."""
        return tuple(name for name in self.mentioned if name[:1].isupper())


def parsed(source: str) -> ast.Module | str:
    """The tree of a test, or why it has none."""
    found = compiles(source)
    if found is True:
        return tree_of(source)
    return f"it is no valid Python: {found.msg}" if isinstance(found, SyntaxError) else "it is no valid Python"


def free_names(tree: ast.AST) -> list[str]:
    """The names that ``tree`` reads and does not bind, in order of appearance, built-in ones left out."""
    bound: set[str] = {"solution"}
    read: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read[node.id] = None
            else:
                bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return [name for name in read if name not in bound and not hasattr(builtins, name)]
