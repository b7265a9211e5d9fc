"""The program of the process that holds a pytest file and has pytest collect and run it.

Only what pytest itself reports as passed in every phase counts. The text of this module is part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature; pytest is only there in the judge.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false, reportUnknownParameterType=false
import os
import sys

from retrial.testbench.suite import Interrupted, SuiteRecorder, run_suite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["run_pytest"]

_FILE = "test_solution.py"
_ARGUMENTS = (
    "-c=/dev/null",
    "--rootdir=.",
    "--noconftest",
    "--assert=plain",
    "--capture=no",
    "--tb=no",
    "-qq",
    "-pno:cacheprovider",
    "-pno:faulthandler",
    "-pno:doctest",
    "-pno:junitxml",
    "-pno:pastebin",
)


_WRAPPERS = ("pytest_runtest_protocol", "pytest_pyfunc_call", "pytest_runtest_makereport")


class _Plugin:
    """Turns reports into records. ``library`` is the pytest module."""

    def __init__(self, recorder: SuiteRecorder, library: Any) -> None:
        self._recorder = recorder
        self._library = library
        self._outcomes: dict[str, str] = {}
        self._error: BaseException | None = None
        self._skipped = ""

    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Around a test: what came of its phases becomes its record."""
        self._outcomes, self._error, self._skipped = {}, None, ""
        name, key = _name(item), _key(item, self._library.Class)
        self._recorder.start(name)
        yield
        passed = self._outcomes == dict.fromkeys(("setup", "call", "teardown"), "passed")
        if self._error is not None:
            self._recorder.finish(name, key, self._error)
        elif passed and not self._skipped:
            self._recorder.finish(name, key)
        else:
            self._recorder.skip(name, key, self._skipped)

    def pytest_pyfunc_call(self) -> Any:
        """Around a test's function: nothing in it may end the whole run."""
        outcome: Any = yield
        error = outcome.excinfo[1] if outcome.excinfo else None
        if isinstance(error, KeyboardInterrupt):
            outcome.force_exception(Interrupted.instead_of(error))

    def pytest_runtest_makereport(self, call: Any) -> Any:
        """Around the report on one phase: keep it."""
        outcome: Any = yield
        report = outcome.get_result()
        self._outcomes[report.when] = report.outcome
        if hasattr(report, "wasxfail"):
            self._skipped = "it is expected to fail"
        elif report.outcome == "failed" and self._error is None:
            self._error = call.excinfo.value if call.excinfo else AssertionError(report.longreprtext)
        elif report.outcome == "skipped":
            self._skipped = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "").partition(": ")[2]

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """The file could not be loaded."""
        if isinstance(report, self._library.CollectReport) and call.excinfo:
            error = call.excinfo.value
            self._recorder.start("the test file")
            self._recorder.broken(error.__cause__ or error)


def _name(item: Any) -> str:
    return str(item.nodeid).partition("::")[2].replace("::", ".", str(item.nodeid).partition("[")[0].count("::") - 1)


def _key(item: Any, kind: Any) -> str:
    classes = [str(node.name) for node in item.listchain() if isinstance(node, kind)]
    return ".".join([*classes, str(getattr(item, "originalname", None) or item.name)])


def run_pytest(programs: Any, recorder: SuiteRecorder) -> None:
    """Write the file into the working folder, which holds nothing else, and have it run."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with open(_FILE, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - slow to import
        file.write(programs[0][1])
    import pytest  # noqa: PLC0415 - found on paths that arrive with the job

    for name in _WRAPPERS:
        setattr(_Plugin, name, pytest.hookimpl(hookwrapper=True)(getattr(_Plugin, name)))
    pytest.main([*_ARGUMENTS, _FILE], plugins=[_Plugin(recorder, pytest)])


if __name__ == "__main__":
    run_suite(int(sys.argv.pop()), run_pytest)
