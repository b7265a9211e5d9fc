"""The front doors: what is public is what ``__all__`` says, and importing it stays light."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import retrial

PACKAGES = [
    "retrial",
    "retrial.algorithms",
    "retrial.engine",
    "retrial.evaluate",
    "retrial.hosts",
    "retrial.models",
    "retrial.store",
    "retrial.tools",
]
HEAVY = {
    "pydantic_ai",
    "pydantic",
    "rich",
    "openai",
    "anthropic",
    "httpx2",
    "numpy",
    "click",
    "stamina",
    "sqlite3",
    "asyncio",
}


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_sorted_and_every_name_is_there(name):
    """``__all__`` is in order, holds no name twice, and each can be had."""
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted({*module.__all__})
    assert all(getattr(module, public) is not None for public in module.__all__)


def test_the_package_lists_its_names_and_refuses_others():
    """``dir`` shows the public names, and a misspelt one is an AttributeError."""
    assert {*retrial.__all__} <= {*dir(retrial)}
    assert retrial.__version__ == "0.1.0"
    with pytest.raises(AttributeError, match="slove"):
        retrial.slove  # noqa: B018 - the access is the test


def test_importing_the_package_loads_nothing_heavy():
    """``import retrial`` loads none of the libraries that cost time, nor our own parts."""
    code = "import sys, retrial; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & HEAVY
    assert not [name for name in loaded if name.startswith("retrial.")]


def test_help_loads_nothing_heavy():
    """``retrial --help`` loads click and none of the others."""
    code = "import sys; sys.argv = ['retrial', '--help']\nfrom retrial.cli.main import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert not set(done.stderr.split()) & (HEAVY - {"click"})
