"""Where a command's program is, and what the sandbox must let it read for that.

Knows how programs are installed; asks at most the Rust compiler where it lives.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from retrial.errors import SandboxError
from retrial.testbench.rust_build import toolchain

__all__ = ["Tool", "find_tool"]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that was found."""

    program: str
    """What to execute: an absolute path, or one within the project."""
    search: tuple[str, ...] = ()
    """Folders in which it finds other programs, before the system's."""
    readable: tuple[str, ...] = ()
    """Folders outside the project and the system that it needs."""


def find_tool(word: str, files: Container[str], linked: Container[str]) -> Tool:
    """Find the program that a command begins with, first where this interpreter's scripts are.

    ``files`` are the project's, ``linked`` the names of its folders of installed packages.

    Raises:
        SandboxError: if there is none: that is the machine's fault and never an attempt's.
    """
    scripts = str(Path(sys.prefix) / "bin")
    own = _own_folders()
    if "/" in word and not word.startswith("/"):
        name = os.path.normpath(word)
        if name in files or name.partition("/")[0] in linked:
            return Tool(program=f"./{name}", search=(scripts,), readable=own)
        raise SandboxError(f"the command {word!r} is no file of the project; name one, or a program that is installed")
    if word in ("cargo", "rustc"):
        root = toolchain()  # A shim that picks the compiler needs a home, which is out of sight.
        return Tool(program=f"{root}/bin/{word}", search=(f"{root}/bin",), readable=(root,))
    found = shutil.which(word, path=os.pathsep.join((scripts, os.environ.get("PATH", os.defpath))))
    if found is None:
        raise SandboxError(f"the command {word!r} is not installed here: install it, or put it on PATH")
    if found.startswith(f"{scripts}/"):
        return Tool(program=found, search=(scripts,), readable=own)
    folder = os.path.dirname(os.path.realpath(found))  # noqa: PTH120 - of a name, which may lie anywhere
    if folder.startswith(tuple(f"{root}/" for root in _SYSTEM)):
        return Tool(program=found, search=(scripts,), readable=own)
    return Tool(program=os.path.realpath(found), search=(folder, scripts), readable=(*own, _installation(folder)))


def _own_folders() -> tuple[str, ...]:
    """This interpreter's environment, and folders of packages that it shares with others."""
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    known = Path(sys.prefix), Path(sys.base_prefix), Path("/usr")
    shared = [path for path in packages if not any(Path(path).is_relative_to(root) for root in known)]
    return (*((sys.prefix,) if sys.prefix != sys.base_prefix else ()), *shared)


def _installation(folder: str) -> str:
    """What belongs to a program in ``folder``: the folder above its bin, unless a person lives there."""
    above = Path(folder).parent
    home = Path.home()
    private = above == Path("/") or home.is_relative_to(above) or above.parent == home
    return folder if private or Path(folder).name != "bin" else str(above)
