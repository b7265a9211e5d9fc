"""A Python program run without starting an interpreter: in a fork of the keeper, after all doors are closed.

The fork has become the run's user, is limited and filtered exactly like a process that executes a program, and holds no
descriptor more. What it has of the keeper's memory is the request of its own run. Knows nothing of levels.
"""

# ruff: noqa: PTH100, PTH120, PTH123  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import marshal
import os
import sys
import traceback
from types import ModuleType
from typing import NoReturn  # Most programs import typing, so that it is good to have it there.

__all__ = ["WARM", "run_here"]

WARM = "warm python"
"""The first word of a program that is run like this; its second is the name of a .pyc file in the working folder."""

_HEADER = 16


def run_here(argv: list[str], environment: dict[str, str]) -> NoReturn:
    """Become the program: a clean ``__main__``, its arguments, its environment, its whole stack; never returns."""
    code = 1
    try:
        main = _clean(argv, environment)
        with open(argv[0], "rb") as file:
            program = marshal.loads(file.read()[_HEADER:])  # noqa: S302  # put into the run's own folder by the library
        exec(program, main)  # noqa: S102  # this is what a sandbox is for
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  # as an interpreter ends
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
        finally:
            os._exit(code & 0xFF)


def _clean(argv: list[str], environment: dict[str, str]) -> dict[str, object]:
    """Leave nothing of the launcher in sight; answers the namespace of the new ``__main__``."""
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = argv
    sys.dont_write_bytecode = True
    here = os.path.abspath(__file__)
    source = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    sys.path[:] = [path for path in sys.path if path != source]
    for name in [name for name in sys.modules if name.partition(".")[0] == "retrial"]:
        del sys.modules[name]
    depth = sum(1 for _ in traceback.walk_stack(None))
    sys.setrecursionlimit(sys.getrecursionlimit() + depth)
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    return vars(main)
