"""Which level is chosen, and what is said when none will do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from retrial.errors import ConfigError, SandboxError
from retrial.sandbox import cache, opening
from retrial.sandbox.doctor import examine
from retrial.sandbox.opening import open_sandbox
from retrial.sandbox.probes import REQUIRED, Probe, leaks


@pytest.fixture
def nothing_works(monkeypatch):
    """A machine on which no level can be set up."""

    def fail(level):
        raise SandboxError("the kernel refused")

    monkeypatch.setattr(opening, "recall", lambda level: None)
    monkeypatch.setattr(opening, "observe", fail)


def test_an_unknown_level_names_the_levels():
    """A level that does not exist is a mistake of configuration, answered with those that do."""
    with pytest.raises(ConfigError, match="'docker'; the levels are jailed, confined, limited"):
        open_sandbox(level="docker")
    with pytest.raises(ConfigError, match="'docker'"):
        open_sandbox(require="docker")


def test_a_level_weaker_than_required_is_refused():
    """Asking for less than is required is a contradiction, and is named as one."""
    with pytest.raises(ConfigError, match="weaker"):
        open_sandbox(level="limited", require="jailed")


def test_never_limited_in_silence(nothing_works):
    """Where nothing isolates, there is an error that says what was tried and how to go on, not a weaker sandbox."""
    with pytest.raises(SandboxError) as caught:
        open_sandbox()
    for part in (
        "jailed: the kernel refused",
        "confined: the kernel refused",
        'sandbox="limited"',
        "--sandbox limited",
    ):
        assert part in str(caught.value)


def test_require_turns_a_downgrade_into_an_error(nothing_works):
    """With jailed required, nothing else is tried."""
    with pytest.raises(SandboxError) as caught:
        open_sandbox(require="jailed")
    assert "confined: " not in str(caught.value)
    assert "--sandbox confined" in str(caught.value)


def test_a_leak_costs_a_level_its_name(monkeypatch):
    """A level whose probes show a leak is not given out, whatever it is made of."""
    leaky = tuple(Probe(name=name, blocked=name != "tcp", detail="connected") for name in REQUIRED["jailed"])
    monkeypatch.setattr(opening, "recall", lambda level: None)
    monkeypatch.setattr(opening, "observe", lambda level: leaky)
    with pytest.raises(SandboxError, match="tcp: connected"):
        open_sandbox(level="jailed")


def test_a_probe_that_was_not_made_counts_as_a_leak():
    """What was not observed is not claimed."""
    assert {probe.name for probe in leaks("jailed", ())} == set(REQUIRED["jailed"])


def test_the_doctor_reports_every_level(tmp_path, monkeypatch):
    """Each level is listed, strongest first, with its probes or with the reason why it is not there."""
    reports = examine()
    assert [report.level for report in reports] == ["jailed", "confined", "limited"]
    for report in reports:
        assert report.available == (not report.reason)
        if report.available:
            assert {probe.name for probe in report.probes} >= REQUIRED["jailed"]
            assert not leaks(report.level, report.probes)


def test_the_observer_sees_through_a_level_that_does_not_isolate(limited):
    """Probes are able to fail: at the weakest level most things get through."""
    (report,) = [report for report in examine() if report.level == "limited"]
    through = {probe.name for probe in report.probes if not probe.blocked}
    assert through >= {"tcp", "udp", "unix socket", "home", "files outside", "write outside", "signal parent", "fork"}


def test_observations_are_kept(isolated, monkeypatch, tmp_path):
    """The next process on this machine need not probe again; a cache that is broken or forbidden is no error."""
    name = isolated.isolation.level
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.recall(name) is None
    open_sandbox(level=name)
    assert not leaks(name, cache.recall(name))
    monkeypatch.setattr(opening, "observe", lambda level: pytest.fail("probed again"))
    open_sandbox(level=name)
    (file,) = (tmp_path / "retrial").iterdir()
    file.write_text("{nonsense")
    assert cache.recall(name) is None
    rows = [{"name": "tcp", "blocked": "yes", "detail": ""}]
    file.write_text(json.dumps(rows))
    assert leaks(name, cache.recall(name))
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    cache.remember(name, ())


def test_importing_starts_nothing():
    """Importing the package starts no process and imports no network library."""
    code = "import sys, retrial.sandbox.opening, threading; print(threading.active_count(), 'asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"
