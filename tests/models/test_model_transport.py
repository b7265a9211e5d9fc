"""Retries and limits: what is asked again, how often, and what never is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest
import stamina

from loopback_provider import chat, openai_error
from retrial.core.messages import Message, ModelRequest
from retrial.errors import ConfigError, ModelRejected, ModelTimeout, ModelUnavailable, RateLimited
from retrial.models import FakeLLMClient, Limits, PatientClient, ProviderClient

ASK = ModelRequest(messages=(Message(role="user", content="Say hi"),))


@pytest.fixture
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=5, cap=True):
        yield


def failing(*errors: Exception) -> tuple[FakeLLMClient, list[None]]:
    """A model that raises these one after the other and then answers, and the list of its calls."""
    calls: list[None] = []

    def model(request):
        calls.append(None)
        if len(calls) <= len(errors):
            raise errors[len(calls) - 1]
        return "hi"

    return FakeLLMClient(model), calls


@pytest.mark.usefixtures("_no_waiting")
async def test_a_failure_that_passes_is_asked_again():
    """Rate limits, timeouts and outages cost requests and nothing else."""
    client, calls = failing(RateLimited("429"), ModelTimeout("slow"), ModelUnavailable("503"))
    assert (await PatientClient(client).complete(ASK, "actor")).text == "hi"
    assert len(calls) == 4


@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize("error", [ModelRejected("no"), ConfigError("no"), ValueError("no")])
async def test_a_final_failure_is_asked_once(error):
    """What the provider will always refuse, and what is broken, is not asked again."""
    client, calls = failing(error)
    with pytest.raises(type(error), match=r"^no$"):
        await PatientClient(client).complete(ASK, "actor")
    assert len(calls) == 1


@pytest.mark.usefixtures("_no_waiting")
async def test_patience_ends_and_says_so():
    """After the last attempt the failure says how many requests were made, and keeps what the provider asked for."""
    error = RateLimited("m: wait")
    error.retry_after = 0.5
    client, calls = failing(*[error] * 9)
    with pytest.raises(RateLimited, match="m: wait; gave up after 3 requests") as caught:
        await PatientClient(client, attempts=3).complete(ASK, "actor")
    assert len(calls) == 3
    assert caught.value.retry_after == 0.5


async def test_the_wait_is_what_the_provider_asked_for(monkeypatch):
    """Retry-after decides the wait, not the backoff."""
    waits: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await real_sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    error = RateLimited("429")
    error.retry_after = 17.0
    client, _ = failing(error)
    await PatientClient(client, wait_initial=0.0).complete(ASK, "actor")
    assert waits == [17.0]


async def test_a_wait_beyond_patience_is_not_begun():
    """A provider that asks for an hour is answered with the failure at once."""
    error = RateLimited("429")
    error.retry_after = 3600.0
    client, calls = failing(error)
    with pytest.raises(RateLimited) as caught:
        await PatientClient(client, max_seconds=60).complete(ASK, "actor")
    assert len(calls) == 1
    assert caught.value.retry_after == 3600.0


async def test_a_cancellation_passes_through():
    """A call that is cancelled while it waits for the next request ends there."""
    asked = asyncio.Event()
    calls: list[str] = []

    def model(request):
        calls.append("one")
        asked.set()
        error = RateLimited("429")
        error.retry_after = 30.0
        raise error

    call = asyncio.create_task(PatientClient(FakeLLMClient(model)).complete(ASK, "actor"))
    await asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert calls == ["one"]


async def test_no_more_requests_at_once_than_allowed():
    """Clients that share limits share the places, and a failing call gives its place back."""
    under_way = most = 0

    async def model(request):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        if request.role == "judge":
            raise ModelRejected("no")
        return "hi"

    limits = Limits(max_concurrency=2)
    clients = [PatientClient(FakeLLMClient(model), limits=limits) for _ in range(2)]
    requests = [ASK, ModelRequest(role="judge", messages=ASK.messages)] * 8
    calls = (clients[number % 2].complete(request, "k") for number, request in enumerate(requests))
    replies = await asyncio.gather(*calls, return_exceptions=True)
    assert most == 2
    assert sum(isinstance(reply, ModelRejected) for reply in replies) == 8


async def test_the_request_rate_is_kept():
    """Beyond the burst of one minute, a request waits for its turn."""
    client, calls = failing()
    patient = PatientClient(client, limits=Limits(requests_per_minute=2))
    waiting = [asyncio.create_task(patient.complete(ASK, "k")) for _ in range(3)]
    done, pending = await asyncio.wait(waiting, timeout=0.05)
    assert (len(done), len(pending), len(calls)) == (2, 1, 2)
    for call in pending:
        call.cancel()
    await asyncio.gather(*pending, return_exceptions=True)


def test_limits_serve_several_event_loops():
    """Limits that were used in one event loop work in the next."""
    patient = PatientClient(FakeLLMClient(lambda _: "hi"), limits=Limits(requests_per_minute=99, max_concurrency=1))

    async def two() -> None:
        await asyncio.gather(*(patient.complete(ASK, "k") for _ in range(2)))

    asyncio.run(two())
    asyncio.run(two())


@pytest.mark.parametrize("bound", [{"attempts": 0}, {"max_seconds": 0}])
def test_impossible_bounds_are_refused(bound):
    """Patience without an attempt or without time is a mistake."""
    with pytest.raises(ConfigError, match=next(iter(bound))):
        PatientClient(FakeLLMClient(lambda _: "hi"), **bound)


@pytest.mark.parametrize("bound", [{"requests_per_minute": 0}, {"max_concurrency": -1}])
def test_impossible_limits_are_refused(bound):
    """A limit of nothing is a mistake."""
    with pytest.raises(ConfigError, match=next(iter(bound))):
        Limits(**bound)


@pytest.mark.usefixtures("_no_waiting")
async def test_one_call_survives_faults_of_a_real_transport(server):
    """A 500, a 429 and a dropped connection later the reply is there, after exactly four HTTP requests."""
    server.says(openai_error(500, "oops"), openai_error(429, "wait", headers={"retry-after": "9"}), "drop", chat())
    client = PatientClient(ProviderClient("openai:m", base_url=server.url + "/v1"))
    assert (await client.complete(ASK, "actor")).text == "hi"
    await client.aclose()
    assert len(server.requests) == 4


@pytest.mark.usefixtures("_no_waiting")
async def test_used_up_credit_is_never_asked_again(server):
    """A 429 that means no credit costs one request."""
    server.says(openai_error(429, "no money", "insufficient_quota"))
    client = PatientClient(ProviderClient("openai:m", base_url=server.url + "/v1"))
    with pytest.raises(ModelRejected):
        await client.complete(ASK, "actor")
    await client.aclose()
    assert len(server.requests) == 1


@pytest.mark.usefixtures("_no_waiting")
async def test_a_retry_is_not_printed_where_nobody_set_up_logging(capsys, monkeypatch):
    """The last failure counts the requests; a bare event name on standard error would tell a reader nothing."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    client, calls = failing(ModelUnavailable("down"))
    assert (await PatientClient(client).complete(ASK, "k")).text == "hi"
    assert len(calls) == 2
    assert capsys.readouterr().err == ""
