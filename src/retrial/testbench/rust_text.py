"""Rust text taken apart as far as tests need it: brackets, strings, comments, statements, arguments.

Knows tokens and nesting, not the grammar; runs nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

__all__ = ["arguments", "body_of", "closing", "code_spans", "replaced", "statements", "without_opaque"]

_OPAQUE = re.compile(
    r"""//[^\n]*
    | /\*
    | b?r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes)
    | b?"(?:[^"\\]|\\(?:.|\n))*"
    | b?'(?:[^'\\\n]|\\(?:u\{[0-9a-fA-F_]+\}|x[0-9a-fA-F]{2}|.))'
    """,
    re.VERBOSE,
)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where ``text`` is neither a string, a character nor a comment."""
    start = place = 0
    while match := _OPAQUE.search(text, place):
        begin, place = match.span()
        before = text[begin - 1 : begin]
        if match[0][0] in "rb" and (before.isalnum() or before == "_"):
            place = begin + 1  # An r or b that ends a name belongs to the name.
            continue
        if match[0] == "/*":
            place = _comment_end(text, place)
        yield start, begin
        start = place
    yield start, len(text)


def _comment_end(text: str, place: int) -> int:
    """Where a comment ends whose first mark ends at ``place``; comments hold comments."""
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(text, place):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def without_opaque(text: str) -> str:
    """``text`` with a space for every string, character and comment.

    >>> without_opaque('let /* a /* b */ */ c = "d";')
    'let   c =  ;'
    """
    return " ".join(text[begin:end] for begin, end in code_spans(text))


def _marks(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Every character of code from ``start`` with its place."""
    for begin, end in code_spans(text):
        for place in range(max(begin, start), end):
            yield place, text[place]


def closing(text: str, opening: int) -> int:
    """The place of the bracket that closes the one at ``opening``; the end of the text if there is none.

    >>> closing('f(")", (1))', 1)
    10
    """
    depth = 0
    for place, mark in _marks(text, opening):
        if mark in _BRACKETS:
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth == 0:
                return place
    return len(text)


def body_of(text: str, function: str) -> tuple[int, int] | None:
    """Where the body of a function lies, between its braces; None if it is not defined."""
    pattern = re.compile(rf"\bfn\s+{re.escape(function)}\s*[(<]")
    for begin, end in code_spans(text):
        match = pattern.search(text, begin, end)
        if match:
            opening = next((place for place, mark in _marks(text, match.end()) if mark == "{"), None)
            return None if opening is None else (opening + 1, closing(text, opening))
    return None


def _split(text: str, mark: str) -> list[int]:
    depth, found = 0, list[int]()
    for place, sign in _marks(text):
        if sign in _BRACKETS:
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == mark and depth == 0:
            found.append(place)
    return found


def arguments(text: str) -> list[str]:
    """The arguments of a macro or call, from the text between its brackets.

    >>> arguments('f(1, 2), vec![3], "a, b"')
    ['f(1, 2)', 'vec![3]', '"a, b"']
    """
    cuts = [-1, *_split(text, ","), len(text)]
    parts = [text[first + 1 : last].strip() for first, last in itertools.pairwise(cuts)]
    return parts if parts[-1] else parts[:-1]


def statements(body: str) -> list[str]:
    """The statements of a block, each without what follows it; comments stay with the statement after them.

    >>> statements("let a = 1; for i in 0..2 { f(i); } assert!(a == 1);")
    ['let a = 1;', 'for i in 0..2 { f(i); }', 'assert!(a == 1);']
    """
    found: list[str] = []
    start, depth = 0, 0
    for place, mark in _marks(body):
        if mark in _BRACKETS:
            depth += 1
        elif mark in ")]}":
            depth -= 1
        if depth == 0 and (mark == ";" or (mark == "}" and _ends_block(body, start, place))):
            found.append(body[start : place + 1].strip())
            start = place + 1
    rest = body[start:].strip()
    return [*found, rest] if without_opaque(rest).strip() else found


def _ends_block(body: str, start: int, place: int) -> bool:
    """Whether a closing brace ends a statement: one that begins with a word for a block, and goes on nowhere."""
    code = " ".join(body[a:b] for a, b in code_spans(body[start:place]) for a, b in [(a + start, b + start)]).strip()
    follows = body[place + 1 :].lstrip()[:4]
    is_block = re.match(r"(?:'\w+\s*:\s*)?(?:for|while|loop|if|match|unsafe|fn|impl|struct|enum|mod|\{|#\[)", code)
    return bool(is_block) and follows != "else" and not follows.startswith((".", "?", ";"))


def replaced(text: str, pattern: re.Pattern[str], new: str) -> str:
    """``text`` with ``pattern`` replaced where it stands in code."""
    parts: list[str] = []
    last = 0
    for begin, end in code_spans(text):
        parts += [text[last:begin], pattern.sub(new, text[begin:end])]
        last = end
    return "".join(parts)
