"""What can be started in a sandbox, within which limits, and what is held while it runs.

Knows nothing of how a level isolates; every level's launcher takes these and gives back a Child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from retrial.core.reports import Isolation
from retrial.errors import ConfigError

__all__ = ["Child", "Ended", "Limits", "Program", "Sandbox"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use."""

    seconds: float = 30.0
    """Wall time after which the whole tree is killed, above 0. CPU time ends with what all processors give in it."""
    memory_bytes: int = 1 << 30
    """Address space of one process."""
    file_bytes: int = 32 << 20
    """Size of one written file, and of the private working folder."""
    open_files: int = 64
    """Open descriptors of one process."""
    output_bytes: int = 64 << 10
    """What is kept of standard output and error together; the rest is read, counted and thrown away."""
    flood_bytes: int = 200 << 20
    """Output after which the program is killed."""
    fork: bool = False
    """Whether it may start processes. Threads are always allowed."""

    def __post_init__(self) -> None:
        """Refuse limits under which nothing can run.

        Raises:
            ConfigError: naming the limit and its value.
        """
        for name in ("seconds", "memory_bytes", "file_bytes", "open_files"):
            if not getattr(self, name) > 0:
                message = f"the sandbox limit {name}={getattr(self, name)!r} must be above 0"
                raise ConfigError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program to start."""

    argv: tuple[str, ...]
    """The program and its arguments; ``("python", ...)`` stands for this interpreter, started clean, and
    ``("warm python", "name.pyc", ...)`` for a copy of one that stands started in the sandbox already."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Files for the private working folder, by relative path."""
    stdin: bytes = b""
    """What it can read on standard input; then end of file."""
    fds: tuple[int, ...] = ()
    """Descriptors that it inherits, under the same numbers, besides standard input, output and error."""
    paths: tuple[str, ...] = ()
    """Absolute paths outside that it may read, besides the interpreter's and the system's. Each set of paths keeps a
    launcher of its own, so there should be few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended."""

    exit_code: int | None
    """The exit code, negative for a signal; None if it was killed for taking too long or for flooding."""
    output: str
    """The head of standard output and error, invalid UTF-8 kept readable, control characters stripped."""
    output_bytes: int
    """How many bytes it wrote in all."""
    timed_out: bool
    """Whether the wall time ran out."""


class Child(Protocol):
    """A started program. Leave no child without a call of ``wait`` or ``kill``."""

    @property
    def isolation(self) -> Isolation:
        """Where it runs; the mechanism ends in ``+fork`` where starting processes is allowed."""
        ...

    def wait(self, seconds: float | None = None) -> Ended:
        """Wait for the end, at most ``seconds`` more (None for what its limits leave), kill the tree, tidy up."""
        ...

    def kill(self) -> Ended:
        """Kill the whole tree at once and tidy up. Safe to call twice and from another thread."""
        ...


class Sandbox(Protocol):
    """One level of isolation, ready to start programs. Safe to use from several threads."""

    @property
    def isolation(self) -> Isolation:
        """What probes observed of this level on this machine."""
        ...

    def start(self, program: Program, limits: Limits) -> Child:
        """Start ``program``.

        Raises:
            SandboxError: if the sandbox itself fails; never for what the program does.
        """
        ...
