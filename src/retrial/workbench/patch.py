"""Unified diffs as models write them: read, and applied by what the lines say.

Models count badly, so the numbers of a hunk's header are no more than a hint: its lines have to stand in the file, in
one place or nearest to the hint. Nothing is guessed beyond spaces at the end of a line. Pure functions of texts
(docs/decisions/0009 says why no library).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from retrial.workbench.paths import Refused

__all__ = ["FilePatch", "Hunk", "applied", "looks_like_patch", "read_patch"]

_HEADER = re.compile(r"^@@(?: -(?P<start>\d+)(?:,\d+)? \+\d+(?:,\d+)? @@)?.*$")
_BEGINNING = re.compile(r"^--- .+\n\+\+\+ .+\n@@", re.MULTILINE)
_MOST_WORK = 100_000_000
"""Lines times lines that may have to be compared to find where hunks belong, which takes a second or two."""
_UNREADABLE = {
    "new file mode 120000": "makes a link, which no reply may",
    "new mode 120000": "makes a link, which no reply may",
    "GIT binary patch": "holds binary data; give files as text",
    "rename from ": "renames a file; delete the old one and give the new one whole",
    "copy from ": "copies a file; give the new one whole",
}


@dataclass(slots=True, kw_only=True)
class Hunk:
    """Lines that stand together."""

    number: int
    """From 1, within its file."""
    start: int | None
    """The line of the old file at which it says that it begins, from 1; None where it does not say."""
    lines: list[str] = field(default_factory=list[str])
    """The lines with their first character: a space, ``-`` or ``+``."""
    ends_file: bool = False
    """Whether the new file ends without a line break here."""

    def side(self, mark: str) -> list[str]:
        """Return the lines before (``-``) or after (``+``) the change."""
        return [line[1:] for line in self.lines if line[0] in (" ", mark)]


@dataclass(slots=True, kw_only=True)
class FilePatch:
    """What happens to one file."""

    old: str | None
    """Its path before; None for a new file."""
    new: str | None
    """Its path afterwards; None for a file that goes."""
    hunks: list[Hunk] = field(default_factory=list[Hunk])
    """In the order of the file."""


def looks_like_patch(text: str) -> bool:
    r"""Tell whether a text is a unified diff.

    >>> looks_like_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"), looks_like_patch("x = 1\n")
    (True, False)
    """
    return bool(_BEGINNING.search(text)) or text.startswith("diff --git ")


def read_patch(text: str) -> list[FilePatch]:
    r"""Return the files that a diff changes.

    >>> (patch,) = read_patch("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n")
    >>> patch.old, patch.new, patch.hunks[0].lines
    ('x.py', 'x.py', ['-a', '+b'])

    Raises:
        Refused: if it is no diff, or does what no reply may.
    """
    patches: list[FilePatch] = []
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("--- ") and following.startswith("+++ "):
            patches.append(FilePatch(old=_path(line, "a/"), new=_path(following, "b/")))
        elif line.startswith("diff --git "):
            patches.append(FilePatch(old=None, new=None))  # What follows belongs to no hunk of the file before.
        elif patches and not (line.startswith("+++ ") and lines[number - 1].startswith("--- ")):
            _continue(patches[-1], line)
    patches = [patch for patch in patches if patch.old or patch.new]
    for hunk in (hunk for patch in patches for hunk in patch.hunks):
        while hunk.lines and hunk.lines[-1] == "":
            hunk.lines.pop()
        hunk.lines = [line or " " for line in hunk.lines]
    if not any(hunk.lines for patch in patches for hunk in patch.hunks):
        raise Refused("the diff changes nothing: it holds no hunk (@@) with lines in it")
    return patches


def _continue(patch: FilePatch, line: str) -> None:
    """Take one line into a file's patch: a hunk's beginning, a line of the last hunk, or a header of git's."""
    header = _HEADER.match(line)
    if header:
        start = int(header["start"]) if header["start"] else None
        patch.hunks.append(Hunk(number=len(patch.hunks) + 1, start=start))
    elif patch.hunks:
        _take(patch.hunks[-1], line)
    elif found := next((word for word in _UNREADABLE if line.startswith(word)), ""):
        raise Refused(f"the diff {_UNREADABLE[found]}")


