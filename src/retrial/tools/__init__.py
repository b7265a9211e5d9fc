"""Functions that a model can have called: what they look like to it, and what happens when it does."""

from retrial.core.messages import ToolResult
from retrial.tools.handler import ToolHandler
from retrial.tools.mcp import mcp_tools
from retrial.tools.registry import ToolRegistry
from retrial.tools.tool import Tool, tool

__all__ = ["Tool", "ToolHandler", "ToolRegistry", "ToolResult", "mcp_tools", "tool"]
