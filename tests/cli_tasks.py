"""Small tasks, and scripted replies to them as a recording that the command line can be pointed at."""

import asyncio
from pathlib import Path

from retrial.assembly import algorithm_for, assemble
from retrial.core.codec import encode
from retrial.models.fake import FakeLLMClient
from retrial.models.recording import RecordingClient
from retrial.taskfile import load_tasks

WRONG, RIGHT = "def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b"
LESSON = "I subtracted instead of adding. Next time I will add the two numbers."


def write_task(folder: Path, name: str = "add", extra: str = "") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(
        f'prompt = "Write add(a, b), task {name}."\nentry_point = "add"\n'
        f'tests = ["assert add(1, 2) == 3", "assert add(0, 0) == 0"]\n{extra}'
    )
    return path


def learns(request):
    """Fail at first, and pass with the lesson."""
    said = request.messages[-1].content
    if request.role == "reflector":
        return LESSON
    return RIGHT if LESSON in said else WRONG


def stubborn(request):
    """Never pass."""
    return LESSON if request.role == "reflector" else WRONG


def make_recording(path: Path, tasks: list[Path], reply, **recipe) -> str:
    """Record what a scripted model replies to the tasks, and return it as a model's name."""

    async def record():
        async with assemble(RecordingClient(FakeLLMClient(reply), path)) as engine:
            for task in load_tasks(tasks):
                algorithm, _ = algorithm_for(task, recipe, {"actor": "scripted"})
                await engine.run(algorithm, {"task": encode(task.identified())})

    asyncio.run(record())
    return f"recorded:{path}"
