"""The insight bank as a value, and what may be done to it: a fold of operations, by id (ExpeL, Zhao et al., 2024).

Knows nothing of models or stores. Every operation stays in a journal, so a bank can be made again without some of
them: that is how one is undone, and how everything that came from a bad trajectory is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from retrial.memory.copying import normalised

__all__ = [
    "CAP",
    "CONTENT",
    "NEW_SCORE",
    "Bank",
    "Insight",
    "Operation",
    "apply",
    "best",
    "fold",
    "resolved",
    "void",
]

CAP = 30
"""The most insights that a bank holds unless something else is said (seed 1)."""
NEW_SCORE = 2
"""What a new insight counts (ExpeL)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What many trials taught, for tasks of any kind."""

    id: int
    """Its name, from 1; never given again."""
    text: str
    """The insight, as an actor reads it."""
    score: int = NEW_SCORE
    """2 for a new one, 1 more for each support, 1 less for each objection; gone at 0."""
    created_at: str = ""
    """When it came, as ISO 8601 in UTC."""
    updated_at: str = ""
    """When it last changed."""
    supported: int = 0
    """The number of the operation that supported it last."""
    trajectory_ids: tuple[str, ...] = ()
    """The trajectories from which it was made or supported, in the order in which they came."""
    history: tuple[int, ...] = ()
    """The numbers of the operations that changed it, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One entry of the journal of a bank."""

    kind: str
    """ADD, EDIT, UPVOTE, DOWNVOTE by an extractor or a person; DELETE, UNDO and TAINT by a person; SKIP for a line that
    could not be applied."""
    target: int = 0
    """The insight's id; for ADD the id that it takes (0 for the next), for UNDO the number of an operation."""
    text: str = ""
    """The new text of ADD and EDIT; the trajectory of TAINT; the line of SKIP."""
    number: int = 0
    """Its place in the journal, from 1; 0 for the next."""
    at: str = ""
    """When, as ISO 8601 in UTC."""
    run_id: str = ""
    """The extraction that asked for it; empty for a person."""
    trajectory_ids: tuple[str, ...] = ()
    """What the extractor was shown."""
    cap: int = CAP
    """The most insights that may be there after an ADD, at least 1."""
    reason: str = ""
    """Why a line was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """The insights that there are."""

    insights: tuple[Insight, ...] = ()
    """By id."""
    next_id: int = 1
    """The id that the next new one takes."""
    count: int = 0
    """The number of the newest operation."""

    def __getitem__(self, insight_id: int) -> Insight:
        """Return an insight.

        Raises:
            KeyError: if it is not there, or not any more.
        """
        for one in self.insights:
            if one.id == insight_id:
                return one
        raise KeyError(insight_id)

    def __contains__(self, insight_id: object) -> bool:
        return any(one.id == insight_id for one in self.insights)


def best(bank: Bank, count: int | None) -> list[Insight]:
    """Return the ``count`` highest-scored insights, of equals the one supported last first; all for None.

    >>> added = [Operation(kind="ADD", text=text) for text in "ab"]
    >>> bank = fold([*added, Operation(kind="UPVOTE", target=1)])
    >>> [one.text for one in best(bank, 1)]
    ['a']
    """
    return sorted(bank.insights, key=lambda one: (-one.score, -one.supported))[:count]


def apply(bank: Bank, operation: Operation) -> Bank:
    """Return the bank after an operation. One whose target is not there changes nothing.

    An ADD of words that are there already supports the insight that has them, and so does an EDIT into the words of
    another: no two insights say the same.

    >>> apply(Bank(), Operation(kind="ADD", text="check 29 February")).insights[0].score
    2
    """
    operation = replace(operation, number=operation.number or bank.count + 1)
    do = _DO.get(operation.kind)
    after = do(bank, operation) if do else bank
    return replace(after, count=max(bank.count, operation.number))


def fold(operations: Iterable[Operation], reaching: Iterable[Operation] | None = None) -> Bank:
    """Return the bank that a journal makes: every operation in order, without those that are void.

    An UNDO can be undone; of two that contradict each other the later one counts. ``reaching`` are the UNDO and TAINT
    operations among them, numbered: where they are given, ``operations`` are read once and never held together.

    >>> added = Operation(kind="ADD", text="a", number=1)
    >>> fold([added, Operation(kind="UNDO", target=1, number=2)]).insights
    ()
    """
    entries = _numbered(operations)
    if reaching is None:
        entries = reaching = [*entries]
    undone, tainted = _reversals([*reaching])
    bank = Bank()
    for one in entries:
        if one.number in undone or _is_from(one, tainted):
            # An id that was given once is never given again, whatever became of what had it.
            taken = (one.target or bank.next_id) + 1 if one.kind == "ADD" else 0
            bank = replace(bank, next_id=max(bank.next_id, taken), count=one.number)
        else:
            bank = apply(bank, one)
    return bank


def void(operations: Sequence[Operation]) -> frozenset[int]:
    """Return the numbers of the operations that do not count: undone, or from a tainted trajectory.

    >>> sorted(void([Operation(kind="ADD", number=1), Operation(kind="UNDO", target=1, number=2)]))
    [1]
    """
    undone, tainted = _reversals(operations)
    return frozenset(undone | {one.number for one in operations if _is_from(one, tainted)})


def _is_from(operation: Operation, tainted: set[str]) -> bool:
    """Whether an extractor asked for it who was shown one of these trajectories."""
    return operation.kind in CONTENT and not tainted.isdisjoint(operation.trajectory_ids)


def _reversals(operations: Sequence[Operation]) -> tuple[set[int], set[str]]:
    """The numbers of the operations that are undone, and the trajectories that are tainted."""
    undone: set[int] = set()
    tainted: set[str] = set()
    for one in reversed(operations):
        if one.number not in undone and one.kind == "UNDO":
            undone.add(one.target)
        elif one.number not in undone and one.kind == "TAINT":
            tainted.add(one.text)
    return undone, tainted


def resolved(bank: Bank, operation: Operation, recalled: Mapping[str, int]) -> Operation:
    """Return the operation as it is to be recorded: as it is, as support for what it repeats, or as a SKIP.

    ``recalled`` are the texts (``normalised``) of insights that the actors of the sources had been told, with
    their ids: what comes back from those is support at most and never a new insight, whoever removed the old one.

    >>> bank = apply(Bank(), Operation(kind="ADD", text="Check leap years."))
    >>> resolved(bank, Operation(kind="ADD", text="check leap years"), {"check leap years": 1}).kind
    'UPVOTE'
    """
    if operation.kind == "ADD":
        told = recalled.get(normalised(operation.text))
        if told is None:
            return replace(operation, target=operation.target or bank.next_id)
        if told in bank:
            return replace(operation, kind="UPVOTE", target=told)
        return _skipped(operation, f"it repeats insight {told}, which was told to the actor and has been removed since")
    if operation.kind in CONTENT and operation.target not in bank:
        return _skipped(operation, f"insight {operation.target} is not there any more")
    return operation


def _skipped(operation: Operation, reason: str) -> Operation:
    """An operation that is recorded and changes nothing, in the words in which it was asked for."""
    number = "" if operation.kind == "ADD" else f" {operation.target}"
    text = f": {operation.text}" if operation.text else ""
    return replace(operation, kind="SKIP", target=0, text=f"{operation.kind}{number}{text}", reason=reason)


def _numbered(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations, each with its number."""
    last = 0
    for one in operations:
        last = one.number or last + 1
        yield one if one.number else replace(one, number=last)


