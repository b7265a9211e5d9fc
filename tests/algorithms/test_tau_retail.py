"""The retail domain of tau-bench: its tools are ordinary ones, and its gold actions come to the same database."""

from __future__ import annotations

import pytest

from retrial.algorithms import Agent, Swarm, ToolLoop
from retrial.core.tasks import Status
from retrial.models.fake import text, tool_call
from retrial.tools import ToolHandler
from tau_retail import DATA, DELIVERED, LOOKING, OTHER, PENDING, Shop, load
from worlds import Model, engine_with

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"tau-bench's data is not at {DATA}")

AGENTS = {
    "triage": Agent("You find out who asks for what.", tools=[*LOOKING, *OTHER], handoffs=["pending", "delivered"]),
    "pending": Agent("You change pending orders.", tools=[*LOOKING, *PENDING], handoffs=["triage", "delivered"]),
    "delivered": Agent("You take delivered orders back.", tools=[*LOOKING, *DELIVERED], handoffs=["triage", "pending"]),
}
OWNER = dict.fromkeys(OTHER, "triage") | dict.fromkeys(PENDING, "pending") | dict.fromkeys(DELIVERED, "delivered")
REFUSED = {12: "original payment method", 13: "original payment method", 64: "is pending", 106: "does not cover"}
"""Gold actions that the policy itself forbids, so that they change nothing."""


@pytest.fixture(scope="module")
def data():
    return {name: load(f"retail/{name}.json") for name in ("users", "orders", "products")}


@pytest.fixture(scope="module")
def tasks():
    return load("retail_tasks_test.json") if DATA.exists() else []


def replaying(actions):
    """A model that makes the given actions one after the other, handing over to the agent that can where it must."""

    def model(request):
        made = [m for m in request.messages if m.role == "tool" and not m.content.startswith("Transferred")]
        if len(made) == len(actions):
            return text("All done.")
        action = actions[len(made)]
        if action["name"] in {spec.name for spec in request.tools}:
            return tool_call(action["name"], **action["kwargs"])
        return tool_call(f"transfer_to_{OWNER[action['name']]}")

    return Model(model)


async def replayed(data, task, algorithm):
    """Run a task's gold actions through an algorithm, and return its result, the shop and what the tools said."""
    shop = Shop(data)
    registry = shop.registry()
    model = replaying(task["actions"])
    engine = engine_with(model)
    ToolHandler(registry).attach(engine)
    result = await engine.run(algorithm(registry), {"task": task["instruction"]})
    return result, shop, [message.content for message in model.requests[-1].messages if message.role == "tool"]


def directly(data, task):
    """Make a task's gold actions by calling the functions, and return the shop and the faults of changing actions."""
    shop, faults = Shop(data), []
    for action in task["actions"]:
        try:
            getattr(shop, action["name"])(**action["kwargs"])
        except (ValueError, LookupError) as error:
            faults += [str(error)] if action["name"] in OWNER else []
    return shop, faults


async def test_all_115_gold_action_lists_replay_to_the_same_database(data, tasks):
    """By a model, JSON arguments and the engine they change what plain calls change; no argument is refused."""
    assert len(tasks) == 115
    said = {}
    for number, task in enumerate(tasks):
        result, shop, texts = await replayed(data, task, lambda registry: ToolLoop(registry, max_turns=40))
        expected, _ = directly(data, task)
        assert result.status is Status.COMPLETED
        assert shop.state() == expected.state(), number
        said[number] = " ".join(texts).replace(",", "")
        assert "InvalidArguments" not in said[number], number
    outputs = [(number, output) for number, task in enumerate(tasks) for output in task["outputs"]]
    told = [one for one in outputs if one[1].lower() in said[one[0]].lower()]
    assert (len(told), len(outputs)) == (46, 62), "the others are sums over look-ups that the gold lists leave out"


def test_gold_actions_fail_only_where_the_policy_forbids_them(data, tasks):
    """Every other change takes effect: the order's status is what the policy says."""
    statuses = {
        "cancel_pending_order": "cancelled",
        "modify_pending_order_items": "pending (items modified)",
        "return_delivered_order_items": "return requested",
        "exchange_delivered_order_items": "exchange requested",
    }
    found = {}
    for number, task in enumerate(tasks):
        shop, faults = directly(data, task)
        found |= {number: faults} if faults else {}
        for action in task["actions"]:
            if action["name"] in statuses and number not in REFUSED:
                order = shop.state()[f"orders/{action['kwargs']['order_id']}"]
                assert order["status"] == statuses[action["name"]], number
    assert {number: len(faults) for number, faults in found.items()} == dict.fromkeys(REFUSED, 1)
    assert all(REFUSED[number] in faults[0] for number, faults in found.items())


def test_nobodys_money_is_lost(data, tasks):
    """What a gift card gained or lost is what the payments and refunds on it say."""
    for task in tasks:
        shop, _ = directly(data, task)
        state = shop.state()
        moved: dict[str, float] = {}
        for path, order in state.items():
            if path.startswith("orders/"):
                for one in order["payment_history"][len(data["orders"][order["order_id"]]["payment_history"]) :]:
                    sign = -1 if one["transaction_type"] == "payment" else 1
                    method = one["payment_method_id"]
                    moved[method] = moved.get(method, 0) + sign * one["amount"]
        for path, user in state.items():
            for method, details in user.get("payment_methods", {}).items():
                before = data["users"][path.partition("/")[2]]["payment_methods"][method]
                gained = details.get("balance", 0) - before.get("balance", 0)
                assert gained == pytest.approx(moved.get(method, 0) if "balance" in details else 0), task["user_id"]


@pytest.fixture(scope="module")
def mixed(tasks):
    """The first five tasks that need all three agents, or failing that, two of them."""
    needed = {
        number: {OWNER.get(one["name"], "triage") for one in task["actions"]} for number, task in enumerate(tasks)
    }
    return sorted(needed, key=lambda number: (-len(needed[number]), number))[:5]


async def test_a_swarm_of_three_agents_comes_to_the_same_database(data, tasks, mixed):
    """On five tasks that need several of them: handoffs as needed, each tool called by its owner alone."""
    passed_on = 0
    for number in mixed:
        task = tasks[number]
        swarm = lambda registry: Swarm(AGENTS, registry, max_turns=40)  # noqa: E731 - one a task
        result, shop, texts = await replayed(data, task, swarm)
        expected, _ = directly(data, task)
        assert (result.status, shop.state()) == (Status.COMPLETED, expected.state()), number
        assert "UnknownTool" not in str(texts)
        passed_on += len(result.value["handoffs"])
    assert passed_on >= 2 * len(mixed)
