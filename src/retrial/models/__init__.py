"""Sources of model replies: scripted, recorded and real. Loading this loads no provider's library."""

from __future__ import annotations

from retrial.models.client import ModelClient, Wrapper
from retrial.models.fake import FakeLLMClient
from retrial.models.handler import LLMHandler
from retrial.models.prices import price_known, upper_bound_usd
from retrial.models.provider import ProviderClient
from retrial.models.recorded import RecordedClient
from retrial.models.recording import RecordingClient
from retrial.models.resolve import client_for, describe
from retrial.models.streaming import OnText
from retrial.models.transport import Limits, PatientClient

__all__ = [
    "FakeLLMClient",
    "LLMHandler",
    "Limits",
    "ModelClient",
    "OnText",
    "PatientClient",
    "ProviderClient",
    "RecordedClient",
    "RecordingClient",
    "Wrapper",
    "client_for",
    "describe",
    "price_known",
    "upper_bound_usd",
]
