"""HumanEval-shaped tasks: JSON objects of task_id, prompt, entry_point and test, one a line.

A row's ``canonical_solution``, where it has one, is an output that is known to be good.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from retrial.core.tasks import Task
from retrial.errors import ConfigError

__all__ = ["read_rows"]


def read_rows(path: Path, text: str) -> list[Task]:
    """Return the tasks of a file's text, one a line.

    Raises:
        ConfigError: naming the line and what is wrong.
    """
    tasks: list[Task] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}, line {number}: not JSON ({error}); one object a line") from error
        fields = cast("dict[str, Any]", row if isinstance(row, dict) else {})
        for name in ("task_id", "prompt", "entry_point", "test"):
            value = fields.get(name)
            if not (isinstance(value, str) and value.strip()) and not (name == "task_id" and isinstance(value, int)):
                what = f"{name!r} is {value!r}" if name in fields else f"{name!r} is missing"
                raise ConfigError(
                    f"{path}, line {number}: {what}; a task has the texts task_id, prompt, entry_point and test"
                )
        right = fields.get("canonical_solution")
        tasks.append(
            Task(
                id=str(fields["task_id"]),
                prompt=str(fields["prompt"]),
                tests=(str(fields["test"]),),
                style="check",
                entry_point=str(fields["entry_point"]),
                completes=True,
                known_good={"canonical_solution": right} if isinstance(right, str) and right.strip() else {},
            )
        )
    return tasks
