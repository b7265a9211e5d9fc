"""Frames on the way between processes: length-prefixed JSON, no pickle, and the tables both directions share.

A frame is one JSON array ``[head, node, node, ...]``: atoms stand where they are used, every container is a node of its
own and is referred to as ``[number]``, so that cycles, shared references and any depth travel without recursion. What
values become is in encoding.py and decoding.py; nothing here knows of tests.

The text of this module is also part of the programs that run in the sandbox, where each import costs start-up time.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import sys

__all__ = [
    "MAX_FRAME",
    "PLAIN_TYPES",
    "Malformed",
    "class_of",
    "contents",
    "decode_frame",
    "encode_frame",
    "pairs",
    "refill",
]

# Annotations are never evaluated here, and typing takes longer to import than the rest of a candidate's start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MAX_FRAME = 64 << 20
"""Bytes of one frame; a longer one is refused by whoever reads it."""

class_of: Any = type
"""The class of a stranger's value, of which a type checker should assume nothing."""
dict_items: Any = dict.items
"""The items of a dict, whatever its subclass says about them."""


class Malformed(Exception):
    """What arrived is no value of this wire."""


def _codec() -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """The JSON writer and reader, from the C accelerator alone where there is one: json is slow to import."""
    try:
        import _json as fast  # type: ignore[import-not-found]  # noqa: PLC0415 - no stubs: a CPython detail

        class Options:
            strict = True
            object_hook = None
            object_pairs_hook = None
            parse_float = float
            parse_int = int
            parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": -float("inf")}.__getitem__
            memo: dict[str, str] = {}  # noqa: RUF012 - the reader asks for it and never shares it

        quote: Any = fast.encode_basestring_ascii
        writer: Any = fast.make_encoder(None, None, quote, None, ":", ",", False, False, True)  # pyright: ignore  # noqa: PGH003
        reader: Any = fast.make_scanner(Options)  # pyright: ignore  # noqa: PGH003

        def write(value: Any) -> str:
            return "".join(writer(value, 0))

        def read(text: str) -> Any:
            value, end = reader(text, 0)
            if end != len(text):
                raise Malformed("more than one value in a frame")
            return value

        write([1.5, "a", None])
    except (ImportError, AttributeError, TypeError):
        import json  # noqa: PLC0415 - only where the accelerator is missing

        return json.dumps, json.loads
    return write, read


_write, _read = _codec()


def encode_frame(head: Any, nodes: Sequence[Any] = ()) -> bytes:
    """The bytes of a frame, without its length."""
    return _write([head, *nodes]).encode("ascii")


def decode_frame(frame: bytes) -> tuple[Any, list[Any]]:
    """The head and the nodes of a frame.

    Raises:
        Malformed: if it is anything else than what ``encode_frame`` makes.
    """
    try:
        value: Any = _read(frame.decode("ascii"))
    except (ValueError, StopIteration, RecursionError, KeyError, MemoryError) as error:
        raise Malformed("not JSON") from error
    if class_of(value) is not list or not value:
        raise Malformed("not a frame")
    return value[0], value[1:]


PLAIN_TYPES: dict[str, type] = {
    name: value
    for name, value in vars(sys.modules["builtins"]).items()
    if isinstance(value, type) and value.__module__ == "builtins" and value.__name__ == name
}
"""Types that every process has and that travel by name: int, ValueError and their kin."""


def pairs(value: Any) -> list[Any]:
    """The keys and values of a dict, in turn."""
    return [part for pair in dict_items(value) for part in pair]


def contents(value: Any) -> list[Any] | None:
    """What a container that can be changed holds now, flat; None for everything else."""
    kind = class_of(value)
    if kind in (list, set) or (kind.__name__ == "deque" and kind.__module__ == "collections"):
        return list(value)
    if kind is bytearray:
        return [bytes(value)]
    if kind is dict or (kind.__module__ == "collections" and issubclass(kind, dict)):
        return pairs(value)
    return None


def refill(value: Any, parts: list[Any]) -> None:
    """Make a container hold ``parts``, as ``contents`` gave them."""
    value.clear()
    if isinstance(value, dict):
        for key, part in zip(parts[::2], parts[1::2], strict=True):
            value[key] = part
    elif isinstance(value, set):
        value.update(parts)
    else:
        value.extend(parts[0] if isinstance(value, bytearray) else parts)
