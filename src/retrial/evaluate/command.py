"""Any command as the judge: its exit code in a copy of a project that the reply changed is the evidence.

Asks the workbench to apply the reply and to run the command, and turns the report into a verdict. Code and runner share
a process in most languages, so that code which sets out to deceive its runner can (docs/commands.md says how far).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from retrial.core.effects import RunCommand
from retrial.core.reports import CommandReport
from retrial.core.tasks import LONGEST_TIMEOUT, Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.nothing_run import ran_nothing

__all__ = ["Command", "verdict_of_command"]

MAX_FAILURES_SHOWN = 5
"""More than this many failed tests do not help a reflector."""
MAX_OUTPUT_SHOWN = 2_000
"""Characters of output that a reflector reads."""
OWN_REPORT = ".retrial-junit.xml"
"""Where pytest is asked for a report if the task names none."""
_SHELL = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"})


class Command:
    """Judges a reply that changes a project by running a command in a copy of it.

    Args:
        command: the program and its arguments, as words or as one text that is split like a shell would; no shell.
        project: the folder.
        digest: of the project's content; task files and ``solve`` put it in, so that a run knows what it was about.
        target: where bare code goes, when a reply is neither a diff nor named files.
        protected: patterns of files that are restored before the command runs; None for what tests are usually
            called. Files that steer runners, such as ``conftest.py``, are restored in any case.
        editable: patterns of files that are not protected, whatever else says so.
        junit: where the command writes a report in JUnit's XML. It must be there and agree with the exit code. pytest
            is asked for one in any case.
        timeout: seconds for the command, above 0.
        readable: folders outside the project that the command may read.
        environment: variables for the command. They are recorded, so that secrets have no place here.
        show: patterns of files that the actor sees; task files and ``solve`` put them into the prompt.
    """

    max_calls = 0

    def __init__(
        self,
        *,
        command: str | Sequence[str],
        project: str,
        digest: str = "",
        target: str | None = None,
        protected: Sequence[str] | None = None,
        editable: Sequence[str] = (),
        junit: str | None = None,
        timeout: float = 60.0,
        readable: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        show: Sequence[str] = (),
    ) -> None:
        self._argv = _words(command)
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise ConfigError(
                f"command: timeout={timeout!r} is not possible; it is above 0, at most {LONGEST_TIMEOUT:g}"
            )
        for name, path in (("target", target), ("junit", junit)):
            if path is not None and (path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts or not path):
                raise ConfigError(f"command: {name}={path!r} must be a path within the project")
        lists = {"protected": protected or (), "editable": editable, "readable": readable, "show": show}
        for name, given in lists.items():
            if isinstance(given, str) or not all(isinstance(item, str) and item for item in given):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
                raise ConfigError(f"command: {name}={given!r} must be a list of texts")
        self._effect = RunCommand(
            argv=self._argv,
            project=project,
            digest=digest,
            target=target,
            protected=None if protected is None else tuple(protected),
            editable=tuple(editable),
            junit=junit,
            timeout=float(timeout),
            readable=tuple(readable),
            environment={name: str(value) for name, value in (environment or {}).items()},
        )
        self._show = tuple(show)

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        effect = self._effect
        return {
            "kind": "command",
            "command": list(self._argv),
            "project": effect.project,
            "digest": effect.digest,
            "target": effect.target,
            "protected": None if effect.protected is None else list(effect.protected),
            "editable": list(effect.editable),
            "junit": effect.junit,
            "timeout": effect.timeout,
            "readable": list(effect.readable),
            "environment": dict(effect.environment),
            "show": list(self._show),
        }

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output``."""
        argv, junit = with_report(self._argv, self._effect.junit)
        report = await run.command("command", replace(self._effect, argv=argv, junit=junit, output=output))
        if report.exit_code == 0 and not report.report_error and not report.checks and ran_nothing(argv, report.output):
            report = replace(report, report_error="no test was run")
        return verdict_of_command(report, shlex.join(self._argv))


