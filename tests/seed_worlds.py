"""What the requirements of the seeds are tested with."""

from __future__ import annotations

import pytest

from retrial.assembly import assemble
from retrial.core.codec import encode
from retrial.core.tasks import Task
from worlds import Model

WRONG = "```python\ndef slugify(text):\n    return text.lower().replace(' ', '-')\n```"
RIGHT = "```python\nimport re\n\ndef slugify(text):\n    return '-'.join(re.findall(r'[a-z0-9]+', text.lower()))\n```"
LESSON = "I replaced every space by a hyphen. Next time, extract the words and join them."

SLUGIFY = Task(
    id="slugify",
    prompt="Write a Python function slugify(text) that converts a course title into a URL slug.",
    entry_point="slugify",
    tests=(
        'assert slugify("Python for Beginners") == "python-for-beginners"',
        'assert slugify("  Django   REST  ") == "django-rest"',
        'assert slugify("C++ & Data Structures!") == "c-data-structures"',
        'assert slugify("") == ""',
    ),
)


class Loop:
    """Runs the unit-test loop over scripted replies, with the sandbox and the store for real."""

    def __init__(self, store):
        self.store = store

    async def __call__(self, algorithm, attempts, lessons=(LESSON,), task=SLUGIFY, **given):
        attempts, lessons = iter(attempts), iter(lessons)
        model = Model(lambda request: next(attempts if request.role == "actor" else lessons))
        async with assemble(model, store=self.store) as engine:
            result = await engine.run(algorithm, {"task": encode(task), **given})
        return result, model


@pytest.fixture
def loop(tmp_path):
    return Loop(tmp_path / "store.db")
