"""A small MCP server: run as a program it speaks by its standard streams."""

from __future__ import annotations

import logging
import os
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

shop = MCPServer("shop", log_level="CRITICAL")
refunded: list[str] = []


@shop.tool()
def refund(order: Annotated[str, "The order's id."], amount: float = 0.0) -> str:
    """Refund an order."""
    if order == "A3":
        raise ToolError("no such order")
    refunded.append(order)
    return f"refunded {order}"


@shop.tool(name="stock.count", annotations=ToolAnnotations(read_only_hint=True))
def stock() -> dict[str, int]:
    """Count what is in stock."""
    return {"chairs": 2}


@shop.tool()
def environment() -> str:
    """Name what the environment holds."""
    return ",".join(sorted(os.environ))


@shop.tool()
def leave() -> str:
    """Go away in the middle of a call."""
    os._exit(3)


if __name__ == "__main__":
    logging.disable()
    shop.run()
