"""What an algorithm may ask of the world, and what answers.

The set is closed: whatever is not here, an algorithm cannot do. An effect is plain data, so that it can be digested,
recorded and shown; the handler that performs it is found by the engine and never met by the algorithm. An effect that
is ``repeatable`` costs and changes nothing when it is performed twice, so it leaves one event instead of two: a crash
in the middle leaves no doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from retrial.core.messages import ModelRequest, ModelResponse, ToolResult
from retrial.core.reports import CommandReport, TestReport

__all__ = [
    "CallHost",
    "CallModel",
    "CallTool",
    "Effect",
    "Handler",
    "Handlers",
    "Recall",
    "Remember",
    "RunCommand",
    "RunTests",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Ask a model."""

    kind: ClassVar[str] = "model"
    address: ClassVar[str | None] = None
    repeatable: ClassVar[bool] = False
    outcome: ClassVar[Any] = ModelResponse

    request: ModelRequest
    """What is said to the model, and in which role it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """Call a tool that a model asked for."""

    kind: ClassVar[str] = "tool"
    outcome: ClassVar[Any] = ToolResult

    tool: str
    """The tool's name."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values by parameter name, as the model gave them."""
    repeatable: bool = False
    """Whether calling it twice costs and changes nothing, as with a look-up."""

    @property
    def address(self) -> str | None:
        """Which handler is meant: the tool's name."""
        return self.tool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTests:
    """Judge a reply that holds code by running tests against it, in the sandbox."""

    kind: ClassVar[str] = "tests"
    address: ClassVar[str | None] = None
    repeatable: ClassVar[bool] = True
    outcome: ClassVar[Any] = TestReport

    output: str
    """What the actor replied, whole: the testbench takes the code out of it."""
    tests: tuple[str, ...]
    """What the style says: single tests, or the texts of one file."""
    style: str = "asserts"
    """``asserts``: one statement each. ``check``: a file that defines ``check(candidate)``. ``table``: JSON texts such
    as ``["f(1)", 2]``. ``unittest``, ``pytest``: a test file. ``doctest``: a text with ``>>>`` examples. ``rust``: a
    file with ``fn main``, with ``#[test]`` functions, or single statements."""
    entry_point: str | None = None
    """The name that the code must define; for ``check`` and ``rust`` the function that tests may call candidate."""
    prompt: str | None = None
    """Code that a reply may continue with a body only (HumanEval); None where replies are whole."""
    timeout: float = 30.0
    """Seconds for all tests together, above 0."""
    test_timeout: float | None = None
    """Seconds for one test; None for the same as ``timeout``."""
    modules: tuple[str, ...] = ()
    """Modules outside the standard library that the task allows the code to import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommand:
    """Run a command in the sandbox, in a fresh copy of a project that a reply may have changed."""

    kind: ClassVar[str] = "command"
    address: ClassVar[str | None] = None
    repeatable: ClassVar[bool] = True
    outcome: ClassVar[Any] = CommandReport

    argv: tuple[str, ...]
    """The program and its arguments; no shell."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Text files to put into the working folder, by relative path; they come before the project's."""
    timeout: float = 30.0
    """Seconds, above 0."""
    project: str = ""
    """The folder that is copied, by its whole path; empty for an empty working folder."""
    digest: str = ""
    """What the project's content must digest to, so that another content is another request; empty for any."""
    output: str | None = None
    """What the actor replied, whole: the workbench takes the changes out of it. None to run the project as it is."""
    target: str | None = None
    """Where bare code goes that is neither a diff nor named."""
    protected: tuple[str, ...] | None = None
    """Patterns of files that are restored after the reply was applied, besides those that steer runners; None for what
    tests are usually called."""
    editable: tuple[str, ...] = ()
    """Patterns of files that are not protected, whatever else says so."""
    junit: str | None = None
    """Where the command writes a report in JUnit's XML; None where it writes none."""
    readable: tuple[str, ...] = ()
    """Folders outside that the command may read, by their whole paths."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the command finds in its environment besides what every command finds. It is recorded: no secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallHost:
    """Call a function that the host registered by name: a validator, an actor, a person, a database."""

    kind: ClassVar[str] = "host"
    outcome: ClassVar[Any] = Any

    function: str
    """The name that it was registered under."""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values by parameter name."""
    repeatable: bool = False
    """Whether calling it twice costs and changes nothing, as with a validator."""

    @property
    def address(self) -> str | None:
        """Which handler is meant: the function's name."""
        return self.function


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Read from a memory, so that a replay sees what was seen."""

    kind: ClassVar[str] = "recall"
    repeatable: ClassVar[bool] = True
    outcome: ClassVar[Any] = Any

    memory: str
    """The memory's name: lessons, insights or trajectories."""
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values that the memory understands."""

    @property
    def address(self) -> str | None:
        """Which handler is meant: the memory's name."""
        return self.memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember:
    """Write to a memory, once per key."""

    kind: ClassVar[str] = "remember"
    repeatable: ClassVar[bool] = False
    outcome: ClassVar[Any] = Any

    memory: str
    """The memory's name: lessons, insights or trajectories."""
    item: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """JSON values that the memory understands."""

    @property
    def address(self) -> str | None:
        """Which handler is meant: the memory's name."""
        return self.memory


Effect = CallModel | CallTool | RunTests | RunCommand | CallHost | Recall | Remember
"""Whatever an algorithm may ask of the world."""


class Handler(Protocol):
    """Performs one kind of effect. Raises an EffectError if the world failed for good."""

    async def __call__(self, effect: Any, key: str) -> Any:
        """Perform ``effect`` and return its outcome, of the type that the effect class names.

        ``key`` is the call path in the run, such as ``trial.2/actor``: for looking up a recording, never for deciding.
        """
        ...


class Handlers(Protocol):
    """What a handler attaches itself to; the engine is one."""

    def handle(self, effect: type[Effect], handler: Handler, address: str | None = None) -> None:
        """Send every ``effect`` (with this address, where one is given) to ``handler``."""
        ...
