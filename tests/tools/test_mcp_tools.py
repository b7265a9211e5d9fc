"""Tools of an MCP server: what they look like, what calls come to, and what becomes of a server that is gone."""

from __future__ import annotations

import asyncio
import builtins
import importlib.util
import sys
from pathlib import Path

import pytest

from retrial.algorithms import ToolLoop
from retrial.core.effects import CallTool
from retrial.core.tasks import Status
from retrial.errors import ConfigError, ToolError
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler, ToolRegistry, mcp_tools, tool
from worlds import Model, engine_with

SERVER = Path(__file__).parent / "mcp_shop.py"


@pytest.fixture(scope="module")
def shop():
    """The server, in this process."""
    spec = importlib.util.spec_from_file_location("mcp_shop", SERVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def call(registry, name, **arguments):
    return await ToolHandler(registry)(CallTool(tool=name, arguments=arguments), "turn.1/tool.1")


async def test_its_tools_are_tools_like_any_other(shop):
    """Name, description and schema are the server's; a name that no provider takes is mended; reading is repeatable."""
    async with mcp_tools(shop.shop) as registry:
        assert list(registry.specs) == ["refund", "stock_count", "environment", "leave"]
        spec = registry.specs["refund"]
        assert spec.description == "Refund an order."
        assert spec.parameters["properties"]["order"]["type"] == "string"
        assert spec.parameters["required"] == ["order"]
        assert registry.repeatable == {"stock_count"}


async def test_calls_come_back_as_text_and_faults_as_observations(shop):
    """A result, a fault of the tool, and arguments that do not fit, which never reach the server."""
    shop.refunded.clear()
    async with mcp_tools(shop.shop) as registry:
        assert (await call(registry, "refund", order="A1")).text == "refunded A1"
        assert (await call(registry, "stock_count")).text == '{\n  "chairs": 2\n}'
        assert (await call(registry, "refund", order="A3")).text.startswith("ToolFailed: ")
        assert "no such order" in (await call(registry, "refund", order="A3")).text
        wrong = await call(registry, "refund", order=5)
        assert wrong.text == "InvalidArguments: argument 'order' is 5, expected a string"
    assert shop.refunded == ["A1"]


async def test_names_that_clash_get_a_prefix_and_tools_can_be_chosen(shop):
    """Tools of a server stand beside ours, under names of their own; one that it does not have is named."""

    @tool
    def refund(order: str) -> str:
        """Refund an order of ours."""
        return f"ours {order}"

    async with mcp_tools(shop.shop, prefix="shop", only=["refund"]) as theirs:
        registry = ToolRegistry([refund, *theirs])
        assert list(registry.specs) == ["refund", "shop_refund"]
        assert (await call(registry, "shop_refund", order="A1")).text == "refunded A1"
    with pytest.raises(ConfigError, match=r"'shop' has no tool 'pay'; it has \['environment', 'leave', 'refund'"):
        async with mcp_tools(shop.shop, only=["pay"]):
            pass


async def test_the_registrys_protections_hold_for_a_servers_tools(shop):
    """Approval and the guard come before the server."""
    shop.refunded.clear()
    hooks = {"approve": lambda wanted: "not today", "approval": True}
    async with mcp_tools(shop.shop, **hooks) as registry:
        assert (await call(registry, "refund", order="A1")).text == "Refused: not today"
    async with mcp_tools(shop.shop, guard=lambda wanted: "never") as registry:
        assert (await call(registry, "refund", order="A1")).text == "Refused: never"
    assert shop.refunded == []


async def test_what_is_raised_in_the_block_comes_out_as_it_was(shop):
    """The connection wraps it in nothing."""
    with pytest.raises(KeyError, match="mine"):
        async with mcp_tools(shop.shop):
            raise KeyError("mine")


@pytest.mark.slow
async def test_a_server_of_its_own_process_serves_a_loop_and_its_death_ends_the_run(monkeypatch):
    """By its standard streams, without our keys; once it is gone the run fails, and resumes with a new one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-real-key")
    command = [sys.executable, str(SERVER)]
    replies = {0: tool_call("refund", order="A1"), 1: tool_call("environment"), 2: tool_call("leave")}

    def answer(request):
        observed = [message.content for message in request.messages if message.role == "tool"]
        return replies.get(len(observed)) or text(" | ".join(observed))

    engine = engine_with(Model(answer))
    async with mcp_tools(command, env={"SHOP": "1"}) as registry:
        ToolHandler(registry).attach(engine)
        failed = await engine.run(ToolLoop(registry), {"task": "Refund A1"}, run_id="r")
    assert failed.status is Status.FAILED
    assert failed.error == "a tool cannot be called: the MCP server 'shop' is gone; start it and resume (tool 'leave')"
    refunded, environment = (step.partition(" -> ")[2] for step in failed.value["steps"])
    assert refunded == "refunded A1"
    assert "SHOP" in environment
    assert "OPENAI_API_KEY" not in environment

    @tool
    def leave() -> str:
        """Go away in the middle of a call."""
        return "stayed"

    ToolHandler(ToolRegistry([leave])).attach(engine)
    resumed = await engine.resume("r", ToolLoop(registry))
    assert resumed.value["text"].endswith("| stayed")


@pytest.mark.parametrize(
    ("server", "error", "words"),
    [
        ("uvx shop", ConfigError, "is no address of an MCP server; give a command as a list"),
        (["/nowhere/shop", "--key", "sk-1"], ToolError, "the MCP server '/nowhere/shop' cannot be reached: "),
        ([], ToolError, "cannot be reached"),
        ("http://user:sk-1@127.0.0.1:9/mcp?key=sk-1", ToolError, "the MCP server 'http://127.0.0.1/mcp' cannot be"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_without_its_secrets(server, error, words):
    """Before anything is asked of a model."""
    with pytest.raises(error, match=words) as caught:
        async with mcp_tools(server):
            pass
    assert "sk-1" not in str(caught.value)


async def test_a_server_that_never_answers_is_given_up(monkeypatch):
    """Starting has a limit, and the process is ended."""
    monkeypatch.setattr("retrial.tools.mcp.START_TIMEOUT", 0.2)
    with pytest.raises(ToolError, match=r"no answer within 0\.2 seconds"):
        async with mcp_tools([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"]):
            pass


async def test_two_tasks_can_call_at_once(shop):
    """A turn's calls share one connection."""
    async with mcp_tools(shop.shop) as registry:
        ends = await asyncio.gather(*(call(registry, "refund", order=f"B{n}") for n in range(20)))
    assert [end.text for end in ends] == [f"refunded B{n}" for n in range(20)]


async def test_without_the_library_the_message_says_what_to_install(monkeypatch):
    """It is an extra."""
    real = builtins.__import__

    def without(name, *rest):
        if name == "mcp":
            raise ModuleNotFoundError("No module named 'mcp'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=r"install \"retrial\[mcp\]\""):
        async with mcp_tools(["shop"]):
            pass


def test_importing_the_room_does_not_import_the_library():
    """A second of imports is for those who need them."""
    import subprocess

    code = "import sys, retrial.tools; print('mcp' in sys.modules or 'jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
