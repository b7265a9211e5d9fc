"""What every test of models has: a provider on this machine, and an environment without keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopback_provider import LoopbackProvider


@pytest.fixture
def server() -> Iterator[LoopbackProvider]:
    provider = LoopbackProvider()
    yield provider
    provider.stop()


@pytest.fixture(autouse=True)
def _no_real_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may use, or need, what the environment happens to hold."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GEMINI_API_KEY", "OLLAMA_BASE_URL", "OLLAMA_API_KEY", "GROQ_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
