"""Small worlds for tests: scripted models, an algorithm with branches, and a journal that crashes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from retrial.algorithms import Reflexion
from retrial.core.budget import Usage
from retrial.core.codec import encode
from retrial.core.events import Event
from retrial.core.messages import Message, ModelRequest, ModelResponse
from retrial.core.tasks import Outcome, Status
from retrial.engine import Engine, Failed, Run
from retrial.evaluate import ValidationHandler
from retrial.log import views
from retrial.log.journal import MemoryJournal
from retrial.models import FakeLLMClient, LLMHandler

Reply = Callable[[ModelRequest], Any]


def system_of(request: ModelRequest) -> str:
    """The system message of a request."""
    return next((m.content or "" for m in request.messages if m.role == "system"), "")


def user_of(request: ModelRequest) -> str:
    """The newest user message of a request."""
    return next((m.content or "" for m in reversed(request.messages) if m.role == "user"), "")


def said(request: ModelRequest) -> str:
    """Everything that a request says."""
    return "\n".join(message.content or "" for message in request.messages)


def ask(text: str, role: str = "actor") -> ModelRequest:
    """A request of one line."""
    return ModelRequest(role=role, messages=(Message(role="user", content=text),))


def reply(text: str, tokens: int = 1, cost: float | None = 0.0) -> ModelResponse:
    """A reply that used something."""
    return ModelResponse(text=text, usage=Usage(calls=1, input_tokens=tokens, output_tokens=tokens, cost_usd=cost))


class Model:
    """A scripted model that notes what it was asked, and waits a random number of turns of the event loop."""

    def __init__(self, answer: Reply, seed: int | None = None) -> None:
        self.requests: list[ModelRequest] = []
        self.keys: list[str] = []
        self.name = "scripted"
        self._client = FakeLLMClient(answer)
        self._random = random.Random(seed) if seed is not None else None

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        self.requests.append(request)
        self.keys.append(key)
        if self._random is not None:
            for _ in range(self._random.randrange(12)):
                await asyncio.sleep(0)
        return await self._client.complete(request, key)

    def asked(self, role: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.role == role]


def engine_with(model: Model | None = None, journal: Any = None, **options: Any) -> Engine:
    """An engine with a scripted model and the validator ``right`` attached."""
    engine = Engine(journal, **options)
    if model is not None:
        LLMHandler(model).attach(engine)
    ValidationHandler({"right": right}).attach(engine)
    return engine


def right(answer: str, context: Mapping[str, Any]) -> tuple[bool, str]:
    return "right" in answer, "it is not right"


def learner(request: ModelRequest) -> ModelResponse:
    """A model that is right once it was told the second lesson."""
    if request.role == "reflector":
        return reply(f"Next time, look at place {said(request).count('wrong')}{len(said(request)) % 7}.", tokens=3)
    lessons = said(request).count("Next time")
    return reply("right" if lessons >= 2 else f"wrong {lessons}")


def learning() -> Reflexion:
    """The loop that ``learner`` needs three trials for."""
    return Reflexion(validator="right")


class Fan:
    """An algorithm with parallel calls, branches of several calls, branches within branches, and a failing call."""

    name = "fan"
    version = "1"
    max_calls = 14

    def parameters(self) -> Mapping[str, Any]:
        return {}

    async def __call__(self, run: Run, given: Mapping[str, Any]) -> Outcome:
        first = await run.gather(*(run.model(f"propose.{i}", ask(f"propose {i}")) for i in range(3)))
        texts = [one.text for one in first if not isinstance(one, Failed)]
        run.note("fan.proposed", {"texts": texts})
        run.keep(lambda: {"proposed": texts})

        async def score(scope: Run, text: str) -> str:
            grade = await scope.model("grade", ask(f"grade {text}"))
            inner = await scope.gather(
                *(
                    scope.branch(f"why.{i}", lambda s, i=i: s.model("say", ask(f"why {i} {text}")), max_calls=1)
                    for i in range(2)
                )
            )
            return grade.text + "".join(one.text for one in inner if not isinstance(one, Failed))

        scored = await run.gather(
            *(
                run.branch(f"score.{i}", lambda scope, text=text: score(scope, text), max_calls=3)
                for i, text in enumerate(texts)
            )
        )
        scored_texts = [one if isinstance(one, str) else "failed" for one in scored]
        order = run.random("shuffle")
        order.shuffle(scored_texts)
        last = await run.model("choose", ask(" ".join(scored_texts)))
        return Outcome(Status.COMPLETED, {"chosen": last.text, "scored": scored_texts, "at": run.now("end")[:4]})


def fan_model(request: ModelRequest) -> ModelResponse:
    return reply(f"<{said(request)[:40]}>", tokens=len(said(request)))


class Crash(BaseException):
    """The process is gone."""


class CrashingJournal(MemoryJournal):
    """Stores so many events and then takes the process down."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.stored: list[Event] = []

    def append(self, events: Sequence[Event], *, last: bool = False) -> asyncio.Future[None]:
        room = max(self.limit - len(self.stored), 0)
        self.stored += events[:room]
        if len(events) > room:
            failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            failed.set_exception(Crash())
            failed.exception()  # Nobody may be left to look at it.
            return failed
        return super().append(events, last=last)


async def journal_of(events: Sequence[Event]) -> MemoryJournal:
    """A journal that holds these events."""
    journal = MemoryJournal()
    if events:
        await journal.append(events, last=True)
    return journal


def seen(events) -> dict:
    """Everything that the views say about a journal."""
    return {
        "result": encode(views.result_of(events)),
        "status": views.status_of(events),
        "usage": encode(views.usage_of(events)),
        "in_doubt": list(views.in_doubt(events)),
        "trials": encode(views.trials(events)),
        "transcript": encode(views.transcript(events)),
        "timeline": encode(views.timeline(events)),
    }
