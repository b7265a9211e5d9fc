"""A project's folder as plain data: its files, and a digest that tells when it changed.

Knows the file system and reads only. What version control, caches and package managers keep is left out; installed
packages (``node_modules``, ``.venv``) are not copied and not digested, but readable where they stand.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from retrial.core.keys import digest
from retrial.errors import ConfigError
from retrial.workbench.paths import CACHES, LEFT_OUT, LINKED

__all__ = ["Entry", "digest_of_project", "linked_folders", "read_project"]

MOST_FILES = 5_000
MOST_BYTES = 32 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file."""

    content: bytes
    """All of it."""
    executable: bool = False
    """Whether its owner may execute it."""


def read_project(folder: Path) -> dict[str, Entry]:
    """Return the files of a project by relative path, sorted. Links to files inside are followed.

    Raises:
        ConfigError: if it is no folder, is too large, or a link leads out of it.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise ConfigError(f"the project {str(folder)!r} is no folder; name one beside the task file")
    found: dict[str, Entry] = {}
    size = 0
    for path in _walk(root):
        name = path.relative_to(root).as_posix()
        try:
            real = path.resolve(strict=True)
            if not real.is_relative_to(root):
                raise ConfigError(f"the project's {name!r} is a link that leads out of it; replace it by a copy")
            if not real.is_file():
                continue
            with real.open("rb") as file:
                content = file.read(MOST_BYTES - size + 1)
            found[name] = Entry(content=content, executable=bool(real.stat().st_mode & 0o100))
            name.encode("utf-8")
        except (OSError, UnicodeError, RuntimeError) as error:  # A link to itself is a RuntimeError before 3.13.
            raise ConfigError(f"the project's {name!r} cannot be read: {error}") from error
        size += len(content)
        if len(found) > MOST_FILES or size > MOST_BYTES:
            raise ConfigError(
                f"the project {str(folder)!r} has more than {MOST_FILES} files or {MOST_BYTES >> 20} MB; "
                f"name a smaller folder"
            )
    return dict(sorted(found.items()))


def _walk(root: Path) -> Iterator[Path]:
    for top, folders, files in os.walk(root, onerror=_unreadable):
        left_out = {*LEFT_OUT, *CACHES, *(LINKED if Path(top) == root else ())}
        if "Cargo.toml" in files:
            left_out.add("target")
        for name in [name for name in folders if (Path(top) / name).is_symlink() and name not in left_out]:
            raise ConfigError(f"the project's {name!r} is a link to a folder; replace it by a copy")
        folders[:] = sorted(name for name in folders if name not in left_out)
        yield from (Path(top) / name for name in sorted(files))


def _unreadable(error: OSError) -> None:
    """A folder that is skipped could be the one with the tests.

    Raises:
        ConfigError: always.
    """
    raise ConfigError(f"a folder of the project cannot be read: {error}") from error


def linked_folders(folder: Path) -> dict[str, str]:
    """Return the folders of installed packages at the top of a project: their real places by name."""
    return {name: str((folder / name).resolve()) for name in sorted(LINKED) if (folder / name).is_dir()}


def digest_of_project(files: Mapping[str, Entry]) -> str:
    """Return the SHA-256 of names, contents and executable bits, as 64 hexadecimal digits.

    >>> a, b = Entry(content=b"1"), Entry(content=b"2")
    >>> digest_of_project({"x": a}) == digest_of_project({"x": b})
    False
    """
    return digest({name: [hashlib.sha256(file.content).hexdigest(), file.executable] for name, file in files.items()})
