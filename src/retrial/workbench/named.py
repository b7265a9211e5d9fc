"""Which files of a project a command names: its scripts, whatever way they are written. Pure functions of words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

__all__ = ["modules_of", "names_in"]

_PIECE = re.compile(r"[^\s;&|()<>'\"`$={},:]+")
_MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def names_in(argv: Iterable[str]) -> frozenset[str]:
    """Return every path that the words of a command may mean, whether there is such a file or not.

    A word may be a path, an option with a path behind ``=``, a text for a shell, or a module with dots. A word without
    any is a module only where Python is told to run it, or unittest to load it.

    >>> "check.sh" in names_in(["sh", "-c", "cd . && ./check.sh"])
    True
    >>> "checks/run.py" in names_in(["python", "-m", "checks.run"]), "total.py" in names_in(["pytest", "-k", "total"])
    (True, False)
    """
    words = tuple(argv)
    return frozenset(str(PurePosixPath(piece)) for piece in (*words, *_pieces(words))) | frozenset(_modules(words))


def modules_of(argv: Iterable[str]) -> frozenset[str]:
    """Return the modules that Python is told to run, without what they lie in.

    >>> sorted(modules_of(["python", "-B", "-m", "coverage", "run", "-m", "nose2.tool"]))
    ['coverage', 'nose2']
    """
    pieces = _pieces(argv)
    return frozenset(after.partition(".")[0] for word, after in itertools.pairwise(pieces) if word == "-m")


def _pieces(argv: Iterable[str]) -> list[str]:
    return [piece for word in argv for piece in _PIECE.findall(word)]


def _modules(argv: Iterable[str]) -> Iterator[str]:
    """The files of the modules that are named."""
    before, loads = "", False
    for piece in _pieces(argv):
        if _MODULE.fullmatch(piece) and ("." in piece or before == "-m" or loads):
            parts = piece.split(".")
            for count in range(1, len(parts) + 1):
                path = "/".join(parts[:count])
                yield from (f"{root}{path}{end}" for root in ("", "src/", "lib/") for end in (".py", "/__main__.py"))
        before, loads = piece, loads or piece == "unittest"
