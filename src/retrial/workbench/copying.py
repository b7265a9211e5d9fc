"""A reply applied to the files of a project, in memory, and what is protected put back as it was. A pure function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from retrial.core.effects import RunCommand
from retrial.workbench.paths import Refused
from retrial.workbench.project import Entry
from retrial.workbench.protected import is_protected, shadows
from retrial.workbench.reply import changes_in

__all__ = ["changed_copy"]

_MOST_BYTES = 8 << 20
_MOST_CHANGES = 500


def changed_copy(files: Mapping[str, Entry], effect: RunCommand) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return the files as the reply of ``effect`` wants them, and the protected ones that stay as they are.

    Raises:
        Refused: if the reply cannot be applied, or leaves nothing changed.
    """
    now = {name: file.content for name, file in files.items()}
    changes = changes_in(effect.output or "", now, effect.target)
    if len(changes) > _MOST_CHANGES:
        raise Refused(f"the reply changes {len(changes)} files, and {_MOST_CHANGES} are the most")
    if sum(len(content or b"") for content in changes.values()) > _MOST_BYTES:
        raise Refused(f"the reply writes more than {_MOST_BYTES >> 20} MB")
    restored = tuple(
        sorted(
            name
            for name in changes
            if name == effect.junit or is_protected(name, effect.protected, effect.editable, effect.argv)
        )
    )
    after = dict(files)
    for name, content in changes.items():
        if name in restored:
            continue
        if name not in files and shadows(name, files, effect.argv):
            raise Refused(f"the new file {name!r} would be imported in place of another module; give it another name")
        if content is None:
            after.pop(name, None)
        else:
            before = files.get(name)
            after[name] = Entry(content=content, executable=before is not None and before.executable)
    _check(after)
    if after == dict(files):
        only = f": {', '.join(restored)} is protected and stays as it is" if restored else ""
        raise Refused(f"the reply changes nothing{only}")
    return after, restored


def _check(files: Mapping[str, Entry]) -> None:
    """Refuse a file that stands where another has a folder."""
    for name in files:
        for parent in PurePosixPath(name).parents:
            if str(parent) in files:
                raise Refused(f"the path {name!r} cannot be: {str(parent)!r} is a file")
