"""The program of the process that holds examples and compares what they show.

The text of this module is part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import ast
import contextlib
import doctest
import io
import json
import sys
import traceback

from retrial.testbench.remote import Gone
from retrial.testbench.suite import SuiteRecorder, run_suite
from retrial.testbench.wording import clipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["run_doctest"]


class _Shown(AssertionError):
    """An example showed something else."""


def _is_literal(text: str) -> bool:
    """Whether what should be shown is plain data, which no object of the solution may pass for."""
    try:
        ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _output(source: str, want: str, space: dict[str, Any], recorder: SuiteRecorder) -> str:
    """What an example prints and gives."""
    stream = io.StringIO()
    link = recorder.link

    def show(value: Any) -> None:
        if value is not None:
            link.quiet = _is_literal(want)
            try:
                stream.write(f"{value!r}\n")
            finally:
                link.quiet = False

    before, sys.displayhook = sys.displayhook, show
    try:
        with contextlib.redirect_stdout(stream):
            exec(compile(source, "<test>", "single", dont_inherit=True), space)  # noqa: S102 - what this process is for
    finally:
        sys.displayhook = before
    return stream.getvalue()


def _error_shown(error: BaseException, wanted: str, flags: int) -> bool:
    """Whether an exception is the one that an example shows."""
    checker = doctest.OutputChecker()
    got = "".join(traceback.format_exception_only(type(error), error))
    if checker.check_output(wanted, got, flags):
        return True
    if flags & doctest.IGNORE_EXCEPTION_DETAIL:
        return wanted.partition(":")[0].strip().rpartition(".")[2] == got.partition(":")[0].strip().rpartition(".")[2]
    return False


def _step(step: list[Any], space: dict[str, Any], recorder: SuiteRecorder) -> None:
    source, want, exc_msg, options = step
    flags = sum(int(number) for number, on in options.items() if on)
    name = str(source).strip()
    try:
        got = _output(source, want, space, recorder)
    except Gone:
        raise
    except BaseException as error:
        if exc_msg is None or not _error_shown(error, exc_msg, flags):
            raise
        return
    if exc_msg is not None:
        raise _Shown(f"{name} raised nothing, expected {clipped(str(exc_msg).strip())}")
    if not doctest.OutputChecker().check_output(want, got, flags):
        shown, expected = clipped(got.strip()) or "nothing", clipped(str(want).strip()) or "nothing"
        error = _Shown()
        recorder.showed(error, f"{name} shows {shown}, expected {expected}", name, shown, expected)
        raise error


def run_doctest(programs: Any, recorder: SuiteRecorder) -> None:
    """Run the examples in order, in one namespace."""
    space: dict[str, Any] = {"__name__": "tests"}
    names = sys.modules["retrial_names"]
    space.update({name: value for name, value in vars(names).items() if name in vars(names)["__all__"]})
    for index, text in programs:
        step = json.loads(text)
        name = str(step[0]).strip()
        recorder.start(name)
        try:
            _step(step, space, recorder)
        except BaseException as error:  # noqa: BLE001 - every end of a test is data
            recorder.finish_at(index, name, error)
        else:
            if index >= 0:
                recorder.finish_at(index, name, None)


if __name__ == "__main__":
    run_suite(int(sys.argv.pop()), run_doctest)
