"""The insight bank at work: what it knows is recalled, trials are kept, and extractions run beside the tasks.

An extraction is a run of its own. It is started by whoever keeps the trial that fills a batch, it never delays or fails
a task, and one that was ended before its time, by a crash for example, is taken up by the next process that uses the
bank: the batch is claimed in the store, and an operation is applied once whatever happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from retrial.core.budget import Budget
from retrial.core.effects import Recall, Remember
from retrial.core.events import Event
from retrial.core.tasks import Result
from retrial.engine.engine import Engine, new_run_id
from retrial.engine.owner import alive, myself
from retrial.errors import RunNotFound
from retrial.log.views import usage_of
from retrial.memory.likeness import SHORTLIST, Embed, nearest
from retrial.recipes.registry import recorded
from retrial.store.insights import InsightShelf
from retrial.store.trajectories import TrajectoryShelf
from retrial.store.writer import Writer

__all__ = ["InsightBank"]

_RUNNING: set[str] = set()
"""The extractions that this process is working on."""


class InsightBank:
    """Answers for the memories ``insights`` and ``trajectories``, and works on extractions in the background."""

    def __init__(
        self,
        engine: Engine,
        writer: Writer,
        *,
        embed: Embed | None = None,
        about: Mapping[str, Any] | None = None,
        allowance: Budget | None = None,
    ) -> None:
        """Keep the bank in the store of ``writer`` and run extractions on ``engine``.

        ``embed`` chooses among the trials that share words with a task. ``about`` is recorded with every extraction.
        ``allowance`` is what all extractions may use together, but for its seconds, which each of them may; without
        it, each has the engine's budget.
        """
        self.insights = InsightShelf(writer)
        self.trajectories = TrajectoryShelf(writer)
        self.ends: dict[str, Result | Exception] = {}
        """What became of the extractions that this bank has worked on, by run."""
        self._engine = engine
        self._embed = embed
        self._about = about or {}
        self._left = allowance
        self._work: set[asyncio.Task[None]] = set()
        self._tried: set[str] = set()
        self._gate = asyncio.Lock()
        self._awake = False

    def attach(self) -> None:
        """Take what is asked of both memories, and go with the engine."""
        for memory in ("insights", "trajectories"):
            self._engine.handle(Recall, self, memory)
            self._engine.handle(Remember, self, memory)
        self._engine.settle_with(self._settled_if_used, lambda: len(self._work))
        self._engine.close_with(self.stop)

    async def __call__(self, effect: Recall | Remember, key: str) -> Any:
        """Recall or remember, as the memory and the query say."""
        self._awake, first = True, not self._awake
        if first:
            await self._take_over()
        if effect.memory == "insights":
            return await (self._tell(effect.query) if isinstance(effect, Recall) else self._learn(effect.item))
        return await (self._look(effect.query) if isinstance(effect, Recall) else self._keep(effect.item))

    async def settled(self) -> list[Result | Exception]:
        """Wait until every extraction that has begun has ended, and return what became of each.

        Those of processes that are gone are gone on with, once.
        """
        await self._take_over()
        while self._work:
            await asyncio.wait(set(self._work))
        return list(self.ends.values())

    async def extract(self, options: Mapping[str, Any] | None = None) -> None:
        """Begin an extraction from all trials that wait, without waiting for more; ``settled`` waits for its end.

        ``options`` are those of ``recipes.extraction`` but for ``batch``.
        """
        run_id = new_run_id()
        claimed = await self.trajectories.claim_rest(options or {}, run_id, myself())
        if claimed:
            self._begin(run_id, claimed)

    async def _settled_if_used(self) -> list[Result | Exception]:
        """Wait if anything was asked of the bank: who neither gives nor takes does not pay for what others left."""
        return await self.settled() if self._awake else []

    async def stop(self) -> None:
        """End what is under way; it can be resumed."""
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def _tell(self, query: Mapping[str, Any]) -> Any:
        """The insights that a task or an extractor is told."""
        count = query.get("count")
        return await self.insights.best(count, without=query.get("without")) if count != 0 else []

    async def _learn(self, item: Mapping[str, Any]) -> Any:
        """Apply an extractor's operations, or note that it is done."""
        if "finish" in item:
            return await self.trajectories.finish(item["finish"])
        return await self.insights.apply(item)

    async def _look(self, query: Mapping[str, Any]) -> Any:
        """What an extraction is to compare, or the trials that are similar to a task."""
        if "extraction" in query:
            return await self.trajectories.material(query["extraction"])
        task, count = query["task"], query["count"]
        shortlist = SHORTLIST if self._embed else 0
        found = await self.trajectories.similar(
            task, count, without_task=query.get("without_task", ""), shortlist=shortlist
        )
        if self._embed is None or len(found) <= count:
            return found
        ranked = await asyncio.to_thread(nearest, self._embed, task, [one["task"] for one in found])
        return [found[place] for place in ranked[:count]]

    async def _keep(self, item: Mapping[str, Any]) -> bool:
        """Keep a trial; if it fills a batch, an extraction begins, which nobody waits for here."""
        extraction = item["extraction"]
        run_id = await self.trajectories.add(item["trajectory"], extraction, new_run_id(), myself())
        if run_id:
            self._begin(run_id, extraction)
        return bool(run_id)

    async def _take_over(self) -> None:
        """Go on with extractions whose process is gone, or which this one has left."""
        for run_id, owner, options in await self.trajectories.waiting():
            mine = owner == myself()
            if run_id in self._tried or run_id in _RUNNING or (alive(owner) and not mine):
                continue
            if await self.trajectories.take_over(run_id, owner, myself()):
                self._begin(run_id, options)

    def _begin(self, run_id: str, options: Mapping[str, Any]) -> None:
        """Work on an extraction in the background."""
        self._tried.add(run_id)
        _RUNNING.add(run_id)
        task = asyncio.create_task(self._extract(run_id, options), name=f"extraction {run_id}")
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        task.add_done_callback(lambda _: _RUNNING.discard(run_id))

    async def _extract(self, run_id: str, options: Mapping[str, Any]) -> None:
        """Run one extraction, or go on with it. Nothing that goes wrong here is a task's concern."""
        algorithm, recipe = recorded("extraction", options)
        given = {"extraction": run_id, "task": "extraction of insights"}
        async with self._gate:
            try:
                try:
                    before = await self._engine.journal.events(run_id)
                except RunNotFound:
                    metadata = {**self._about, **recipe}
                    end = await self._engine.run(algorithm, given, run_id=run_id, budget=self._left, metadata=metadata)
                    await self._pay(run_id, ())
                else:
                    budget = self._left.beyond(usage_of(before)) if self._left else None
                    end = await self._engine.resume(run_id, algorithm, budget=budget)
                    await self._pay(run_id, before)
                self.ends[run_id] = end
                if end.status.final:
                    await self.trajectories.finish(run_id)
            except Exception as error:  # noqa: BLE001 - told by whoever looks at ``ends``
                self.ends[run_id] = error

    async def _pay(self, run_id: str, before: Sequence[Event]) -> None:
        """Take what an extraction used just now from the allowance; a call that failed is a call."""
        if self._left is None:
            return
        new = (await self._engine.journal.events(run_id))[len(before) :]
        asked = sum(event.kind == "model.requested" for event in new)
        self._left = self._left.less(replace(usage_of(new), calls=asked, seconds=0.0))
