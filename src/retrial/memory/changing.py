"""What a person may do to a bank: what is refused because it names nothing, and what is undone if nothing is named."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from retrial.memory.insights import CONTENT, Bank, Operation, void

__all__ = ["refusal", "undoable"]


def refusal(operation: Operation, bank: Bank, journal: Sequence[Operation], kept: Collection[str]) -> str:
    """Return why an operation of a person cannot be recorded, with the next step; empty if it can.

    ``kept`` are the ids of the trajectories that are in the store; one that was deleted can still be tainted as long as
    an operation came from it.

    >>> refusal(Operation(kind="DELETE", target=7), Bank(), [], ())
    'there is no insight 7; `retrial insights list` names those there are'
    """
    if operation.kind == "UNDO":
        return _not_undoable(operation.target, journal)
    if operation.kind == "TAINT":
        known = {*kept} | {name for one in journal for name in one.trajectory_ids}
        return _not_taintable(operation.text, journal, known)
    if operation.kind in (CONTENT | {"DELETE"}) - {"ADD"} and operation.target not in bank:
        if any(one.kind == "ADD" and one.target == operation.target for one in journal):
            return (
                f"insight {operation.target} is not in the bank any more; "
                f"`retrial insights show {operation.target}` says why, and `retrial insights undo` brings it back"
            )
        return f"there is no insight {operation.target}; `retrial insights list` names those there are"
    if operation.kind in ("ADD", "EDIT") and not operation.text.strip():
        return "an insight without words teaches nothing; give it some, or delete it with `retrial insights delete`"
    return ""


def undoable(journal: Sequence[Operation]) -> int:
    """Return the number of the newest operation that counts and is no undoing itself; 0 if there is none.

    >>> undoable([Operation(kind="ADD", number=1), Operation(kind="ADD", number=2), Operation(kind="UNDO", target=2)])
    1
    """
    left_out = void(journal)
    numbers = [one.number for one in journal if one.kind not in ("UNDO", "SKIP") and one.number not in left_out]
    return max(numbers, default=0)


def _not_undoable(number: int, journal: Sequence[Operation]) -> str:
    """Why an operation cannot be undone."""
    asked = next((one for one in journal if one.number == number), None)
    if asked is None:
        there = f"there are 1 to {len(journal)}" if journal else "there are none yet"
        return f"there is no operation {number}, {there}; `retrial insights show ID` lists those on an insight"
    if asked.kind == "SKIP":
        return f"operation {number} changed nothing, its line was skipped: {asked.reason}; there is nothing to undo"
    if number in void(journal):
        again = [one.number for one in journal if one.kind == "UNDO" and one.target == number]
        how = f"`retrial insights undo {again[-1]}` brings it back" if again else "its trajectory is tainted"
        return f"operation {number} does not count already; {how}"
    return ""


def _not_taintable(name: str, journal: Sequence[Operation], known: Collection[str]) -> str:
    """Why a trajectory cannot be tainted."""
    if name not in known:
        return f"no trajectory {name!r}; `retrial trajectories list` names those there are"
    left_out = void(journal)
    for one in journal:
        if one.kind == "TAINT" and one.text == name and one.number not in left_out:
            return f"trajectory {name} is tainted already; `retrial insights undo {one.number}` takes that back"
    return ""
