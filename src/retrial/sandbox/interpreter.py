"""Which interpreter a sandbox starts, and what it must be able to read for that.

Knows nothing of levels. A virtual environment's python is a link and a shim costs more than a whole run, so this is
always the real file.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

__all__ = ["CLEAN", "interpreter", "readable_folders"]

CLEAN = ("-s", "-S", "-P", "-B")
"""No site, no user site, no script folder on the path, no bytecode; unlike -I this obeys PYTHONHASHSEED."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")


@cache
def interpreter() -> str:
    """Find the real file of this interpreter."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@cache
def readable_folders() -> tuple[str, ...]:
    """List the system's folders and the interpreter's, outer ones first.

    The interpreter's prefix is taken whole unless a home lies in it; then only the parts that are needed.
    """
    prefix = Path(sys.base_prefix).resolve()
    homes = {Path.home().resolve(), Path("/home"), Path("/root")}
    if any(home.is_relative_to(prefix) for home in homes):
        own = {Path(interpreter()), *(prefix / "lib").glob("libpython*")}
        own |= {Path(sysconfig.get_path(name, vars=_BASE)) for name in ("stdlib", "platstdlib")}
    else:
        own = {prefix, Path(interpreter()), Path(sysconfig.get_path("stdlib", vars=_BASE))}
    shown = [path for path in _SYSTEM if os.path.lexists(path)]
    for path in sorted(str(path.resolve()) for path in own):
        if not any(path == parent or path.startswith(parent + "/") for parent in shown):
            shown.append(path)
    return tuple(shown)


_BASE = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix, "installed_base": sys.base_prefix}
