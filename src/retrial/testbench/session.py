"""The candidate during one request: started, loaded, asked, and started again after it hung or died.

Knows time limits and how a loss is said; does not know what the answers mean. Owns every clock.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrial.errors import SandboxError
from retrial.sandbox.program import Child, Ended, Limits, Program, Sandbox
from retrial.testbench.encoding import Encoder
from retrial.testbench.process import Closed, Process, Slow, exit_words
from retrial.testbench.program import candidate_program
from retrial.testbench.wire import MAX_FRAME, Malformed, decode_frame
from retrial.testbench.wording import clipped, raised, undefined

__all__ = ["LoadFailed", "Lost", "Rules", "Session", "missing_name"]

_MAX_TIMEOUTS = 2
_GRACE = 2.0


class LoadFailed(Exception):
    """The code cannot be loaded; the text says why. ``kind`` is exception, died or timeout."""

    def __init__(self, text: str, kind: str = "exception") -> None:
        super().__init__(text)
        self.text = text
        self.kind = kind


class Lost(Exception):
    """The candidate did not answer. ``kind`` is timeout, died or not_run; ``detail`` is for wording.gone."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a candidate is and how long it may take."""

    code: str
    """The code under test."""
    entry_point: str | None
    """The name that it must define."""
    timeout: float
    """Seconds for everything."""
    test_timeout: float
    """Seconds for one test."""
    modules: tuple[str, ...] = ()
    """Modules outside the standard library that it may import."""
    paths: tuple[str, ...] = ()
    """Folders that hold these modules."""