def with_report(argv: tuple[str, ...], junit: str | None) -> tuple[tuple[str, ...], str | None]:
    """Return a command and its report's path, where pytest is asked for a report whatever the task says.

    A program that ends early with exit code 0 leaves none.

    >>> with_report(("pytest", "-q"), None)
    (('pytest', '-q', '--junitxml=.retrial-junit.xml'), '.retrial-junit.xml')
    >>> with_report(("make", "test"), None)
    (('make', 'test'), None)
    >>> with_report(("python", "-B", "-m", "pytest", "--junitxml=x.xml"), None)[1]
    'x.xml'
    """
    places = [place for place, word in enumerate(argv) if PurePosixPath(word).name in ("pytest", "py.test")]
    if not any(place == 0 or argv[place - 1] in ("-m", "run") or argv[0] in ("env", "time") for place in places):
        return argv, junit
    for word, after in zip(argv, (*argv[1:], ""), strict=True):
        option, _, path = word.partition("=")
        if option in ("--junitxml", "--junit-xml"):
            path = str(PurePosixPath(path or after))
            return argv, junit or (None if path.startswith(("/", "..")) else path)
    junit = junit or OWN_REPORT
    return (*argv, f"--junitxml={junit}"), junit


def verdict_of_command(report: CommandReport, command: str) -> Verdict:
    r"""Turn a report into a verdict: passed only if the exit code is 0 and every test of the report, if any, passed.

    >>> verdict_of_command(CommandReport(exit_code=2, output="no rule"), "make test").reason
    '`make test` ended with exit code 2\nno rule'
    """
    if report.refusal:
        return Verdict(passed=False, score=0.0, reason=f"The reply could not be used: {report.refusal}", trust="tests")
    counted = [check for check in report.checks if check.kind != "not_run"]
    passed_count = sum(check.passed for check in counted)
    reported = not report.report_error and (not report.checks or passed_count == len(counted) > 0)
    empty = bool(report.checks) and not counted
    passed = report.exit_code == 0 and reported and not empty
    score = passed_count / len(counted) if counted else float(passed)
    return Verdict(
        passed=passed,
        score=score if passed else min(score, 0.99),
        reason="" if passed else "\n".join(_reason(report, command, passed_count, len(counted))),
        checks=report.checks,
        trust="tests",
        isolation=report.isolation,
        shared_process=True,
    )


def _reason(report: CommandReport, command: str, passed: int, counted: int) -> list[str]:
    """Why it failed, line by line."""
    failed = [check for check in report.checks if not check.passed and check.kind != "not_run"]
    lines: list[str] = []
    if counted:
        lines.append(f"{passed} of {counted} tests passed")
        lines += [f"- {check.name}: {check.message}" for check in failed[:MAX_FAILURES_SHOWN]]
        if len(failed) > MAX_FAILURES_SHOWN:
            lines.append(f"- and {len(failed) - MAX_FAILURES_SHOWN} more")
    if report.timed_out:
        lines.append(f"`{command}` did not end in time and was stopped")
    elif report.exit_code == 0 and not failed:
        why = report.report_error or "no test was run"
        lines.append(f"`{command}` ended with exit code 0, but {why}; did the code end the program?")
    elif not failed:
        how = f"exit code {report.exit_code}" if (report.exit_code or 0) >= 0 else f"signal {-(report.exit_code or 0)}"
        lines.append(f"`{command}` ended with {how}")
    if not failed and report.output.strip():
        lines.append(_tail(report.output))
    if report.restored:
        lines.append(f"Protected files stay as they are: {', '.join(report.restored)}")
    return lines


def _tail(text: str) -> str:
    """The end of what a command printed: what it says last is what came of it."""
    text = text.strip()
    if len(text) <= MAX_OUTPUT_SHOWN:
        return text
    kept = text[-MAX_OUTPUT_SHOWN:]
    return f"[...]\n{kept.partition(chr(10))[2] or kept}"


def _words(command: str | Sequence[str]) -> tuple[str, ...]:
    """The words of a command.

    Raises:
        ConfigError: if there are none, or some are meant for a shell.
    """
    try:
        words = tuple(shlex.split(command)) if isinstance(command, str) else tuple(command)
    except ValueError as error:
        raise ConfigError(f"command: {command!r} cannot be split into words: {error}") from error
    if not words or not all(isinstance(word, str) for word in words) or not words[0]:  # pyright: ignore[reportUnnecessaryIsInstance] - a user's value
        raise ConfigError(f'command: {command!r} names no program; say command = "pytest -q"')
    if isinstance(command, str) and (shell := _SHELL & {*words}):
        raise ConfigError(
            f"command: {command!r} holds {min(shell)!r}, and there is no shell; "
            f'say ["sh", "-c", "..."], or put it into a script of the project'
        )
    return words
