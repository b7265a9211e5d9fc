"""The program of the process that holds TestCase classes and runs them with the standard library's runner.

The text of this module is part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import sys
import unittest

from retrial.testbench.suite import Interrupted, SuiteRecorder, run_suite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["run_unittest"]

_COMPARISONS = {
    "assertEqual": "==",
    "assertNotEqual": "!=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
    "assertLess": "<",
    "assertLessEqual": "<=",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertAlmostEqual": "==",
    "assertCountEqual": "==",
}
_TRUTHS = {"assertTrue": True, "assertFalse": False, "assertIsNone": None}


class _Result(unittest.TestResult):
    """Turns what the runner tells into records."""

    def __init__(self, recorder: SuiteRecorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._error: BaseException | None = None
        self._note = ""
        self._skipped: str | None = None
        self._succeeded = False

    def startTest(self, test: Any) -> None:  # noqa: N802 - the runner's name
        super().startTest(test)
        self._error, self._note, self._skipped, self._succeeded = None, "", None, False
        self._recorder.start(_name(test))

    def addSuccess(self, test: Any) -> None:  # noqa: N802 - the runner's name
        self._succeeded = True

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802 - the runner's name
        self._skipped = str(reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - the runner's name
        self._skipped = "it is expected to fail"

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802 - the runner's name
        self._skipped = "it is expected to fail and did not"

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802 - the runner's name
        self._fail(test, err[1])

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802 - the runner's name
        self._fail(test, err[1])

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802 - the runner's name
        if err is not None:
            params = ", ".join(f"{key}={value!r}" for key, value in dict(subtest.params).items())
            self._fail(test, err[1], params)

    def _fail(self, test: Any, error: BaseException, note: str = "") -> None:
        if not isinstance(test, unittest.TestCase):  # setUpClass and its like, outside any test.
            self._recorder.finish(f"{test}", "", error)
        elif self._error is None:
            self._error, self._note = error, note

    def stopTest(self, test: Any) -> None:  # noqa: N802 - the runner's name
        super().stopTest(test)
        name = _name(test)
        if self._error is not None:
            self._recorder.finish(name, name, self._error, note=self._note)
        elif self._skipped is not None or not self._succeeded:
            self._recorder.skip(name, name, self._skipped or "")
        else:
            self._recorder.finish(name, name)


def _name(test: Any) -> str:
    return f"{type(test).__name__}.{str(test.id()).rpartition('.')[2]}"


def _tests(suite: Any) -> Iterator[unittest.TestCase]:
    for part in suite:
        if isinstance(part, unittest.TestCase):
            yield part
        else:
            yield from _tests(part)


def _guarded(test: Any) -> None:
    """Keep a test's method from ending the whole run."""
    name = str(test.id()).rpartition(".")[2]
    method = getattr(test, name, None)
    if method is None or getattr(getattr(method, "__code__", None), "co_flags", 0) & 0x80:
        return  # The runner has coroutines awaited by itself.

    def guarded(*args: Any) -> Any:
        try:
            return method(*args)
        except KeyboardInterrupt as error:
            raise Interrupted.instead_of(error) from None

    vars(guarded).update(vars(method))
    setattr(test, name, guarded)


def _explain_comparisons(recorder: SuiteRecorder) -> None:
    """Have the assert methods say which call of the solution gave what they compare."""
    case: Any = unittest.TestCase

    def explaining(name: str, op: str, constant: tuple[Any, ...]) -> Any:
        original = getattr(case, name)

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(self, *args, **kwargs)
            except AssertionError as error:
                if len(args) + len(constant) >= 2:
                    recorder.explain(error, op, args[0], constant[0] if constant else args[1])
                raise

        return method

    for name, op in _COMPARISONS.items():
        setattr(case, name, explaining(name, op, ()))
    for name, value in _TRUTHS.items():
        setattr(case, name, explaining(name, "==" if value is not None else "is", (value,)))


def run_unittest(programs: Any, recorder: SuiteRecorder) -> None:
    """Load the file as a module and run every TestCase in it."""
    module: Any = type(sys)("tests")
    sys.modules["tests"] = module
    exec(compile(programs[0][1], "<tests>", "exec", dont_inherit=True), vars(module))  # noqa: S102 - what this process is for
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    for test in _tests(suite):
        _guarded(test)
    _explain_comparisons(recorder)
    suite.run(_Result(recorder))


if __name__ == "__main__":
    run_suite(int(sys.argv.pop()), run_unittest)
