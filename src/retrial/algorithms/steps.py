"""What an agent did on its way to an output, as the reflector reads it."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["STEPS_CHARACTERS", "STEP_CHARACTERS", "told"]

STEPS_CHARACTERS = 12_000
"""How much of a transcript stands in a prompt: its newest steps, since a failure shows at the end."""
STEP_CHARACTERS = 3_000
"""How much of one step stands there: its beginning."""


def told(output: str, steps: Sequence[str]) -> str:
    r"""Return an attempt as the reflector reads it: the output, after the steps that led to it, if there were any.

    >>> told("42", ())
    '42'
    >>> print(told("42", ["looked at the map", "guessed"]))
    Steps:
    1. looked at the map
    2. guessed
    <BLANKLINE>
    Output:
    42
    """
    if not steps:
        return output
    kept: list[str] = []
    room = STEPS_CHARACTERS
    for number in range(len(steps), 0, -1):
        step = steps[number - 1]
        short = step if len(step) <= STEP_CHARACTERS else f"{step[:STEP_CHARACTERS]} […]"
        room -= len(short)
        if room < 0 and kept:
            break
        kept.append(f"{number}. {short}")
    left_out = len(steps) - len(kept)
    title = f"Steps (the first {left_out} of {len(steps)} are left out):" if left_out else "Steps:"
    return "\n".join([title, *reversed(kept), "", "Output:", output])
