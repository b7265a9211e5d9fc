"""From what a task file says about its judge to a spec that means the same tomorrow, and to what an actor must see.

Knows task files' folders and specs; judges nothing. A project is named by its whole path and by the digest of its
content, so that a run that is resumed or replayed notices when it changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from retrial.errors import ConfigError
from retrial.evaluate.specs import within
from retrial.workbench.project import digest_of_project, read_project
from retrial.workbench.protected import matches

__all__ = ["judged_by_command", "placed", "with_files"]

_MOST_SHOWN = 60_000


def placed(spec: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a spec whose databases and projects beside ``folder`` are named by their whole paths, at any depth.

    Raises:
        ConfigError: if a project cannot be read.
    """
    done = dict(spec)
    database = spec.get("database")
    if isinstance(database, str) and (folder / database).is_file():
        done["database"] = str((folder / database).resolve())
    if _is_command(spec) and not spec.get("digest"):
        project = (folder / str(spec["project"])).resolve()
        done["project"] = str(project)
        done["digest"] = digest_of_project(read_project(project))
    parts = spec.get("parts")
    if isinstance(parts, list):
        items = cast("list[Any]", parts)
        done["parts"] = [
            placed(cast("dict[str, Any]", part), folder) if isinstance(part, dict) else part for part in items
        ]
    return done


def judged_by_command(spec: Mapping[str, Any]) -> bool:
    """Tell whether a command judges, alone or as a part.

    >>> judged_by_command({"kind": "all_of", "parts": [{"kind": "command", "project": "p"}]})
    True
    """
    return bool(_commands(spec))


def with_files(prompt: str, spec: Mapping[str, Any]) -> str:
    """Return a task's prompt with the files of the project that the spec says to ``show``, each named before its fence.

    Raises:
        ConfigError: if a pattern means no file, or they are too long for a prompt.
    """
    parts = [prompt]
    for command in _commands(spec):
        files = read_project(Path(str(command["project"]))) if command.get("show") else {}
        for pattern in cast("list[str]", command.get("show", [])):
            if not [name for name in files if matches(name, [pattern])]:
                raise ConfigError(f"show = {pattern!r} means no file of the project {command['project']!r}")
        for name, file in files.items():
            if matches(name, command["show"]):
                text = file.content.decode("utf-8", "replace").rstrip("\n")
                fence = "`" * (4 if "```" in text else 3)
                parts.append(f"{name}\n{fence}\n{text}\n{fence}")
    if len(parts) == 1:
        return prompt
    whole = "\n\n".join([parts[0], "These files are there now:", *parts[1:]])
    if len(whole) > _MOST_SHOWN:
        raise ConfigError(
            f"the files to show make a prompt of {len(whole)} characters; show fewer ({_MOST_SHOWN} at most)"
        )
    return whole


def _commands(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in within(spec) if _is_command(one)]


def _is_command(spec: Mapping[str, Any]) -> bool:
    return spec.get("kind") == "command" and isinstance(spec.get("project"), str)
