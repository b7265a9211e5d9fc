"""Reading what an algorithm is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrial.core.codec import decode
from retrial.core.tasks import Task
from retrial.errors import ConfigError

__all__ = ["task_of"]


def task_of(given: Mapping[str, Any]) -> Task:
    """Read the task of an algorithm's input: its text, or an encoded Task.

    >>> task_of({"task": "How far is it?"}).prompt
    'How far is it?'

    Raises:
        ConfigError: if there is none.
    """
    task = given.get("task")
    if isinstance(task, str) and task.strip():
        return Task(prompt=task).identified()
    if isinstance(task, Mapping):
        return decode(Task, task).identified()
    raise ConfigError(f"the input needs a 'task', a text or a Task, and holds {task!r}")
