"""What the runners of whole test files share: loading the file, naming its tests, one record for each.

Knows no runner. The text of this module is also part of the judges' programs.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import posix
import sys

from retrial.testbench.recorder import Pipe, Recorder, namespace, open_link
from retrial.testbench.remote import Gone
from retrial.testbench.wire import decode_frame, encode_frame
from retrial.testbench.wording import clipped, comparison, short, undefined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Interrupted", "SuiteRecorder", "run_suite"]


class Interrupted(BaseException):
    """The solution raised KeyboardInterrupt, which a runner would take for the user's."""

    @classmethod
    def instead_of(cls, error: BaseException) -> Interrupted:
        """The same with a name that no runner knows."""
        found = cls(*error.args)
        vars(found).update(vars(error))
        return found


class SuiteRecorder(Recorder):
    """Records whole tests; the asserts in them only say what they compared."""

    def __init__(self, pipe: Pipe, nonce: str, asserts: list[Any], tests: list[str]) -> None:
        super().__init__(pipe, nonce, asserts)
        self._places = {name: number for number, name in enumerate(tests)}
        self._count = len(tests)
        self._earlier: list[tuple[str, str]] = []

    def source(self, index: int) -> str:
        """The name of the test."""
        return self.name or "the test"

    def begin(self, _index: int) -> None:
        """An assert is about to be evaluated."""
        if self.link.calls:
            self._earlier = self.link.calls
        self.link.calls = []
        self._detail = None

    def start(self, name: str) -> None:
        """A test begins, and its time with it."""
        self.name = name
        self.link.calls = self._earlier = []
        self._detail = self._failed = None
        self.lost()
        self._pipe.send(b"B", b"")

    def compare(self, index: int, op: str, left: Any, right: Any) -> bool:
        """Whether a comparison holds; an earlier call that gave what is compared is named."""
        if super().compare(index, op, left, right):
            return True
        found = [call for call, value in self._earlier if value and value == self.link.render(left)]
        if self._detail and not self.link.calls and found:
            self._detail[0] += f" ({found[-1]} is {short(left)})"
            self._detail[1] = found[-1]
        return False

    def explain(self, error: BaseException, op: str, left: Any, right: Any) -> None:
        """Say about a failed comparison of a runner's own which call gave which of the two values."""
        for value, other in ((left, right), (right, left)):
            shown = self.link.render(value)
            call = next((call for call, gave in reversed(self.link.calls) if gave == shown), None)
            if call is not None:
                actual, expected = short(value), short(other)
                self._detail = [comparison(call, actual, op, expected), call, actual, expected]
                self._failed = error
                return
            if op not in ("==", "!=", "is", "is not"):
                return

    def showed(self, error: BaseException, message: str, call: str, actual: str, expected: str) -> None:
        """Say what ``error``, which is raised next, is about."""
        self._detail, self._failed = [message, call, actual, expected], error

    def place(self, key: str) -> int:
        """Which given test it is; the one past the last for a test that was not known to exist."""
        return self._places.get(key, self._count)

    def finish(self, name: str, key: str, error: BaseException | None = None, *, note: str = "") -> None:
        """Record a test: passed without an error; ``note`` is added to what is said about one."""
        self.finish_at(self.place(key), name, error, note=note)

    def finish_at(self, place: int, name: str, error: BaseException | None, *, note: str = "") -> None:
        """Record the test at ``place``; one below 0 was not known to exist."""
        self.name, place = name, place if place >= 0 else self._count
        if not self.link.calls:
            self.link.calls = self._earlier
        if error is None:
            self.passed(place)
            return
        if note and self._detail and error is self._failed:
            self._detail[0] += f" ({note})"
        self.caught(place, error)

    def skip(self, name: str, key: str, reason: str) -> None:
        """Record a test that was not run to its end, which is no pass."""
        self.name = name
        text = f"the test was skipped: {clipped(reason)}" if reason else "the test was skipped"
        self._record(self.place(key), False, "not_run", text, None, None, None)

    def broken(self, error: BaseException) -> None:
        """The test file could not be loaded, or its runner came to no end."""
        self.name = "the test file"
        told = "retrial_told" in getattr(error, "__dict__", {})
        if isinstance(error, ModuleNotFoundError) and error.name and not told:
            self._pipe.send(b"M", encode_frame([self._nonce, error.name]))
        if isinstance(error, ImportError) and error.name == "solution":
            wanted = str(error).split("'")[1:2]
            own = [name for name, kind in self.link.exported.items() if not kind.endswith("imported")]
            told = undefined(wanted[0] if wanted else "what the tests import", own)
            self._record(self._count, False, "exception", told, None, None, None)
        else:
            self.caught(self._count, error)


def _bring_names(recorder: SuiteRecorder, job: dict[str, Any]) -> None:
    """What the line that the plan added to the file imports."""
    names = namespace(recorder.link, recorder, job["mentioned"], job["entry"])
    del names["__name__"]
    module: Any = type(sys)("retrial_names")
    vars(module).update(names)
    module.__all__ = [*names]
    sys.modules["retrial_names"] = module


def run_suite(fd: int, runner: Callable[[Any, SuiteRecorder], None]) -> None:
    """Run the test file that arrives on the connection and report on it."""
    pipe = Pipe(fd)
    pipe.send(b"H", b"")
    job: dict[str, Any] = decode_frame(pipe.receive()[1])[0]
    recorder = SuiteRecorder(pipe, job["nonce"], job["asserts"], job["tests"])
    open_link(job, recorder)
    try:
        _bring_names(recorder, job)
        runner(job["programs"], recorder)
    except (Exception, Gone, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - every end of tests is data
        recorder.broken(error)
    pipe.send(b"E", encode_frame(job["nonce"]))
    vars(posix)["_exit"](0)
