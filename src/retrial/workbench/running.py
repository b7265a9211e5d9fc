"""One command run in the sandbox, and its report. Blocks; knows nothing of replies or of what is protected."""

from __future__ import annotations

import base64
import binascii
import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from retrial.core.effects import RunCommand
from retrial.core.reports import Check, CommandReport
from retrial.errors import SandboxError
from retrial.sandbox.program import Child, Ended, Limits, Program, Sandbox
from retrial.workbench import junit
from retrial.workbench.project import Entry
from retrial.workbench.tools import Tool
from retrial.workbench.words import steady

__all__ = ["Job", "run_in"]

_OUTPUT = 32 << 10
_GRACE = 5.0
_MEMORY = 4 << 30
_ENVIRONMENT = {
    "CI": "1",
    "NO_COLOR": "1",
    "CARGO_NET_OFFLINE": "true",
    "npm_config_update_notifier": "false",
    "npm_config_offline": "true",
}
"""What tools are told: that nobody watches, and that there is no network."""


@dataclass(slots=True, kw_only=True)
class Job:
    """What is to be run."""

    effect: RunCommand
    """What was asked for."""
    files: Mapping[str, Entry]
    """The working folder."""
    links: Mapping[str, str]
    """Folders of installed packages, by the name under which the project has them."""
    tool: Tool
    """The program of the command."""
    restored: tuple[str, ...] = ()
    """For the report."""
    changed: frozenset[str] = frozenset()
    """The files that the reply wrote."""
    interrupted: bool = False
    """Whether nobody waits for the outcome any more."""


def run_in(sandbox: Sandbox, job: Job, started: list[Child]) -> CommandReport:
    """Run a job; what it starts is put into ``started``, so that it can be ended from another thread.

    Raises:
        SandboxError: if the sandbox fails or the program cannot be executed there.
    """
    fd = os.memfd_create("report", os.MFD_CLOEXEC)
    try:
        program = Program(
            argv=("python", "-c", _text(), str(fd)),
            stdin=json.dumps(_order(job)).encode("ascii"),
            fds=(fd,),
            paths=tuple(dict.fromkeys((*job.tool.readable, *job.links.values(), *job.effect.readable))),
        )
        limits = Limits(
            seconds=job.effect.timeout + _GRACE,
            memory_bytes=_MEMORY,
            file_bytes=256 << 20,
            open_files=1024,
            output_bytes=4096,
            fork=True,
        )
        child = sandbox.start(program, limits)
        started.append(child)
        ended = child.kill() if job.interrupted else child.wait()
        return _report(job, child, ended, os.pread(fd, 32 << 20, 0))
    finally:
        os.close(fd)


@functools.cache
def _text() -> str:
    """The program that stands beside the command."""
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")


def _order(job: Job) -> dict[str, Any]:
    return {
        "files": {name: (base64.b64encode(file.content).decode(), file.executable) for name, file in job.files.items()},
        "links": dict(job.links),
        "argv": [job.tool.program, *job.effect.argv[1:]],
        "search": job.tool.search,
        "environment": {**_ENVIRONMENT, **job.effect.environment},
        "seconds": job.effect.timeout,
        "output_bytes": _OUTPUT,
        "junit": job.effect.junit,
        "report_bytes": junit.MOST_BYTES,
    }


def _report(job: Job, child: Child, ended: Ended, told: bytes) -> CommandReport:
    """The report, from what the program beside the command wrote down; it wrote nothing if it was killed."""
    try:
        found: dict[str, Any] = json.loads(told)
        output = base64.b64decode(found.get("head", "")), base64.b64decode(found.get("tail", ""))
    except (ValueError, binascii.Error):
        if not ended.timed_out and ended.exit_code is not None and ended.exit_code >= 0:
            why = ended.output.strip().split("\n")[-1]
            raise SandboxError(f"the command could not be run in the sandbox: {why[:500]}") from None
        exit_code = None if ended.timed_out else -9
        return CommandReport(
            exit_code=exit_code, timed_out=ended.timed_out, isolation=child.isolation, restored=job.restored
        )
    if "broken" in found:
        raise SandboxError(f"the command cannot be executed in the sandbox: {found['broken']}")
    places = (str(found["place"]), *job.links.values(), *job.tool.readable, *job.effect.readable)
    left_out = f"\n[{found['left_out']} bytes are left out]\n" if found["left_out"] else ""
    text = left_out.join(part.decode("utf-8", "backslashreplace") for part in output)
    report = CommandReport(
        exit_code=None if found["timed_out"] else int(found["exit_code"]),
        timed_out=bool(found["timed_out"]),
        output=steady(text, places, 2 * _OUTPUT),
        isolation=child.isolation,
        restored=job.restored,
    )
    return _with_checks(report, job, found["report"], places)


def _with_checks(report: CommandReport, job: Job, content: str | None, places: tuple[str, ...]) -> CommandReport:
    if job.effect.junit is None or report.timed_out:
        return report
    if content is None:
        return replace(report, report_error=f"it left no report at {job.effect.junit}")
    try:
        checks = junit.checks_in(base64.b64decode(content), lambda text, most: steady(text, places, most))
    except junit.BadReport as error:
        return replace(report, report_error=f"its report at {job.effect.junit} cannot be used: {error}")
    return replace(report, checks=tuple(_unless_skipped_by(job.changed, check) for check in checks))


def _unless_skipped_by(changed: frozenset[str], check: Check) -> Check:
    """A skipped test counts for nobody, unless the code under test is what skipped it: then it failed."""
    if check.kind != "not_run" or check.message.partition(":")[0].removeprefix("./") not in changed:
        return check
    return Check(name=check.name, passed=False, message=f"the code under test skipped it, in {check.message}")
