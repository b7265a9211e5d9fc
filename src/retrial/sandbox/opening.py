"""Choose the sandbox: the strongest level that holds here, the one that was asked for, or an error that says why.

Never weaker in silence: ``limited`` is only given where it was named.
"""

from __future__ import annotations

import threading
from pathlib import Path

from retrial.errors import ConfigError, SandboxError
from retrial.sandbox.cache import recall, remember
from retrial.sandbox.levels import LEVELS, Level
from retrial.sandbox.probes import leaks, observe
from retrial.sandbox.program import Sandbox

__all__ = ["cure", "open_sandbox"]

_levels: dict[str, Level] = {}
_lock = threading.Lock()


def open_sandbox(level: str | None = None, require: str | None = None) -> Sandbox:
    """Open a sandbox at ``level``, or at the first of jailed and confined whose probes pass on this machine.

    ``require`` is the weakest level that will do. Sandboxes of one process share their launchers.

    Raises:
        ConfigError: if there is no level of that name, or ``level`` is weaker than ``require``.
        SandboxError: if no level that will do holds here, naming what was tried and what can be done.
    """
    for name in (level, require):
        if name is not None and name not in LEVELS:
            raise ConfigError(f"there is no sandbox level {name!r}; the levels are {', '.join(LEVELS)}")
    if level and require and LEVELS.index(level) > LEVELS.index(require):
        raise ConfigError(f"the sandbox level {level!r} is weaker than {require!r}, which is required; drop one")
    wanted = (level,) if level else ("jailed",) if require == "jailed" else ("jailed", "confined")
    reasons: list[str] = []
    for name in wanted:
        reason = _trouble(name)
        if reason is None:
            return _level(name)
        reasons.append(f"{name}: {reason}")
    raise SandboxError(_refusal(wanted, reasons))


def _level(name: str) -> Level:
    with _lock:
        if name not in _levels:
            _levels[name] = Level(name)
        return _levels[name]


def _trouble(name: str) -> str | None:
    """Say why a level does not hold here; None if it does."""
    if name == "limited":
        return None
    probes = recall(name)
    if probes is not None and not leaks(name, probes):
        return None
    try:
        probes = observe(_level(name))
    except SandboxError as error:
        return f"{error}{cure(name)}"
    if found := leaks(name, probes):
        return "; ".join(f"{probe.name}: {probe.detail}" for probe in found)
    remember(name, probes)
    return None


def cure(name: str) -> str:
    """Say what the person at the machine can do, where that is known; else nothing."""
    if name != "jailed":
        return ""
    settings = {
        "kernel.apparmor_restrict_unprivileged_userns": "1",
        "user.max_user_namespaces": "0",
        "kernel.unprivileged_userns_clone": "0",
    }
    for setting, bad in settings.items():
        try:
            now = Path("/proc/sys", *setting.split(".")).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if now == bad:
            good = {"1": "0", "0": "1"}[bad] if setting.startswith("kernel") else "10000"
            return f" ({setting} is {bad} here; `sudo sysctl -w {setting}={good}` allows it)"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return " (inside a container its runtime decides; `--security-opt seccomp=unconfined` of Docker allows more)"
    return ""


def _refusal(wanted: tuple[str, ...], reasons: list[str]) -> str:
    tried = "; ".join(reasons)
    if wanted == ("jailed",):
        way = 'ask for less with sandbox="confined" (`--sandbox confined`)'
    else:
        way = 'to run generated code without isolation, say so: sandbox="limited" (`--sandbox limited`)'
    return f"no sandbox holds on this machine. {tried}. Otherwise {way}"
