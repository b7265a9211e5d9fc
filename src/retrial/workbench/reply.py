"""What a reply wants changed: a diff, files named at their fences, or bare code for one file.

Knows Markdown as models write it and the texts of a project's files; writes nothing. The form is stated in the actor's
prompt (``recipes``), and what else models do is read as long as it can mean one thing only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from retrial.workbench.patch import FilePatch, applied, looks_like_patch, read_patch
from retrial.workbench.paths import Refused, safe_path

__all__ = ["Block", "blocks_in", "changes_in"]

_FENCE = re.compile(r"^ {0,3}(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`]*+)$")
_PATH = re.compile(r"^(?=.*[./])(?!\d+\.\d*$)[\w@~./+-][\w@~./+() -]*$")
_PREFIX = re.compile(r"^(?:new |updated? )?(?:file(?:name)?|path)\s*[:=]\s*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:^|\s)(?:path|file|filename|title|name)\s*=\s*[\"']?([^\"'\s}]+)")
_COMMENT = re.compile(r"^\s*+(?:#|//|--|/\*|<!--)\s*+(\S+?)\s*+(?:(?:\*/|-->)\s*+)?$")

_LONGEST = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fence of a reply."""

    info: str
    """What stands after its opening marks."""
    above: str
    """The last line before it that holds anything, at most one empty line away."""
    text: str
    """What it holds, with a line break at the end."""


def blocks_in(reply: str) -> list[Block]:
    r"""Return the fences of a reply, in order; the last may be unclosed.

    >>> blocks_in("src/a.py\n```python\nx = 1\n```\n")
    [Block(info='python', above='src/a.py', text='x = 1\n')]
    """
    blocks: list[Block] = []
    lines = reply.replace("\r\n", "\n").split("\n")
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        marks = opening["marks"]
        before = [line for line in lines[max(0, number - 2) : number] if line.strip()]
        closing = re.compile(rf"^{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
        inside: list[str] = []
        number += 1
        while number < len(lines) and not closing.match(lines[number]):
            inside.append(lines[number])
            number += 1
        number += 1
        text = "\n".join(inside).rstrip("\n") + "\n" if any(inside) else ""
        blocks.append(Block(info=opening["info"].strip(), above=before[-1].strip() if before else "", text=text))
    return blocks


def changes_in(reply: str, files: Mapping[str, bytes], target: str | None = None) -> dict[str, bytes | None]:
    """Return the new contents by path that a reply asks for; None for a file that goes.

    ``files`` are those of the project; ``target`` is where bare code goes.

    Raises:
        Refused: if it asks for nothing, for what cannot be, or for a path outside.
    """
    if not reply.strip() or len(reply) > _LONGEST:
        raise Refused(f"the reply is longer than {_LONGEST} characters" if reply.strip() else "the reply is empty")
    blocks = blocks_in(reply)
    patches = [block.text for block in blocks if _is_patch(block)]
    if not blocks and looks_like_patch(reply):
        patches = [reply]
    changes: dict[str, bytes | None] = {}
    for block in blocks:
        name = "" if _is_patch(block) else _name_of(block, files)
        if name:
            changes[safe_path(name)] = _bytes(block.text)
    for text in patches:
        for patch in read_patch(text):
            _patch(patch, files, changes)
    if changes:
        return changes
    if target is None:
        raise Refused(
            "the reply holds neither a diff nor a named file; give each file whole in a fence of its own, with its "
            "path on the line above"
        )
    code = max((block.text for block in blocks), key=len, default=reply.strip() + "\n")
    if not code.strip():
        raise Refused("the reply holds no code")
    return {safe_path(target): _bytes(code)}


def _is_patch(block: Block) -> bool:
    return block.info.split(" ")[0].casefold() in ("diff", "patch", "udiff") or looks_like_patch(block.text)


def _name_of(block: Block, files: Mapping[str, bytes]) -> str:
    """The path that a fence is given; empty if none."""
    attribute = _ATTRIBUTE.search(block.info)
    if attribute:
        return attribute[1]
    language, _, rest = block.info.replace(":", " ", 1).partition(" ")
    for word in (rest.strip(), language):
        if _PATH.match(word):
            return word
    above = _PREFIX.sub("", block.above.lstrip("#>*-0123456789. ").strip("*_`: ")).strip("*_`: ")
    # A list's mark is no part of a path, but the dots of one that leads out are.
    whole = _PREFIX.sub("", block.above.strip("*_`:# ")).strip("*_`: ")
    for name in (whole, above):
        if _PATH.match(name) and (" " not in name or name in files):
            return name
    comment = _COMMENT.match(block.text.split("\n")[0])
    if comment and _PATH.match(comment[1]) and ("/" in comment[1] or comment[1] in files):
        return comment[1]
    return ""


def _patch(patch: FilePatch, files: Mapping[str, bytes], changes: dict[str, bytes | None]) -> None:
    """Apply one file's patch to what the files and the changes before it say."""
    old = None if patch.old is None else safe_path(patch.old)
    new = None if patch.new is None else safe_path(patch.new)
    if old is None:
        assert new is not None
        if _now(new, files, changes) is not None:
            raise Refused(f"the diff makes {new!r} anew, and the project has it already; change it instead")
        content: bytes | None = b""
    else:
        content = _now(old, files, changes)
    if content is None:
        raise Refused(f"the diff changes {old!r}, which the project does not have")
    try:
        after = applied(content.decode("utf-8"), patch)
    except UnicodeDecodeError:
        raise Refused(f"the diff changes {old!r}, which is no text") from None
    if old is not None and old != new:
        changes[old] = None
    if new is not None:
        changes[new] = _bytes(after)


def _now(path: str, files: Mapping[str, bytes], changes: Mapping[str, bytes | None]) -> bytes | None:
    return changes[path] if path in changes else files.get(path)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
