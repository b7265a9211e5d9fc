"""Source text parsed and compiled, without a word from the compiler's warnings. Nothing is run."""

from __future__ import annotations

import ast
import threading
import warnings

__all__ = ["UNREADABLE", "compiles", "tree_of"]

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
"""What parsing a stranger's text may raise."""

# Silencing warnings changes the state of the whole process, so that one thread at a time may do it.
_lock = threading.Lock()


def tree_of(source: str) -> ast.Module:
    """The syntax tree of ``source``; raises one of UNREADABLE."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def compiles(source: str) -> SyntaxError | bool:
    """True if ``source`` is a program; a SyntaxError, or False where there is not even that, if it is none.

    >>> compiles("x = 1")
    True
    """
    try:
        with _lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except UNREADABLE:
        return False
    return True
