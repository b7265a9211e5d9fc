"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says something about the machine and nothing about the code.
settings.register_profile("retrial", deadline=None, print_blob=True)
settings.load_profile("retrial")
