"""What a level does to the processes of a run, in the order in which it is done; and the level ``limited``.

Three processes take part: the launcher, one a sandbox, which is set up once; a keeper, one a run, which watches; and
the program. Knows nothing of how they talk or how a run is watched.
"""

# ruff: noqa: PTH102, PTH120, PTH123, PTH208  # pathlib is slow to import, and the launcher does without it

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from retrial.sandbox import syscalls
from retrial.sandbox.program import Limits
from retrial.sandbox.rlimits import apply_limits, tasks_now

__all__ = ["TMP", "Stage", "remove_folder"]

TMP = "tmp"
"""The folder for temporary files, beside the working folder."""

_PATH = "/usr/local/bin:/usr/bin:/bin"


class Stage:
    """The level ``limited``: a folder, limits, and every descendant killed as far as it can be found.

    A program that kills its keeper can leave a process behind at this level, and it sees all that its user sees.
    """

    def __init__(self, *, folders: tuple[str, ...] = (), scratch: str = "/tmp") -> None:  # noqa: S108  # never used
        self.folders = folders
        """Folders that the program may read: the interpreter and the system's libraries."""
        self.scratch = scratch
        """Where folders of runs are made."""
        self.number: int = os.getpid() * 31
        """One more with every run, and different in every launcher."""
        self.folder = ""
        """What the keeper must remove in the end; empty where the kernel does."""

    @property
    def facts(self) -> dict[str, str | int | bool]:
        """What the launcher found out, for the report."""
        return {}

    def prepare(self) -> None:
        """In the launcher, once: whatever every run shares."""

    def spawn(self) -> int:
        """In the launcher: start a keeper; answers like ``fork``."""
        self.number += 1
        return os.fork()

    def enter(self, limits: Limits) -> str:
        """In the keeper: make the working folder and go there."""
        del limits  # Only a level with file systems of its own can bound a folder.
        if sys.platform == "linux":
            syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        self.folder = tempfile.mkdtemp(prefix="retrial-", dir=self.scratch)
        for name in ("work", TMP):
            os.mkdir(f"{self.folder}/{name}", 0o700)
        os.chdir(f"{self.folder}/work")
        return f"{self.folder}/work"

    def environment(self, folder: str) -> dict[str, str]:
        """Tell all that the program finds in its environment."""
        return {
            "PATH": _PATH,
            "HOME": folder,
            "TMPDIR": f"{os.path.dirname(folder)}/{TMP}",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "MALLOC_ARENA_MAX": "2",  # Every further one would reserve address space, which is limited.
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def become(self) -> None:
        """In the program's process, first: become the user that it runs as."""

    def seal(self, limits: Limits) -> None:
        """In the program's process, last: nothing can be done afterwards but execute."""
        apply_limits(limits, counted=tasks_now())

    def strike(self) -> None:
        """In the keeper: send the kill signal to every process of the run that is still there."""
        for child in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)

    def leave(self) -> None:
        """In the keeper, last: remove what ``enter`` made."""
        if self.folder:
            os.chdir("/")
            remove_folder(self.folder)
            self.folder = ""
        """What the keeper must remove in the end; empty where the kernel does."""


def _children() -> list[int]:
    """List the processes that this one must reap, adopted ones too."""
    found: list[int] = []
    if sys.platform != "linux":
        return found
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    found.append(int(entry))
    return found


def remove_folder(folder: str) -> None:
    """Remove a folder that a hostile program has filled: closed folders, and nests deeper than Python can recurse."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        for command in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
            subprocess.run(command, check=False, capture_output=True, env={"PATH": _PATH})  # noqa: S603  # fixed words
