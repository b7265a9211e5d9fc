"""What the tests hold instead of the solution's objects.

Each use of one goes through its link (link.py). It forwards attributes, calls, iteration and operators, but an operator
never brings an object of the solution together with plain data unless the tests name its class. The text of this module
is also part of the judge's program.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
from retrial.testbench.wording import raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Gone", "Remote", "RemoteClass", "awaited", "describe_error", "item_of", "snapshot_attribute"]

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_ORDER = ("lt", "le", "gt", "ge")
_FORWARDED = {
    "len": "len",
    "iter": "iter",
    "next": "next",
    "hash": "hash",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "complex": "complex",
    "index": "index",
    "abs": "abs",
    "neg": "neg",
    "pos": "pos",
    "invert": "invert",
    "round": "round",
    "format": "format",
    "reversed": "reversed",
    "dir": "dir",
    "getitem": "getitem",
    "setitem": "setitem",
    "delitem": "delitem",
}


class Gone(BaseException):
    """The solution's process is gone: timeout, died or not_run, and the sentence that says so."""

    def __init__(self, kind: str, detail: str, call: str) -> None:
        super().__init__(kind, detail, call)
        self.kind = kind
        self.detail = detail
        self.call = call


class RemoteClass(type):
    """The type of the classes that stand for classes of the solution."""

    retrial_kind_link: Any
    retrial_kind_item: list[Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - has the class called
        return cls.retrial_kind_link.call(cls, cls.__name__, args, kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("retrial_"):
            raise AttributeError(name)
        return cls.retrial_kind_link.ask("get", None, cls, name)

    def __iter__(cls) -> Any:
        return cls.retrial_kind_link.ask("op", "iter", cls)

    def __getitem__(cls, key: Any) -> Any:
        return cls.retrial_kind_link.ask("op", "getitem", cls, key)

    def __len__(cls) -> int:
        return cls.retrial_kind_link.ask("op", "len", cls)

    def __bool__(cls) -> bool:
        return True


class Remote:
    """Stands for one object of the solution."""

    __slots__ = ("retrial_generation", "retrial_item", "retrial_link", "retrial_name")

    def __repr__(self) -> str:
        link: Any = _link_of(self)
        name = f"<{object.__getattribute__(self, 'retrial_name')} object>"
        return name if link.quiet else _readable(link.ask("op", "repr", self))

    def __str__(self) -> str:
        return _readable(_link_of(self).ask("op", "str", self))

    def __getattr__(self, name: str) -> Any:
        return _link_of(self).ask("get", None, self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _link_of(self).ask("set", None, self, name, value)

    def __delattr__(self, name: str) -> None:
        _link_of(self).ask("delete", None, self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102 - calls what it stands for
        name = object.__getattribute__(self, "retrial_name")
        return _link_of(self).call(self, name, args, kwargs)

    def __eq__(self, other: object) -> bool:
        return _link_of(self).equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return _link_of(self).ask("op", "hash", self)

    def __contains__(self, wanted: Any) -> bool:
        link: Any = _link_of(self)
        if link.may_meet(self, wanted):
            return link.ask("op", "contains", self, wanted) is True
        return any(part == wanted for part in self)  # type: ignore[attr-defined]

    def __enter__(self) -> Any:
        return self.__getattr__("__enter__")()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:  # noqa: PYI036 - as the solution wants them
        return self.__getattr__("__exit__")(kind, error, None)

    def __copy__(self) -> Any:
        return _link_of(self).ask("op", "copy", self)

    def __deepcopy__(self, _known: Any) -> Any:
        return _link_of(self).ask("op", "deepcopy", self)

    def __await__(self) -> Any:
        return awaited(_link_of(self), self).__await__()


def _link_of(remote: Remote) -> Any:
    return object.__getattribute__(remote, "retrial_link")


def _readable(value: Any) -> str:
    return value if type(value) is str else "<unreadable>"


async def awaited(link: Any, remote: Remote) -> Any:
    """A coroutine whose result is that of a coroutine of the solution."""
    return link.ask("await", None, remote)


def _forward(name: str) -> Callable[..., Any]:
    def method(self: Remote, *args: Any) -> Any:
        return _link_of(self).ask("op", name, self, *args)

    return method


def _operate(name: str, *, swapped: bool = False) -> Callable[..., Any]:
    wire_name = name + "_" if name in ("and", "or") else name

    def method(self: Remote, other: Any) -> Any:
        link: Any = _link_of(self)
        if not link.may_meet(self, other):
            held = object.__getattribute__(self, "retrial_name")
            raise TypeError(f"a {held} object stands where the test expects plain data")
        return link.ask("op", wire_name, *((other, self) if swapped else (self, other)))

    return method


for _method, _operation in _FORWARDED.items():
    setattr(Remote, f"__{_method}__", _forward(_operation))
for _method in (*_BINARY, *_ORDER):
    setattr(Remote, f"__{_method}__", _operate(_method))
for _method in _BINARY:
    setattr(Remote, f"__r{_method}__", _operate(_method, swapped=True))


def snapshot_attribute(self: Any, name: str) -> Any:
    """What a value whose base value is here says beyond that: asked of the original."""
    held = vars(self).get("retrial_remote")
    if held is None or name.startswith("__"):
        raise AttributeError(name)
    return getattr(held, name)


def describe_error(call: str, error: BaseException) -> str | None:
    """What the solution raised, in words; None where the error is none of the solution's."""
    told: Any = getattr(error, "__dict__", {}).get("retrial_told")
    return raised(call, *told) if told else None


def item_of(remote: Remote) -> list[Any]:
    """How the candidate knows the object."""
    return object.__getattribute__(remote, "retrial_item")
