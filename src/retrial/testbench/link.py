"""The judge's connection to the candidate: every use of the solution is a request that goes through here.

Knows the wire and what stands for the solution's objects; knows no test. Plain data arrives as plain data, everything
else stays in its process. The text of this module is also part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import builtins

from retrial.testbench.decoding import Decoder
from retrial.testbench.encoding import Encoder
from retrial.testbench.remote import Gone, Remote, RemoteClass, awaited, item_of, snapshot_attribute
from retrial.testbench.wire import PLAIN_TYPES, Malformed, contents, decode_frame, refill
from retrial.testbench.wording import clipped, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Link"]


class Link:
    """Every request to the candidate goes through here. ``exchange`` sends a frame and gives what came back.

    ``named`` are the classes that the tests name: only objects of these may meet plain data in an operator.
    """

    def __init__(self, exchange: Callable[[bytes], bytes], spoiled: Callable[[], None], named: set[str]) -> None:
        self._exchange = exchange
        self._spoiled = spoiled
        self._named = named
        self._given: list[Any] = []
        self._classes: dict[Any, Any] = {}
        self._remotes: dict[Any, Remote] = {}
        self._returned: set[Any] = set()
        self._in_function = False
        self.exported: dict[str, str] = {}
        self.generation = 0
        self.calls: list[tuple[str, str]] = []
        self.asked = 0
        self.quiet = False

    # Asking

    def ask(self, what: str, detail: Any, *values: Any) -> Any:
        """Have the candidate do something with ``values`` and give what came out, or raise what it raised."""
        text = f"{detail if what == 'op' else what}(...)"
        return self._request([what, detail], values, self.calls[-1][0] if self.calls else text)

    def call(self, target: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``target``; the call is remembered as text, for messages."""
        text = self.render_call(name, args, kwargs)
        self.calls = [*self.calls[-9:], (text, "")]
        place = len(self.calls) - 1
        encoder = self._encoder()
        named = {key: encoder.item(value) for key, value in kwargs.items()}
        before, self._in_function = self._in_function, isinstance(target, Remote) and item_of(target)[0] == "N"
        try:
            value = self._request(["call", named], (target, *args), text, encoder)
        finally:
            self._in_function = before
        if len(self.calls) > place and self.calls[place][0] == text:
            self.calls[place] = (text, self.render(value))
        return value

    def _encoder(self) -> Encoder:
        return Encoder(self._describe)

    def _request(self, head: list[Any], values: tuple[Any, ...], text: str, encoder: Encoder | None = None) -> Any:
        self.asked += 1
        encoder = encoder or self._encoder()
        items = [encoder.item(value) for value in values]
        frame = encoder.frame(*head, items)
        known = encoder.values
        while True:
            try:
                answer, nodes = decode_frame(self._send(frame, text))
                decoder = Decoder(nodes, self._special, known)
                if answer[0] == "ask":
                    frame = self._serve(answer, decoder)
                    continue
                for number, item in answer[7 if answer[0] == "raise" else 2]:
                    self._refill(known, number, decoder.value(item))
                if answer[0] == "value":
                    return decoder.value(answer[1])
                error = self._error(answer, decoder)
            except (Malformed, LookupError, TypeError, ValueError, AttributeError) as malformed:
                self._spoiled()
                self.generation += 1
                raise Gone("died", "it sent something that is no answer", text) from malformed
            raise error

    def _send(self, frame: bytes, text: str) -> bytes:
        try:
            return self._exchange(frame)
        except Gone as gone:
            self.generation += 1
            raise Gone(gone.kind, gone.detail, text) from None

    @staticmethod
    def _refill(known: list[Any], number: Any, parts: Any) -> None:
        if type(number) is not int or number < 0 or contents(known[number]) is None:
            raise Malformed("a change to something that cannot change")
        refill(known[number], parts)

    def _serve(self, answer: list[Any], decoder: Decoder) -> bytes:
        """Do something with an object of the tests, because the solution asked for it."""
        _, number, what, args, kwargs = answer
        if type(number) is not int or not 0 <= number < len(self._given):
            raise Malformed("an object that was never given")
        target, given = self._given[number], decoder.value(args)
        named = {key: decoder.value(item) for key, item in kwargs.items()}
        encoder = self._encoder()
        try:
            if what == "call":
                value = target(*given, **named)
            elif what == "get":
                value = getattr(target, given[0]) if not given[0].startswith("_") else None
            else:
                value = iter(target) if what == "iter" else next(target)
            return encoder.frame("return", encoder.item(value))
        except Exception as error:  # noqa: BLE001 - what a test's function raises goes to whoever called it
            encoder = self._encoder()
            plain = tuple(part for part in error.args if isinstance(part, (str, int, float)))
            return encoder.frame("throw", type(error).__name__, encoder.item(plain))

    # Values on their way out

    def _describe(self, _encoder: Encoder, value: Any) -> list[Any]:
        if isinstance(value, RemoteClass) or isinstance(type(value), RemoteClass):
            held = value if isinstance(value, (RemoteClass, Remote)) else vars(value).get("retrial_remote")
            if held is not None:
                if not isinstance(held, RemoteClass) and self._is_stale(held):
                    raise Gone("died", "the object went with the program", "an earlier call")
                return list(vars(held)["retrial_kind_item"] if isinstance(held, RemoteClass) else item_of(held))
        self._given.append(value)
        return ["J", len(self._given) - 1]

    def _is_stale(self, remote: Remote) -> bool:
        generation = object.__getattribute__(remote, "retrial_generation")
        return generation is not None and generation != self.generation

    # Values on their way in

    def export(self, name: str) -> Any:
        """What the solution defines under ``name``."""
        if self.exported[name].startswith("function"):
            return self._remote(self._class("function", "function", ()), ["N", name], name, None)
        value = self._request(["same", None], (_named(self, name),), name)
        if isinstance(value, RemoteClass):
            value.retrial_kind_item = ["N", name]
        return value

    def _special(self, tag: str, parts: list[Any]) -> Any:
        if tag == "J":
            return self._given[parts[0]] if type(parts[0]) is int and parts[0] >= 0 else None
        if tag == "K":
            return self._class((self.generation, int(parts[0])), str(parts[1]), tuple(parts[2:]), int(parts[0]))
        if tag == "h":
            return self._handle(*parts)
        if tag == "B" and len(parts) > 2:
            return self._subclass_value(parts[0], parts[2:] if parts[1] == "h" else None)
        raise Malformed("an unknown kind of value")

    def _handle(self, number: int, category: str, name: str, kind: Any) -> Any:
        if category == "function" or not isinstance(kind, RemoteClass) or not issubclass(kind, Remote):
            kind = self._class("function" if category == "function" else f"any {name}", str(name), ())
        remote = self._remote(kind, ["H", int(number)], str(name), self.generation)
        return awaited(self, remote) if category == "coroutine" else remote

    def _subclass_value(self, base: Any, handle: list[Any] | None) -> Any:
        """An instance of a subclass of a builtin: its base value, or a remote if the tests name the class."""
        if handle is None or not isinstance(handle[3], RemoteClass):
            return base
        kind: Any = handle[3]
        mutable = contents(base) is not None
        if mutable:
            named = kind.__name__ in self._named
            return (
                self._remote(
                    self._class(f"any {kind.__name__}", kind.__name__, ()),
                    ["H", int(handle[0])],
                    str(handle[2]),
                    self.generation,
                )
                if named
                else base
            )
        if not issubclass(kind, type(base)):
            return base
        value = type(base).__new__(kind, base)
        value.retrial_remote = self._remote(
            self._class("object", "object", ()), ["H", int(handle[0])], "object", self.generation
        )
        return value

    def _remote(self, kind: Any, item: list[Any], name: str, generation: int | None) -> Remote:
        key = (generation, *item)
        remote = self._remotes.get(key)
        if remote is None:
            remote = self._remotes[key] = object.__new__(kind)
            if self._in_function:
                self._returned.add(key)
            for field, value in (("generation", generation), ("item", item), ("link", self), ("name", name)):
                object.__setattr__(remote, f"retrial_{field}", value)
        return remote

    def _class(self, key: Any, name: str, bases: tuple[Any, ...], number: int | None = None) -> Any:
        """The class that stands for a class of the solution."""
        item = ["H", number]
        if number is not None and self.exported.get(name) == "class":
            key, item = f"exported {name}", ["N", name]
        found = self._classes.get(key)
        if found is None:
            space: dict[str, Any] = {"retrial_kind_link": self, "retrial_kind_item": item}
            plain = [base for base in bases if isinstance(base, type) and not issubclass(base, Remote)]
            if plain:
                space["__getattr__"] = snapshot_attribute
                bases = tuple(base for base in bases if base in plain)
            else:
                space["__slots__"] = ()
            try:
                found = RemoteClass(name, bases or (Remote,), space)
            except TypeError:
                found = RemoteClass(name, (plain[0],) if plain else (Remote,), space)
            self._classes[key] = found
        return found

    def _error(self, answer: list[Any], decoder: Decoder) -> BaseException:
        _, name, kind_item, args_item, error_item, text, where, _changed, missing = answer
        kind, args, held = decoder.value(kind_item), decoder.value(args_item), decoder.value(error_item)
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            kind = PLAIN_TYPES.get(str(name), Exception)
        if not issubclass(kind, BaseException):
            kind = Exception
        arguments: tuple[Any, ...] = args if isinstance(args, tuple) else (str(text),)
        try:
            error = kind.__new__(kind, *arguments)
        except Exception:  # noqa: BLE001 - some exceptions take no free arguments
            error = RuntimeError(str(text))
        error.args = arguments
        if isinstance(error, UnicodeError):
            error = ValueError(str(text))
        steps = [[int(line), str(function), str(source)] for line, function, source in where]
        vars(error)["retrial_told"] = (str(name), str(text), steps, str(missing) if missing else None)
        vars(error)["retrial_remote"] = held if isinstance(held, Remote) else None
        return error

    # Comparing

    def may_meet(self, remote: Remote, other: Any) -> bool:
        """Whether an operator may bring the object together with ``other``.

        With plain data only where the tests name its class and have made it, or what it came from, themselves: an
        object that a function gave back where plain data was asked for must not say that it is that.
        """
        if isinstance(other, Remote):
            return True
        if (object.__getattribute__(remote, "retrial_generation"), *item_of(remote)) in self._returned:
            return False
        return any(kind.__name__ in self._named for kind in type(remote).__mro__ if kind not in (Remote, object))

    def equal(self, remote: Remote, other: object) -> bool:
        """Whether the solution says that they are equal and does not say so of everything."""
        if other is remote:
            return True
        if not self.may_meet(remote, other) or self.ask("op", "eq", remote, other) is not True:
            return False
        return not any(self._says_equal(remote, stranger) for stranger in (object(), _other_value(other)))

    def _says_equal(self, remote: Remote, stranger: object) -> bool:
        try:
            return self.ask("op", "eq", remote, stranger) is True
        except Exception:  # noqa: BLE001 - an honest comparison may fail on what it does not know
            return False

    # Showing

    def render(self, value: Any) -> str:
        """A bounded representation that asks the candidate nothing."""
        self.quiet = True
        try:
            return (
                "<function>"
                if callable(value) and not isinstance(value, (type, Remote))
                else clipped(short(value), 150)
            )
        finally:
            self.quiet = False

    def render_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """A call as source text."""
        parts = [self.render(value) for value in args] + [
            f"{key}={self.render(value)}" for key, value in kwargs.items()
        ]
        return f"{name}({', '.join(parts)})"


def _named(link: Link, name: str) -> Any:
    return RemoteClass(name, (), {"retrial_kind_link": link, "retrial_kind_item": ["N", name]})


def _other_value(value: object) -> Any:
    """Another plain value of the same type, which an honest comparison tells from ``value``."""
    other: Any = builtins.object()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        other = value + 7919
    elif isinstance(value, str):
        other = value + "?"
    elif isinstance(value, (list, tuple)):
        other = type(value)([*value, 7919])
    elif isinstance(value, dict):
        other = {**value, 7919: 7919}
    elif isinstance(value, (set, frozenset)):
        other = value | {7919}
    return other
