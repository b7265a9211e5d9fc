"""retrial: a fresh trial, with the lessons of the last.

The public names, each imported when it is first used. ``retrial.algorithms``, ``engine``, ``evaluate``, ``hosts``,
``models``, ``recipes``, ``store`` and ``tools`` are public too.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrial.assembly import assemble, solve, solve_async
    from retrial.core.budget import Budget, Usage
    from retrial.core.tasks import Attempt, Lesson, Result, Status, Task, Verdict
    from retrial.errors import RetrialError

__all__ = [
    "Attempt",
    "Budget",
    "Lesson",
    "Result",
    "RetrialError",
    "Status",
    "Task",
    "Usage",
    "Verdict",
    "assemble",
    "solve",
    "solve_async",
]

_HOMES = {
    "Attempt": "retrial.core.tasks",
    "Budget": "retrial.core.budget",
    "Lesson": "retrial.core.tasks",
    "Result": "retrial.core.tasks",
    "RetrialError": "retrial.errors",
    "Status": "retrial.core.tasks",
    "Task": "retrial.core.tasks",
    "Usage": "retrial.core.budget",
    "Verdict": "retrial.core.tasks",
    "assemble": "retrial.assembly",
    "solve": "retrial.assembly",
    "solve_async": "retrial.assembly",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - costs more than the rest of this page

        return version("retrial")
    if name not in _HOMES:
        raise AttributeError(f"module 'retrial' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
