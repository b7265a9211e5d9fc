"""Tools of an MCP server, as tools like any other. Needs the extra ``mcp``, which is imported when it is used.

What a server says of a call that went wrong is for the model to read; a server that is gone is a world that is away.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast
from urllib.parse import urlsplit

from retrial.core.messages import ToolResult, ToolSpec
from retrial.errors import ConfigError, ToolError
from retrial.tools.registry import Approve, Guard, ToolRegistry
from retrial.tools.schema import checkable
from retrial.tools.tool import TIMEOUT, Tool

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult
    from mcp.types import Tool as Theirs

__all__ = ["mcp_tools"]

START_TIMEOUT = 30.0
"""Seconds that a server may take until it has said which tools it has."""
MOST_PAGES = 100
"""How many pages of tools are read."""
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]")


@contextlib.asynccontextmanager
async def mcp_tools(
    server: Sequence[str] | str | Any,
    *,
    env: Mapping[str, str] | None = None,
    prefix: str = "",
    only: Iterable[str] | None = None,
    timeout: float | None = TIMEOUT,  # noqa: ASYNC109 - a call's time, not this one's
    approval: bool = False,
    approve: Approve | None = None,
    guard: Guard | None = None,
) -> AsyncGenerator[ToolRegistry]:
    """Connect to an MCP server and offer its tools while the block lasts.

    ``async with mcp_tools(["uvx", "mcp-server-time"]) as registry``.

    Args:
        server: a command and its arguments, which is started and spoken to by its standard streams; an ``http(s)``
            address; or a server in this process.
        env: what a command finds in its environment, besides PATH, HOME, USER, SHELL, TERM and LOGNAME.
        prefix: put before every name, as ``prefix_name``, for servers whose names clash.
        only: the server's names of the tools to take; None for all.
        timeout: seconds that each call may take; None for no limit.
        approval: whether each call has to be approved.
        approve: as in ``ToolRegistry``.
        guard: as in ``ToolRegistry``.

    Raises:
        ConfigError: if the library is missing, or the server cannot be what is meant.
        ToolError: if the server does not answer.
    """
    client, named = _client(server, env), _named(server)
    tools: asyncio.Future[list[Theirs]] = asyncio.get_running_loop().create_future()
    closing = asyncio.Event()
    # A task of its own, so that what is raised where the tools are used is not wrapped by the connection.
    connection = asyncio.create_task(_connected(client, tools, closing))
    try:
        try:
            offered = await asyncio.wait_for(tools, START_TIMEOUT)
        except Exception as error:
            raise ToolError(f"the MCP server {named!r} cannot be reached: {_innermost(error)}") from error
        named = (client.server_info and client.server_info.name) or named
        chosen = _chosen(offered, only, named)
        made = [_tool(one, client, named, prefix, {"timeout": timeout, "approval": approval}) for one in chosen]
        yield ToolRegistry(made, approve=approve, guard=guard)
    finally:
        closing.set()
        if not tools.done() or tools.cancelled():
            connection.cancel()
        await asyncio.gather(connection, return_exceptions=True)


def _command(server: object) -> bool:
    return isinstance(server, Sequence) and not isinstance(server, str)


def _named(server: Any) -> str:
    """What a server is called until it says its name: without arguments and queries, which may hold a key."""
    if isinstance(server, str):
        address = urlsplit(server)
        return f"{address.scheme}://{address.hostname}{address.path}"
    return str(server[0]) if _command(server) and server else type(server).__name__


def _client(server: Any, env: Mapping[str, str] | None) -> Client:
    """The library's client of a server.

    Raises:
        ConfigError: if the library is missing, or a text is no address.
    """
    try:
        from mcp import Client, StdioServerParameters  # noqa: PLC0415 - a second of imports
        from mcp.client.stdio import stdio_client  # noqa: PLC0415 - same
    except ImportError:
        raise ConfigError('tools of an MCP server need a library; install "retrial[mcp]"') from None
    if isinstance(server, str) and not server.startswith(("http://", "https://")):
        raise ConfigError(f"{server!r:.40} is no address of an MCP server; give a command as a list, ['uvx', 'x']")
    if not _command(server):
        return Client(server)
    command, *arguments = cast("Sequence[str]", server) or [""]
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(env or {}))
    # A process can write to a real stream alone, and a notebook or a test has put another in the place of sys.stderr.
    return Client(stdio_client(parameters, errlog=cast("TextIO", sys.__stderr__)))


async def _connected(client: Client, tools: asyncio.Future[list[Theirs]], closing: asyncio.Event) -> None:
    """Hold the connection until it is to be closed."""
    try:
        async with client:
            found: list[Theirs] = []
            cursor: str | None = None
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    break
            tools.set_result(found)
            await closing.wait()
    except Exception as error:  # noqa: BLE001 - whoever waits for the tools is told; later, each call is
        if not tools.done():
            tools.set_exception(error)


def _chosen(offered: Sequence[Theirs], only: Iterable[str] | None, named: str) -> list[Theirs]:
    """The tools that are wanted, in the server's order.

    Raises:
        ConfigError: if one is not there.
    """
    wanted = None if only is None else set(only)
    missing = (wanted or set()) - {one.name for one in offered}
    if missing:
        known = sorted(one.name for one in offered)
        raise ConfigError(f"the MCP server {named!r} has no tool {min(missing)!r}; it has {known}")
    return [one for one in offered if wanted is None or one.name in wanted]


def _tool(theirs: Theirs, client: Client, named: str, prefix: str, options: Mapping[str, Any]) -> Tool[..., Any]:
    """A server's tool as one of ours.

    Raises:
        ConfigError: if no provider takes its name.
    """
    name = _UNNAMEABLE.sub("_", f"{prefix}_{theirs.name}" if prefix else theirs.name)

    async def call(**arguments: Any) -> ToolResult:
        from mcp import MCPError  # noqa: PLC0415 - the client has imported it
        from mcp.types import CONNECTION_CLOSED  # noqa: PLC0415 - same

        try:
            return _result(await client.call_tool(theirs.name, arguments))
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                return ToolResult(value=str(error), error="ToolFailed")
            raise ToolError(f"the MCP server {named!r} is gone; start it and resume (tool {theirs.name!r})") from error

    spec = ToolSpec(name=name, description=theirs.description or "", parameters=theirs.input_schema)
    looks = theirs.annotations is not None and theirs.annotations.read_only_hint is True
    checks = checkable(theirs.input_schema)
    try:
        return Tool(
            spec=spec,
            function=call,
            repeatable=looks,
            checks=checks if isinstance(checks, dict) else {},
            **options,
        )
    except ConfigError as error:
        raise ConfigError(
            f"tool {theirs.name!r:.80} of the MCP server {named!r}: {error}; choose others, only=[...]"
        ) from error


def _result(theirs: CallToolResult) -> ToolResult:
    """What a server answered: its texts, and of anything else what it is."""
    parts = [getattr(part, "text", None) or f"({part.type}, not shown)" for part in theirs.content]
    value = "\n".join(parts) if parts else theirs.structured_content
    return ToolResult(value=value, error="ToolFailed" if theirs.is_error else "")


def _innermost(error: BaseException) -> str:
    """The first cause within groups of exceptions, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError) and not str(error):
        return f"no answer within {START_TIMEOUT:g} seconds"
    return f"{type(error).__name__}: {error}"
