"""Which paths of a project a reply may name.

Knows names and no file system: a path that is allowed here stays inside the copy, which holds no links that lead out.
"""

from __future__ import annotations

from pathlib import PurePosixPath

__all__ = ["CACHES", "LEFT_OUT", "LINKED", "Refused", "safe_path"]

LEFT_OUT = frozenset({".git", ".hg", ".svn", ".retrial", "__pycache__"})
"""Folders that are no part of a project's copy, wherever they stand."""
CACHES = frozenset({".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"})
"""Folders that tools leave behind."""
LINKED = frozenset({"node_modules", ".venv", "venv"})
"""Folders of installed packages at the top of a project: not copied, but readable where they stand."""

_LONGEST = 250
_LONGEST_NAME = 255
"""Bytes of one name, which is what file systems hold."""


class Refused(Exception):
    """What a reply asks for cannot be done; the text says what, and it is the reply's fault."""


def safe_path(text: str) -> str:
    """Return the path that ``text`` names within a project.

    >>> safe_path("./src//slug.py")
    'src/slug.py'
    >>> safe_path("../secrets")
    Traceback (most recent call last):
    retrial.workbench.paths.Refused: the path '../secrets' leads out of the project

    Raises:
        Refused: naming the path.
    """
    path = PurePosixPath(text)
    if not path.parts or not text.isprintable() or "\\" in text or len(text) > _LONGEST:
        raise Refused(f"the path {text[:_LONGEST]!r} is none that a project can hold")
    if any(len(part.encode()) > _LONGEST_NAME for part in path.parts):
        raise Refused(f"the path {text!r} holds a name of more than {_LONGEST_NAME} bytes")
    if path.is_absolute() or ".." in path.parts or path.parts[0].startswith("~"):
        raise Refused(f"the path {text!r} leads out of the project")
    if (
        any(part.casefold() in LEFT_OUT for part in path.parts)
        or path.parts[0] in LINKED
        or "node_modules" in path.parts
    ):
        raise Refused(f"the path {text!r} lies in a folder that is not the project's own")
    return str(path)
