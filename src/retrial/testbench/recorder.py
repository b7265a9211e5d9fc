"""What every program that holds tests has: the connection to the supervisor, the records, the way to the solution.

Knows the nonce and how an outcome is worded; reaches the solution only by asking the supervisor to pass a frame on.
Does not know how tests are run. The text of this module is also part of the judges' programs.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import posix
import sys

from retrial.testbench.link import Link
from retrial.testbench.remote import Gone, describe_error
from retrial.testbench.wire import decode_frame, encode_frame
from retrial.testbench.wording import clipped, comparison, gone, short, undefined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Pipe", "Recorder", "namespace", "open_link"]

_leave: Any = vars(posix)["_exit"]
_MAX_RECORDS = 500
_OPERATIONS: dict[str, Any] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


class Pipe:
    """The connection to the supervisor: one byte says what a frame is about."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def send(self, kind: bytes, frame: bytes) -> None:
        """Send one frame."""
        view = memoryview((len(frame) + 1).to_bytes(4, "big") + kind + frame)
        while view:
            view = view[posix.write(self._fd, view) :]

    def receive(self) -> tuple[bytes, bytes]:
        """The next frame and what it is about."""
        data = self._read(int.from_bytes(self._read(4), "big"))
        return data[:1], data[1:]

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = posix.read(self._fd, min(size, 1 << 20))
            if not part:
                _leave(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def exchange(self, frame: bytes) -> bytes:
        """Have a frame passed on to the candidate and give what it answers."""
        self.send(b"C", frame)
        kind, answer = self.receive()
        if kind == b"V":
            return answer
        why, detail = decode_frame(answer)[0]
        raise Gone(why, detail, "")


class Recorder:
    """What the rewritten asserts call. One record for a test or, inside a check function, for an executed assert."""

    def __init__(self, pipe: Pipe, nonce: str, asserts: list[Any]) -> None:
        self._pipe = pipe
        self.link: Link
        self._nonce = nonce
        self._asserts = asserts
        self._counts: dict[int, int] = {}
        self._detail: list[Any] | None = None
        self._lost: Gone | None = None
        self.entered = False
        self.name: str | None = None
        self._failed: BaseException | None = None

    def begin(self, _index: int) -> None:
        """An assert is about to be evaluated."""
        self.link.calls = []
        self._detail = None
        self._pipe.send(b"B", b"")

    def enter(self) -> None:
        """The check function is being called."""
        self.entered = True

    def compare(self, index: int, op: str, left: Any, right: Any) -> bool:
        """Whether a comparison holds; keeps what to say if not."""
        if _OPERATIONS[op](left, right):
            return True
        actual, expected = short(left), short(right)
        _, left_source, is_call = self._asserts[index]
        calls = self.link.calls
        text = calls[0][0] if is_call and len(calls) == 1 else left_source
        message = comparison(text, actual, op, expected)
        if calls and not is_call and calls[-1][1]:
            message += f" ({calls[-1][0]} is {calls[-1][1]})"
        self._detail = [message, calls[-1][0] if calls else None, actual, expected]
        return False

    def truth(self, index: int, value: Any, *, negated: bool) -> bool:
        """Whether a value is true, or with ``negated`` false; keeps what to say if not."""
        if bool(value) is not negated:
            return True
        _, source, is_call = self._asserts[index]
        calls, actual = self.link.calls, short(value)
        text = calls[0][0] if is_call and len(calls) == 1 else source
        message = f"{text} is {actual}, expected a {'false' if negated else 'true'} value"
        if calls and not is_call and calls[-1][1]:
            message += f" ({calls[-1][0]} is {calls[-1][1]})"
        self._detail = [message, calls[-1][0] if calls else None, actual, "False" if negated else "True"]
        return False

    def fail(self, *message: Any) -> None:
        """Raise what an assert raises; its own message is added where it says more than the values do."""
        if self._detail and message and isinstance(message[0], str) and message[0]:
            self._detail[0] = f"{self._detail[0]}: {clipped(message[0], 200)}"
        self._failed = AssertionError(*message)
        raise self._failed

    def source(self, index: int) -> str:
        """How a test is called where no call of the solution can be named."""
        return self._asserts[index][0]

    def passed(self, index: int) -> None:
        """An assert held."""
        calls = self.link.calls
        self._record(index, True, "assert", "", calls[-1][0] if calls else None, None, None)

    def caught(self, index: int, error: BaseException) -> None:
        """An assert, or a whole test, ended with an exception."""
        calls = self.link.calls
        call = calls[-1][0] if calls else None
        if isinstance(error, Gone):
            self._record(
                index, False, error.kind, gone(error.kind, error.detail, error.call or "the test"), call, None, None
            )
            return
        told = describe_error(call or self.source(index), error)
        if told is None and isinstance(error, AssertionError):
            if self._detail is None or error is not self._failed:
                text = str(error) or self.source(index)
                self._detail = [f"the test's own assertion failed: {clipped(text)}", call, None, None]
            self._record(index, False, "assert", *self._detail)
            return
        if told is None and isinstance(error, NameError) and error.name:
            own = [name for name, kind in self.link.exported.items() if not kind.endswith("imported")]
            told = undefined(error.name, own)
        if told is None:
            text = f"the test raised {type(error).__name__}: {error}"
            told = f"{text} (last call: {call} is {calls[-1][1]})" if calls and calls[-1][1] else text
        self._record(index, False, "exception", told, call, None, None)

    def lost(self) -> Gone | None:
        """Why the candidate was lost since the last question, however a test's except clause treated that."""
        found, self._lost = self._lost, None
        return found

    def exchange(self, frame: bytes) -> bytes:
        """Pass a frame on, remembering a loss."""
        try:
            return self._pipe.exchange(frame)
        except Gone as error:
            self._lost = error
            raise

    def spoiled(self) -> None:
        """The candidate sent nonsense: have it ended."""
        self._lost = Gone("died", "it sent something that is no answer", "")
        self._pipe.send(b"K", b"")

    def _record(self, index: int, passed: bool, kind: str, message: str, *values: str | None) -> None:
        lost = self.lost()
        if passed and lost:
            passed, kind, message = False, lost.kind, gone(lost.kind, lost.detail, "a call")
        count = self._counts[index] = self._counts.get(index, 0) + 1
        if count <= _MAX_RECORDS or not passed:
            self._pipe.send(b"R", encode_frame([self._nonce, index, passed, kind, message[:4096], *values, self.name]))


_Module: Any = type(sys)


class _Solution(_Module):
    """What ``import solution`` gives to a test."""

    retrial_link: Link

    def __getattr__(self, name: str) -> Any:
        link: Link = vars(self)["retrial_link"]
        if name not in link.exported:
            raise AttributeError(f"the solution does not define {name}")
        return link.export(name)


def namespace(link: Link, recorder: Recorder, mentioned: list[str], entry: str | None) -> dict[str, Any]:
    """What the tests find without importing it: the recorder and the names of the solution."""
    space: dict[str, Any] = {"__name__": "tests", "__retrial__": recorder, "__all_errors__": BaseException}
    for name in mentioned:
        if link.exported.get(name) == "module, imported":
            # Tests that follow the code in one file may use what it imports; here they get the library's own.
            if name in sys.stdlib_module_names:
                space[name] = __import__(name)
        elif name in link.exported and (name == entry or name not in vars(sys.modules["builtins"])):
            space[name] = link.export(name)
    return space


def open_link(job: dict[str, Any], recorder: Recorder) -> Link:
    """The way to the solution, which is also what ``import solution`` gives from now on."""
    sys.path.extend(job["paths"])
    link = recorder.link = Link(recorder.exchange, recorder.spoiled, set(job["classes"]))
    link.exported = job["exported"]
    module: Any = _Solution("solution")
    module.__dict__["retrial_link"] = link
    sys.modules["solution"] = module
    return link
