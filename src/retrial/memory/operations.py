"""From an extractor's reply to operations. Reads what models make of the form; guesses at nothing else.

One operation a line: ``ADD: text``, ``EDIT n: text``, ``UPVOTE n``, ``DOWNVOTE n``, where n is a number of the list
that the extractor was shown. Numbering, bullets, bold print, lower case and wrapped lines are read through. The words
of an insight are kept as they stand, whatever words or punctuation they hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Proposal", "Reading", "Unread", "read_operations"]

WRAPPED_COLUMNS = 60
"""A line that is shorter, and ends in the middle of a sentence, was not wrapped: what follows is something else."""

_LEAD = re.compile(r"^(?:[-+•>#]+\s+|\*\s+|\(?\d{1,3}[.)]\s+)*")
_LINE = re.compile(
    r"^(?P<mark>[*_`]*)(?P<verb>ADD|EDIT|UPVOTE|DOWNVOTE)(?![a-z])(?P<rest>.*)$", re.IGNORECASE | re.DOTALL
)
_NUMBER = re.compile(
    r"^[\s:*_`]*+(?:insight|rule|number|no\.)?\s*+[#\[(<{]*+(?P<number>[-\u2212]?\d++)(?!\.?\d)[\])>}]*", re.IGNORECASE
)
_MORE_NUMBERS = re.compile(r"\s*+(?:,\s*+and|,|and|&)\s*+[#\[(]*+(\d++)(?![\w.]*\d)[\])]*", re.IGNORECASE)
_SEPARATOR = re.compile(r"^[\s*_`]*[:=\u2013\u2014-]\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One operation as the extractor asked for it."""

    kind: str
    """ADD, EDIT, UPVOTE or DOWNVOTE."""
    number: int = 0
    """The number in the list that was shown; 0 for ADD."""
    text: str = ""
    """The words of ADD and EDIT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line that is no operation."""

    line: str
    """The line, whole: nothing that a model wrote is lost."""
    reason: str
    """Why it was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reply says."""

    proposals: tuple[Proposal, ...] = ()
    """In order."""
    unread: tuple[Unread, ...] = ()
    """What was skipped, in order."""


def read_operations(reply: str, listed: int) -> Reading:
    r"""Read a reply to a list of ``listed`` insights, numbered from 1.

    >>> reading = read_operations("1. **ADD:** check 29 February\nUPVOTE 2\nGood luck!", listed=2)
    >>> [(one.kind, one.number, one.text) for one in reading.proposals]
    [('ADD', 0, 'check 29 February'), ('UPVOTE', 2, '')]
    >>> reading.unread[0].line
    'Good luck!'
    """
    found: list[Proposal] = []
    unread: list[Unread] = []
    for block in _blocks(reply):
        asked, wrong = _read(block, listed)
        found += asked
        if wrong:
            unread.append(Unread(line=block, reason=wrong))
    return Reading(proposals=tuple(found), unread=tuple(unread))


def _blocks(reply: str) -> list[str]:
    """The lines of a reply, each joined with those that continue it."""
    blocks: list[str] = []
    is_open, last = False, ""
    for line in reply.splitlines():
        text = line.strip()
        if not text or text.startswith("```"):
            # A blank line ends an insight that has words; one that has none yet may begin below it.
            is_open = is_open and _is_bare(blocks[-1])
        elif _verb(text):
            blocks.append(text)
            is_open, last = _takes_words(text), text
        elif is_open and _continues(line, last, blocks[-1]):
            blocks[-1] = f"{blocks[-1]} {text}"
            last = text
        else:
            blocks.append(text)
            is_open = False
    return blocks


def _verb(text: str) -> bool:
    """Whether a line begins with an operation's name, and does not only begin like one (``Add a test ...``)."""
    match = _LINE.match(_LEAD.sub("", text))
    if match is None:
        return False
    rest = match["rest"].lstrip(" *_`")
    return match["verb"].isupper() or not rest or bool(re.match(r"[:=#\[(<{\d-]", rest))


def _takes_words(text: str) -> bool:
    return _LEAD.sub("", text).lstrip("*_`")[:3].upper() in ("ADD", "EDI")


def _is_bare(text: str) -> bool:
    """Whether an ADD or EDIT has no words yet."""
    return bool(re.fullmatch(r"\W*(?:ADD|EDIT)\W*\d*\W*", text, re.IGNORECASE))


def _continues(line: str, last: str, block: str) -> bool:
    """Whether a line goes on with the insight above it: indented, wrapped, or the first of its words."""
    wrapped = len(last) >= WRAPPED_COLUMNS and not last.endswith((".", "!", "?"))
    return line[0].isspace() or wrapped or _is_bare(block)


def _read(block: str, listed: int) -> tuple[list[Proposal], str]:
    """The operations of a block (several for a vote on several), and what is wrong with it; empty if nothing."""
    match = _LINE.match(_LEAD.sub("", block)) if _verb(block) else None
    if match is None:
        return [], "it is no operation"
    kind, rest, mark = match["verb"].upper(), match["rest"], match["mark"]
    if kind == "ADD":
        numbered = re.match(r"^\s*#?\d+\s*:", rest)
        text = _words(rest[numbered.end() - 1 :] if numbered else rest, mark)
        return ([Proposal(kind=kind, text=text)], "") if text else ([], "ADD has no text")
    named = _NUMBER.match(rest)
    if named is None:
        return [], f"{kind} has no number of an insight"
    number, after = int(named["number"].replace("\u2212", "-")), rest[named.end() :]
    if kind == "EDIT":
        text = _words(after, mark) if match["verb"].isupper() or _SEPARATOR.match(after) else ""
        asked = [Proposal(kind=kind, number=number, text=text)] if text else []
        wrong = "" if text else "EDIT has no text"
    else:
        asked, wrong = [Proposal(kind=kind, number=one) for one in (number, *_more(after))], ""
    known = [one for one in asked if 1 <= one.number <= listed]
    strange = [str(one.number) for one in asked if one not in known]
    return known, f"no insight {' and '.join(strange)} is listed, there are {listed}" if strange else wrong


def _more(after: str) -> list[int]:
    """The further numbers of a vote."""
    found: list[int] = []
    while more := _MORE_NUMBERS.match(after):
        found.append(int(more[1]))
        after = after[more.end() :]
    return found


def _words(rest: str, mark: str) -> str:
    """The text of an operation, without what sets it apart and without the bold print around the whole line."""
    text = _SEPARATOR.sub("", rest, count=1).strip()
    if mark:
        text = text.removeprefix(mark).strip() if text.startswith(mark) else text.removesuffix(mark).strip()
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1].strip()
    return text if any(char.isalnum() for char in text) else ""