def _path(line: str, prefix: str) -> str | None:
    name = line[4:].partition("\t")[0].strip().strip('"')
    return None if name == "/dev/null" else name.removeprefix(prefix)


def _take(hunk: Hunk, line: str) -> None:
    """Take one line into a hunk; an editor may have removed the only space of an empty one."""
    if line.startswith("\\"):
        hunk.ends_file = bool(hunk.lines) and hunk.lines[-1][:1] in ("+", " ")
    elif line[:1] in (" ", "-", "+", ""):
        hunk.lines.append(line)
    else:
        raise Refused(f"hunk {hunk.number} of the diff holds a line without ' ', '-' or '+' before it: {line[:80]!r}")


def applied(content: str, patch: FilePatch) -> str:
    r"""Return a file's content after a patch.

    >>> (patch,) = read_patch("--- a/x\n+++ b/x\n@@ -7 +7 @@\n one\n-two\n+2\n")
    >>> applied("zero\none\ntwo\n", patch)
    'zero\none\n2\n'

    Raises:
        Refused: naming the file, the hunk and the first line that is not there.
    """
    size = content.count("\n") + 1
    if sum((size + len(hunk.lines)) * (len(hunk.lines) + 1) for hunk in patch.hunks) > _MOST_WORK:
        raise Refused(f"the diff of {patch.old or patch.new!r} is too long to be looked for; give the file whole")
    returns = "\r" if content.count("\r\n") * 2 > content.count("\n") else ""
    lines = content.split("\n") if content else []
    last = lines.pop() if lines else ""
    if last:
        lines.append(last)
    ends = "" if last else "\n"
    floor = shift = 0
    for hunk in patch.hunks:
        old, new = hunk.side("-"), [line + returns for line in hunk.side("+")]
        place = _place(lines, old, floor, None if hunk.start is None else hunk.start - 1 + shift)
        if place is None:
            raise Refused(_why(patch.old or patch.new or "", hunk, lines, old))
        lines[place : place + len(old)] = new
        floor = place + len(new)
        shift += len(new) - len(old)
        if floor == len(lines):
            ends = "" if hunk.ends_file else "\n"
    return "\n".join(lines) + ends if lines else ""


def _place(lines: list[str], old: list[str], floor: int, hint: int | None) -> int | None:
    """Where the old lines stand from ``floor`` on; None if nowhere, or in several places without a hint."""
    if not old:
        if hint is None:
            return len(lines) if not lines else None
        return min(max(hint + 1, floor), len(lines))
    for same in (str, str.rstrip):
        wanted = [same(line) for line in old]
        there = [same(line) for line in lines]
        first = wanted[0]
        places = [
            place
            for place in range(floor, len(there) - len(wanted) + 1)
            if there[place] == first and there[place : place + len(wanted)] == wanted
        ]
        if len(places) == 1 or (places and hint is not None):
            return min(places, key=lambda place: abs(place - (hint or 0)))
        if places:
            return None
    return None


def _why(path: str, hunk: Hunk, lines: list[str], old: list[str]) -> str:
    """Why a hunk has no place."""
    there = {line.rstrip() for line in lines}
    missing = next((line for line in old if line.rstrip() not in there), None)
    if not old:
        why = "it adds lines without saying where; keep a line of the file around them"
    elif missing is not None:
        why = f"the file has no line {missing.strip()[:120]!r}"
    else:
        why = "its lines stand in the file, but not together, or more than once; keep more lines around the change"
    return f"hunk {hunk.number} of {path!r} does not apply: {why}"
