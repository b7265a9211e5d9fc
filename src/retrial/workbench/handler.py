"""Answers RunCommand: the door through which the engine reaches the workbench.

Knows the event loop, the sandbox in use and the order of things: read the project, apply the reply to it in memory,
restore what is protected, and only then put anything anywhere. The work itself blocks, in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from retrial.core.effects import Handlers, RunCommand
from retrial.core.reports import CommandReport
from retrial.errors import ConfigError, SandboxError
from retrial.sandbox.blocking import OpenedOnce, interruptible
from retrial.sandbox.program import Child, Sandbox
from retrial.workbench.copying import changed_copy
from retrial.workbench.paths import Refused
from retrial.workbench.project import Entry, digest_of_project, linked_folders, read_project
from retrial.workbench.running import Job, run_in
from retrial.workbench.tools import find_tool

__all__ = ["CommandHandler"]


class CommandHandler:
    """Runs commands in ``sandbox``, which may be given as a function that opens it when it is first needed."""

    def __init__(self, sandbox: Sandbox | Callable[[], Sandbox]) -> None:
        self._sandbox = sandbox if isinstance(sandbox, OpenedOnce) else OpenedOnce(sandbox)

    def attach(self, engine: Handlers) -> None:
        """Have ``engine`` send every RunCommand here."""
        engine.handle(RunCommand, self)

    async def __call__(self, effect: RunCommand, key: str = "") -> CommandReport:
        """Run the command of ``effect``.

        Raises:
            SandboxError: if the sandbox or the program is not available, or the project is not what it was.
        """
        job = await asyncio.to_thread(self._job, effect)
        if isinstance(job, CommandReport):
            return job
        started: list[Child] = []

        def interrupt() -> None:
            job.interrupted = True
            for child in started:
                child.kill()

        return await interruptible(lambda: run_in(self._sandbox(), job, started), interrupt)

    def _job(self, effect: RunCommand) -> Job | CommandReport:
        """What is to be run, or the report that a reply cannot be applied."""
        folder = Path(effect.project)
        files = _project(effect) if effect.project else {}
        files |= {name: Entry(content=text.encode()) for name, text in effect.files.items()}
        links = linked_folders(folder) if effect.project else {}
        tool = find_tool(effect.argv[0], files, links)
        self._sandbox()
        restored: tuple[str, ...] = ()
        before = files
        try:
            if effect.output is not None:
                files, restored = changed_copy(files, effect)
        except Refused as refusal:
            return CommandReport(exit_code=None, refusal=str(refusal))
        if effect.junit is not None:
            files.pop(effect.junit, None)  # One that was there before says nothing about this attempt.
        changed = frozenset(name for name, file in files.items() if before.get(name) != file)
        return Job(effect=effect, files=files, links=links, tool=tool, restored=restored, changed=changed)


def _project(effect: RunCommand) -> dict[str, Entry]:
    """The files of the project.

    Raises:
        SandboxError: if they cannot be read, or are not those that the run began with.
    """
    try:
        files = read_project(Path(effect.project))
    except ConfigError as error:
        raise SandboxError(str(error)) from error
    now = digest_of_project(files)
    if effect.digest not in ("", now):
        raise SandboxError(
            f"the project {effect.project!r} changed since the run began (digest {now[:12]}, and it was "
            f"{effect.digest[:12]}): put it back as it was, or begin a new run"
        )
    return files
