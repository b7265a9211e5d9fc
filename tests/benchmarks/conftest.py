"""What the tests of experiments share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def shifts(tmp_path: Path) -> Callable[[int], Path]:
    """What writes a file of so many tasks of the same shape, each with its number."""

    def write(count: int) -> Path:
        path = tmp_path / "tasks.jsonl"
        rows = [
            {
                "task_id": f"t{n}",
                "prompt": f"def shift{n}(x):\n    '''Shift x by {n}.'''\n",
                "entry_point": f"shift{n}",
                "test": f"def check(candidate):\n    assert candidate(1) == {n + 1}\n",
            }
            for n in range(count)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write
