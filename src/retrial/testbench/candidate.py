"""The program of the process that holds the code under test.

Knows the solution and the calls that it is asked to make, one after the other. It never sees a test, an expected value,
a nonce or the place where results go: whatever the solution does to this process, it can only answer wrongly or die.

It runs alone in the sandbox, joined with the text of wire.py, on the standard library's built-in modules.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
import _thread
import builtins
import posix
import sys

from retrial.testbench.decoding import Decoder
from retrial.testbench.encoding import Encoder
from retrial.testbench.wire import MAX_FRAME, PLAIN_TYPES, Malformed, contents, decode_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Foreign", "Server"]

_OWN = {name: getattr(builtins, name) for name in dir(builtins)}
_UNARY = ("len", "iter", "next", "repr", "str", "hash", "bool", "int", "float", "complex", "abs", "round", "reversed")
_MORE = ("format", "divmod", "pow", "dir", "list")
_SIMPLE: dict[str, Any] = {"get": getattr, "set": setattr, "delete": delattr, "same": lambda value: value}
_leave: Any = vars(posix)["_exit"]
_REPR_LIMIT = 300
_TEXT_LIMIT = 4096


class Foreign:
    """A function or object of the tests, which the solution may call or iterate over but never holds."""

    __slots__ = ("_ask", "_number")

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        self._ask = ask
        self._number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - calls what it stands for
        return self._ask(self._number, "call", args, kwargs)

    def __iter__(self) -> Any:
        return self._ask(self._number, "iter", (), {})

    def __next__(self) -> Any:
        return self._ask(self._number, "next", (), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._ask(self._number, "get", (name,), {})


class Server:
    """Answers requests that arrive on one socket until it is closed."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lock = _thread.RLock()
        self._handles: dict[int, int] = {}
        self._objects: list[Any] = []
        self._classes: dict[int, list[Any]] = {}
        self._module = type(sys)("solution")
        self._lines: list[str] = []

    # Frames

    def _read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = posix.read(self._fd, min(size, 1 << 20))
            if not part:
                _leave(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self) -> tuple[Any, list[Any]]:
        """The next request."""
        return decode_frame(self._read(int.from_bytes(self._read(4), "big")))

    def send(self, frame: bytes) -> None:
        """Send an answer; one that is too long becomes a complaint about its length."""
        if len(frame) > MAX_FRAME:
            frame = self._encoder().frame("raise", "ValueError", None, None, None, "too big to be sent", [], [], None)
        view = memoryview(len(frame).to_bytes(4, "big") + frame)
        while view:
            view = view[posix.write(self._fd, view) :]

    def _encoder(self, known: dict[int, list[Any]] | None = None) -> Encoder:
        return Encoder(self._describe, known)

    def _decoder(self, nodes: list[Any]) -> Decoder:
        return Decoder(nodes, self._special)

    # Objects that stay here

    def _handle(self, value: Any) -> int:
        number = self._handles.get(id(value))
        if number is None:
            number = self._handles[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _describe(self, encoder: Encoder, value: Any) -> list[Any]:
        kind: Any = type(value)
        if kind is Foreign:
            return ["J", value._number]  # noqa: SLF001 - the tests get back what they gave
        if isinstance(value, type):
            bases = [base for base in value.__bases__ if base is not object]
            return ["K", self._handle(value), str(value.__name__), *[encoder.item(base) for base in bases]]
        if kind.__module__ == "builtins" and kind.__name__ in ("function", "builtin_function_or_method", "method"):
            category = "function"
        elif kind.__name__ == "coroutine":
            category = "coroutine"
        elif isinstance(value, BaseException):
            category = "exception"
        else:
            category = "iterator" if hasattr(kind, "__next__") else "instance"
        name = getattr(value, "__name__", "") if category == "function" else kind.__name__
        return ["h", self._handle(value), category, str(name), encoder.item(kind)]

    def _special(self, tag: str, parts: list[Any]) -> Any:
        if tag == "H":
            return self._objects[parts[0]]
        if tag == "N":
            return self._look_up(parts[0])
        if tag == "J":
            return Foreign(self._ask, parts[0])
        if tag == "B":
            return self._objects[parts[2]] if parts[1] == "H" else parts[0]
        raise Malformed(tag)

    def _look_up(self, name: str) -> Any:
        try:
            return vars(self._module)[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined") from None

    def _ask(self, number: int, what: str, args: Any, kwargs: Any) -> Any:
        """Have the tests do something with an object of theirs, serving whatever they ask meanwhile."""
        with self._lock:
            encoder = self._encoder()
            head = [encoder.item(tuple(args)), {str(key): encoder.item(value) for key, value in kwargs.items()}]
            self.send(encoder.frame("ask", number, what, *head))
            while True:
                head, nodes = self.receive()
                if head[0] == "return":
                    return self._decoder(nodes).value(head[1])
                if head[0] == "throw":
                    kind: Any = PLAIN_TYPES.get(head[1], RuntimeError)
                    raise kind(*self._decoder(nodes).value(head[2]))
                self.serve(head, nodes)

    # Requests

    def serve(self, head: list[Any], nodes: list[Any]) -> None:
        """Do what one request asks and answer it."""
        if head[0] == "load":
            self._load(*head[1:])
        elif head[0] == "batch":
            calls = self._decoder(nodes)
            for name, args, kwargs in head[1]:
                given = [calls.value(item) for item in args]
                named = {key: calls.value(item) for key, item in kwargs.items()}
                self._answer(lambda: self._look_up(name)(*given, **named), {}, repr_too=True)  # noqa: B023 - used at once
        else:
            request = self._decoder(nodes)
            known = {id(value): ["@", number] for number, value in enumerate(request.values) if head[0] != "same"}
            held = [(number, value, contents(value)) for number, value in enumerate(request.values)]
            self._answer(lambda: self._perform(head, request), known, [part for part in held if part[2] is not None])

    def _perform(self, head: list[Any], request: Decoder) -> Any:
        args = [request.value(item) for item in head[2]]
        if head[0] == "call":
            return args[0](*args[1:], **{key: request.value(item) for key, item in head[1].items()})
        if head[0] in _SIMPLE:
            return _SIMPLE[head[0]](*args)
        if head[0] == "await":
            import asyncio  # noqa: PLC0415 - only for solutions that use it

            return asyncio.run(args[0])
        if head[1] in _UNARY or head[1] in _MORE:
            return _OWN[head[1]](*args)
        if head[1] in ("copy", "deepcopy"):
            import copy  # noqa: PLC0415 - only for tests that copy

            return getattr(copy, head[1])(args[0])
        import _operator  # noqa: PLC0415 - only where objects of the solution are compared

        return getattr(_operator, head[1])(*args)

    def _answer(
        self,
        work: Callable[[], Any],
        known: dict[int, list[Any]],
        held: list[Any] | None = None,
        *,
        repr_too: bool = False,
    ) -> None:
        try:
            value = work()
            frame = self._value_frame(value, known, held or [], repr_too=repr_too)
        except BaseException as error:  # noqa: BLE001 - whatever the solution raises is data
            frame = self._error_frame(error, known, held or [])
        self._flush()
        self.send(frame)

    def _value_frame(self, value: Any, known: dict[int, list[Any]], held: list[Any], *, repr_too: bool) -> bytes:
        encoder = self._encoder(known)
        item = encoder.item(value)
        changed = self._changed(encoder, held)
        encoder.finish()
        if repr_too and encoder.has_opaque:
            return encoder.frame("value", item, changed, True if value else False, _short(value))  # noqa: SIM210 - bool may be theirs
        return encoder.frame("value", item, changed)

    @staticmethod
    def _changed(encoder: Encoder, held: list[Any]) -> list[Any]:
        changes: list[Any] = []
        for number, value, before in held:
            now: Any = contents(value)
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before, strict=True)):
                changes.append([number, encoder.item(now)])
        return changes

    def _error_frame(self, error: BaseException, known: dict[int, list[Any]], held: list[Any]) -> bytes:
        kind: Any = type(error)
        name = str(kind.__name__)
        try:
            text = str.__str__(str(error))[:_TEXT_LIMIT]
        except BaseException:  # noqa: BLE001 - the solution's __str__ may do anything
            text = "(its text cannot be read)"
        where = self._where(error)
        try:
            encoder = self._encoder(known)
            items = [encoder.item(kind), encoder.item(tuple(error.args)), encoder.item(error)]
            changed = self._changed(encoder, held)
            encoder.finish()
        except BaseException:  # noqa: BLE001 - an exception may hold anything
            encoder = self._encoder()
            items, changed = [None, None, None], []
        missing = getattr(error, "name", None) if kind is ModuleNotFoundError else None
        missing = missing if type(missing) is str else None
        return encoder.frame("raise", name, *items, text, where, changed, missing)

    def _where(self, error: BaseException) -> list[Any]:
        """The last frames of the solution that the exception passed through: line, function, text of the line."""
        found: list[Any] = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == "<solution>":
                line = trace.tb_lineno or 0
                text = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
                found = [*found[-3:], [line, code.co_name, text[:200]]]
            trace = trace.tb_next
        return found

    @staticmethod
    def _flush() -> None:
        try:
            sys.__stdout__.flush()  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
        except BaseException:  # noqa: BLE001 - the solution may have closed it
            return

    # Loading

    def _load(self, source: str, modules: list[str], paths: list[str]) -> None:
        """Run the solution as a module and tell which names it defines."""
        sys.path.extend(paths)
        for module in modules:
            try:
                __import__(module)
            except BaseException as error:  # noqa: BLE001 - a library may fail in any way
                self.send(self._encoder().frame("missing", module, f"{type(error).__name__}: {error}"))
                return
        sys.path[:] = [path for path in sys.path if path not in paths]
        self._lines = source.split("\n")
        sys.modules["solution"] = self._module
        try:
            code = compile(source, "<solution>", "exec", dont_inherit=True)
            exec(code, vars(self._module))  # noqa: S102 - what this process is for
            frame = self._loaded()
        except SyntaxError as error:
            message = f"{type(error).__name__}: {error.msg}"
            frame = self._encoder().frame("refused", f"{message} (line {error.lineno})" if error.lineno else message)
        except BaseException as error:  # noqa: BLE001 - whatever the solution raises is data
            frame = self._error_frame(error, {}, [])
        self._flush()
        self.send(frame)

    def _loaded(self) -> bytes:
        names: dict[str, str] = {}
        for name, value in vars(self._module).items():
            kind: Any = type(value)
            if type(name) is not str or name.startswith("__"):
                continue
            if kind is type(sys):
                if vars(value).get("__name__") == name:
                    names[name] = "module, imported"
            else:
                own = getattr(value, "__module__", "solution") == "solution"
                names[name] = "class" if isinstance(value, type) else "function" if callable(value) else "value"
                names[name] += "" if own else ", imported"
        return self._encoder().frame("loaded", names)

    def run(self) -> None:
        """Serve for ever."""
        self.send(self._encoder().frame("hello"))
        while True:
            self.serve(*self.receive())


def _short(value: Any) -> str:
    text = str.__str__(repr(value))
    return text if len(text) <= _REPR_LIMIT else text[:_REPR_LIMIT] + f"... ({len(text)} characters)"


if __name__ == "__main__":
    # Own copies of the built-in functions: a solution that replaces one changes only what it does itself.
    Server(int(sys.argv.pop())).run()
