"""The nodes of a frame turned into values.

Whatever a stranger sent, it becomes plain values or ``Malformed`` is raised. The text of this module is also part of
the programs that run in the sandbox.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
from retrial.testbench.wire import PLAIN_TYPES, Malformed, refill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["Decoder"]


def _zone(offset: Any) -> Any:
    import datetime  # noqa: ICN001, PLC0415 - imported when one arrives

    return datetime.timezone(offset)


def _moment(kind: str, text: str, zone: Any, fold: int) -> Any:
    import datetime  # noqa: ICN001, PLC0415 - imported when one arrives

    return getattr(datetime, kind).fromisoformat(text).replace(tzinfo=zone, fold=fold)


def _library_value(tag: str, parts: list[Any]) -> Any:
    """A value of a library type, by tag. The parts come from a stranger: constructors refuse what makes no sense."""
    if tag == "D":
        from decimal import Decimal  # noqa: PLC0415 - imported when one arrives

        return Decimal(parts[0])
    if tag == "Q":
        from fractions import Fraction  # noqa: PLC0415 - imported when one arrives

        return Fraction(parts[0], parts[1])
    import datetime  # noqa: ICN001, PLC0415 - imported when one arrives

    if tag == "date":
        return datetime.date.fromisoformat(parts[0])
    if tag == "delta":
        return datetime.timedelta(*parts)
    return _zone(parts[0]) if tag == "zone" else _moment(tag, parts[0], parts[1], parts[2])


def _shell(tag: str, node: list[Any]) -> Any:
    """An empty container of a kind that can be filled later."""
    if tag in ("l", "d", "S"):
        return [] if tag == "l" else {} if tag == "d" else set()
    import collections  # noqa: PLC0415 - imported when one arrives

    if tag == "q":
        return collections.deque(maxlen=node[1])
    if tag == "f":
        return collections.defaultdict(PLAIN_TYPES[node[1]] if node[1] else None)
    return collections.Counter() if tag == "C" else collections.OrderedDict()


_VALUES: dict[str, Callable[[list[Any]], Any]] = {
    "t": tuple,
    "F": frozenset,
    "k": lambda parts: dict.fromkeys(parts).keys(),
    "r": lambda parts: range(*parts),
    "x": lambda parts: slice(*parts),
    "c": lambda parts: complex(*parts),
    "i": lambda parts: int(parts[0], 16),
    "s": lambda parts: bytes.fromhex(parts[0]).decode("utf-8", "surrogatepass"),
    "b": lambda parts: bytes.fromhex(parts[0]),
    "y": lambda parts: bytearray.fromhex(parts[0]),
    "e": lambda _parts: ...,
    "n": lambda _parts: NotImplemented,
    "T": lambda parts: PLAIN_TYPES[parts[0]],
}
_SHELLS = {"l": 1, "d": 1, "S": 1, "q": 2, "f": 2, "C": 1, "O": 1}
_LIBRARY_TAGS = ("D", "Q", "date", "time", "datetime", "delta", "zone")


class Decoder:
    """Turns the nodes of one frame into values. Whatever a stranger sent, it raises Malformed or gives plain values.

    ``special(tag, parts)`` makes the values of the tags that only one side of a connection knows, from decoded parts.
    ``known`` are the objects that ``["@", number]`` refers to.
    """

    def __init__(
        self,
        nodes: list[Any],
        special: Callable[[str, list[Any]], Any],
        known: Sequence[Any] = (),
    ) -> None:
        self._nodes = nodes
        self._special = special
        self._known = known
        self.values: list[Any] = [None] * len(nodes)
        self._state = bytearray(len(nodes))
        try:
            self._build()
        except Malformed:
            raise
        except Exception as error:
            raise Malformed(f"not a value: {type(error).__name__}") from error

    def value(self, item: Any) -> Any:
        """The value that ``item`` stands for."""
        if type(item) is not list:
            if type(item) is dict:
                raise Malformed("a JSON object where a value belongs")
            return item
        try:
            if len(item) == 1 and item[0] >= 0:
                return self.values[item[0]]
            if item[0] == "@" and item[1] >= 0:
                return self._known[item[1]]
        except (IndexError, TypeError, KeyError) as error:
            raise Malformed("a reference to nothing") from error
        raise Malformed("a list where a value belongs")

    def _build(self) -> None:
        shells: list[int] = []
        for number, node in enumerate(self._nodes):
            if node[0] in _SHELLS:
                self.values[number] = _shell(node[0], node)
                self._state[number] = 2
                shells.append(number)
        for number in range(len(self._nodes)):
            if self._state[number] != 2:
                self._resolve(number)
        for number in shells:
            node = self._nodes[number]
            refill(self.values[number], self._parts(node, _SHELLS[node[0]]))

    def _resolve(self, first: int) -> None:
        """Build a value that cannot be filled later, after those it holds; without recursion, since depth is theirs."""
        stack = [first]
        while stack:
            number = stack[-1]
            if self._state[number] == 2:
                stack.pop()
                continue
            node = self._nodes[number]
            missing = [part[0] for part in node if type(part) is list and len(part) == 1 and self._state[part[0]] != 2]
            if not missing:
                self.values[number] = self._make(node)
                self._state[number] = 2
                stack.pop()
            elif self._state[number]:
                raise Malformed("a value that holds itself and cannot")
            else:
                self._state[number] = 1
                stack.extend(missing)

    def _parts(self, node: list[Any], start: int) -> list[Any]:
        kinds = set(map(type, node))
        if list in kinds or dict in kinds:
            return [self.value(part) for part in node[start:]]
        return node[start:]

    def _make(self, node: list[Any]) -> Any:
        tag, parts = node[0], self._parts(node, 1)
        if tag in _VALUES:
            return _VALUES[tag](parts)
        if tag in _LIBRARY_TAGS:
            return _library_value(tag, parts)
        return self._special(tag, parts)