def _add(bank: Bank, operation: Operation) -> Bank:
    """A new insight enters; where there is no room, the lowest goes first."""
    new_id = operation.target or bank.next_id
    bank = replace(bank, next_id=max(bank.next_id, new_id + 1))
    twin = _twin(bank, operation.text)
    if twin is not None:
        return _change(bank, twin, operation, support=1)
    kept = list(bank.insights)
    while len(kept) >= operation.cap:
        kept.remove(min(kept, key=lambda one: (one.score, one.supported, one.id)))
    new = Insight(
        id=new_id,
        text=operation.text,
        created_at=operation.at,
        updated_at=operation.at,
        supported=operation.number,
        trajectory_ids=operation.trajectory_ids,
        history=(operation.number,),
    )
    return replace(bank, insights=tuple(sorted((*kept, new), key=lambda one: one.id)))


def _edit(bank: Bank, operation: Operation) -> Bank:
    """New words for an insight, which count as support."""
    if operation.target not in bank:
        return bank
    twin = _twin(bank, operation.text)
    if twin is not None and twin != operation.target:
        return _change(bank, twin, operation, support=1)
    return _change(bank, operation.target, operation, support=1, text=operation.text)


def _upvote(bank: Bank, operation: Operation) -> Bank:
    return _change(bank, operation.target, operation, support=1)


def _downvote(bank: Bank, operation: Operation) -> Bank:
    return _change(bank, operation.target, operation, support=-1)


def _delete(bank: Bank, operation: Operation) -> Bank:
    return replace(bank, insights=tuple(one for one in bank.insights if one.id != operation.target))


def _change(bank: Bank, insight_id: int, operation: Operation, *, support: int, text: str = "") -> Bank:
    """One insight changed, and gone if its score is 0."""
    kept: list[Insight] = []
    for one in bank.insights:
        changed = one
        if one.id == insight_id:
            sources = dict.fromkeys((*one.trajectory_ids, *operation.trajectory_ids))
            changed = replace(
                one,
                text=text or one.text,
                score=one.score + support,
                updated_at=operation.at,
                supported=operation.number if support > 0 else one.supported,
                trajectory_ids=tuple(sources) if support > 0 else one.trajectory_ids,
                history=(*one.history, operation.number),
            )
        if changed.score > 0:
            kept.append(changed)
    return replace(bank, insights=tuple(kept))


def _twin(bank: Bank, text: str) -> int | None:
    """The insight that says the same."""
    words = normalised(text)
    return next((one.id for one in bank.insights if normalised(one.text) == words), None)


_DO: Mapping[str, Callable[[Bank, Operation], Bank]] = {
    "ADD": _add,
    "EDIT": _edit,
    "UPVOTE": _upvote,
    "DOWNVOTE": _downvote,
    "DELETE": _delete,
}
CONTENT = frozenset({"ADD", "EDIT", "UPVOTE", "DOWNVOTE"})
"""What an extractor may ask for."""