class Session:
    """Everything that runs for one request. ``interrupt`` ends it from another thread."""

    def __init__(self, rules: Rules, sandbox: Sandbox) -> None:
        self.rules = rules
        self.sandbox = sandbox
        self.deadline = 0.0
        self.exported: Mapping[str, str] = {}
        self.output = ""
        self.interrupted = False
        self._timeouts = 0
        self._candidate: Process | None = None
        self._open: list[Process] = []
        self._running: list[Child] = []
        self._loaded = False

    # Processes

    def begin(self) -> None:
        """The time for everything starts now."""
        self.deadline = time.monotonic() + self.rules.timeout

    def start(self, name: str, program: bytes, paths: tuple[str, ...]) -> Process:
        """Start a process of this session, which may read ``paths`` and ends with it at the latest."""
        left = max(self.deadline - time.monotonic(), 0.1)
        process = Process(
            self.sandbox, name, {name: program}, Limits(seconds=left + _GRACE), paths, warm=name.startswith("candidate")
        )
        self._open.append(process)
        if self.interrupted:
            process.kill()
        return process

    def begin_child(self, program: Program, limits: Limits) -> Child:
        """Start a program that speaks another language than ours. Leave none without ``end_child``."""
        child = self.sandbox.start(program, limits)
        self._running.append(child)
        return child

    def end_child(self, child: Child) -> Ended:
        """Wait for its end, or make one if all was interrupted."""
        try:
            return child.kill() if self.interrupted else child.wait()
        finally:
            self._running.remove(child)

    def launch(self) -> None:
        """Start the candidate and hand it the code, without waiting for it to load."""
        self._candidate = self.start("candidate.pyc", candidate_program(), self.rules.paths)
        self._loaded = False
        frame = Encoder(_no_objects).frame("load", self.rules.code, list(self.rules.modules), list(self.rules.paths))
        self._candidate.send(frame, self.deadline)

    def ready(self) -> Process:
        """The loaded candidate, started anew if there is none.

        Raises:
            LoadFailed: if the code cannot be loaded.
            Lost: if too many tests hung already, or the time is up.
            SandboxError: if the process does not start, or a declared module is missing.
        """
        if self._candidate is None:
            if self._timeouts >= _MAX_TIMEOUTS:
                raise Lost("not_run", f"{self._timeouts} tests did not finish before it")
            if time.monotonic() >= self.deadline:
                raise Lost("not_run", f"the {self.rules.timeout:g} s for all tests were used up")
            self.launch()
        if self._candidate is None:
            raise Lost("not_run", "the program is gone")
        if not self._loaded:
            self._load(self._candidate)
        return self._candidate

    def lose(self, kind: str, limit: float = 0) -> Lost:
        """End the candidate and say why: it hung (timeout), closed its socket (died) or sent nonsense."""
        process, self._candidate = self._candidate, None
        if process is None:
            return Lost("not_run", "the program is gone")
        if kind == "nonsense":
            self._keep(process.kill())
            return Lost("died", "it sent something that is no answer")
        if kind == "timeout":
            self._timeouts += 1
            self._keep(process.kill())
            return Lost("timeout", f"{limit:g} s")
        ended = process.wait(0.5)
        self._keep(ended)
        return Lost("died", exit_words(ended))

    def close(self) -> None:
        """End everything."""
        if self._candidate is not None:
            self._keep(self._candidate.kill())
            self._candidate = None
        for process in self._open:
            process.kill()

    def interrupt(self) -> None:
        """End everything at once, from another thread."""
        self.interrupted = True
        for child in list(self._running):
            child.kill()
        for process in list(self._open):
            process.interrupt()

    def _keep(self, ended: Ended) -> None:
        self.output = self.output or ended.output

    # Talking

    def answer(self, limit: int, seconds: float) -> bytes | None:
        """The next answer of the candidate; None for one that is longer than ``limit``.

        Raises:
            Lost: if there is none within ``seconds`` or the time that is left for everything.
        """
        process = self._candidate
        if process is None:
            raise Lost("not_run", "the program is gone")
        try:
            return process.receive(min(self.deadline, time.monotonic() + seconds), limit)
        except Slow:
            raise self.lose("timeout", min(seconds, self.rules.timeout)) from None
        except Closed:
            raise self.lose("died") from None

    def _load(self, process: Process) -> None:
        seconds = self.rules.test_timeout + _GRACE
        try:
            self._started(process)
            frame = self.answer(MAX_FRAME, seconds)
            head, _ = decode_frame(frame or b"")
            self._understand(head)
        except Lost as lost:
            if lost.kind == "timeout":
                raise LoadFailed(f"loading the code did not finish within {lost.detail}", "timeout") from None
            raise LoadFailed(f"the program ended while the code was loading ({lost.detail})", "died") from None
        except (Malformed, IndexError, TypeError, ValueError, KeyError):
            self.lose("nonsense")
            raise LoadFailed("the program ended while the code was loading (it sent nonsense)", "died") from None
        self._loaded = True

    def _started(self, process: Process) -> None:
        try:
            process.receive(self.deadline)
        except Slow:
            return
        except Closed:
            if self.interrupted:
                raise Lost("died", "interrupted") from None
            self._candidate = None
            ended = process.wait(0.5)
            raise SandboxError(
                f"the process for the code did not start ({exit_words(ended)}): {clipped(ended.output, 500)!r}"
            ) from None

    def _understand(self, head: list[Any]) -> None:
        """Read the answer to a load request; the entry point must be among the names."""
        if head[0] == "missing":
            raise SandboxError(
                f"the task allows the module {head[1]!r}, which cannot be imported in the sandbox "
                f"({clipped(str(head[2]))}): install it, or take it out of the task's modules"
            )
        if head[0] == "refused":
            raise LoadFailed(str(head[1]))
        if head[0] == "raise":
            steps = [[int(line), str(name), str(text)] for line, name, text in head[6]]
            raise LoadFailed(_load_text(str(head[1]), str(head[5]), steps, head[8]))
        self.exported = {str(name): str(kind) for name, kind in head[1].items()}
        entry = self.rules.entry_point
        if entry is not None and entry not in self.exported:
            raise LoadFailed(missing_name(entry, self.exported))


def missing_name(name: str, exported: Mapping[str, str]) -> str:
    """Why a name cannot be used: what the code defines instead.

    >>> missing_name("add", {"addition": "function"})
    'add is not defined; the code defines: addition'
    """
    own = [known for known, kind in exported.items() if not kind.endswith("imported")]
    close = difflib.get_close_matches(name, own, n=len(own) or 1, cutoff=0.6)
    return undefined(name, [*close, *[known for known in own if known not in close]])


def _load_text(name: str, text: str, steps: list[Any], missing: Any) -> str:
    if isinstance(missing, str):
        return f"{missing.partition('.')[0]} is not available here"
    if name in ("SystemExit", "KeyboardInterrupt"):
        return f"the code ended the program while loading ({name})"
    return raised("loading the code", name, text, steps)


def _no_objects(_encoder: Encoder, value: Any) -> list[Any]:
    raise TypeError(f"{value!r} is no plain data")
