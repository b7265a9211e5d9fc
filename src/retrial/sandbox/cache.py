"""What probes observed on this machine, kept on disk so that the next process need not look again.

Knows when an old observation no longer holds: after a reboot, for another user, interpreter, version of this package,
or other rules of the kernel for this process. Only levels that held are kept; one that failed is tried afresh. A cache
that cannot be read or written is no cache, and no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

from retrial.sandbox.interpreter import interpreter, readable_folders
from retrial.sandbox.probes import Probe

__all__ = ["recall", "remember"]

_WHAT_DECIDES = (
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/user/max_user_namespaces",
    "/proc/self/attr/current",
)
_STATUS = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid", "Gid")


def recall(level: str) -> tuple[Probe, ...] | None:
    """Find what was observed of ``level``, if that still holds."""
    try:
        rows = json.loads(_file(level).read_text(encoding="utf-8"))
        return tuple(Probe(name=row["name"], blocked=row["blocked"] is True, detail=row["detail"]) for row in rows)
    except (OSError, ValueError, TypeError, KeyError, RuntimeError):
        return None


def remember(level: str, probes: tuple[Probe, ...]) -> None:
    """Keep what was observed of ``level``."""
    rows = [{"name": probe.name, "blocked": probe.blocked, "detail": probe.detail} for probe in probes]
    with contextlib.suppress(OSError, RuntimeError):
        path = _file(level)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_text(json.dumps(rows), encoding="utf-8")
        fresh.replace(path)


def _file(level: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "retrial" / f"sandbox-{level}-{_digest()[:16]}.json"


def _digest() -> str:
    parts = [sys.platform, str(os.geteuid()), interpreter(), *readable_folders(), *map(_text, _WHAT_DECIDES)]
    for space in ("user", "mnt", "pid", "net"):
        with contextlib.suppress(OSError):
            parts.append(os.readlink(f"/proc/self/ns/{space}"))  # noqa: PTH115  # not a path but a name
    parts += [line for line in _text("/proc/self/status").splitlines() if line.startswith(_STATUS)]
    for path in sorted(Path(__file__).parent.glob("*.py")):
        stat = path.stat()
        parts.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
