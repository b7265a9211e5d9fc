"""A shop as the retail domain of tau-bench describes it, its rules as ordinary tools over its published data.

Written from the policy and the data (users, orders, products), which stand beside the project.
"""

from __future__ import annotations

import ast
import copy
import json
import operator
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from retrial.tools import ToolRegistry, tool

DATA = Path(__file__).parents[2] / "shared" / "data" / "envs" / "tau"
LOOKING = (
    "find_user_id_by_email",
    "find_user_id_by_name_zip",
    "get_order_details",
    "get_product_details",
    "get_user_details",
    "list_all_product_types",
    "calculate",
)
PENDING = (
    "cancel_pending_order",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
)
DELIVERED = ("return_delivered_order_items", "exchange_delivered_order_items")
OTHER = ("modify_user_address", "transfer_to_human_agents")


def load(name: str) -> Any:
    return json.loads((DATA / name).read_text())


class Shop:
    """What the tools work on: the published data, never changed, and beside it what was changed."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self.changed: dict[str, dict[str, Any]] = {"users": {}, "orders": {}}

    def state(self) -> dict[str, Any]:
        """Every record that is not as it was published."""
        own = {f"{kind}/{key}": one for kind, records in self.changed.items() for key, one in records.items()}
        return {
            path: one for path, one in own.items() if one != self._data[path.partition("/")[0]][path.partition("/")[2]]
        }

    def registry(self) -> ToolRegistry:
        looking = [tool(repeatable=True)(getattr(self, name)) for name in LOOKING]
        return ToolRegistry([*looking, *(tool(getattr(self, name)) for name in (*PENDING, *DELIVERED, *OTHER))])

    def find_user_id_by_email(self, email: str) -> str:
        """Find a user's id by e-mail address."""
        return self._user_id(lambda user: user["email"].lower() == email.lower())

    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 - the data's name
        """Find a user's id by first name, last name and zip code."""
        wanted = (first_name.lower(), last_name.lower(), zip)
        return self._user_id(
            lambda user: (
                (user["name"]["first_name"].lower(), user["name"]["last_name"].lower(), user["address"]["zip"])
                == wanted
            )
        )

    def get_user_details(self, user_id: str) -> dict[str, Any]:
        """Show a user's profile, payment methods and orders."""
        return self._one("users", user_id)

    def get_order_details(self, order_id: str) -> dict[str, Any]:
        """Show an order; its id begins with #."""
        return self._one("orders", order_id)

    def get_product_details(self, product_id: str) -> dict[str, Any]:
        """Show a product and its variants."""
        return self._one("products", product_id)

    def list_all_product_types(self) -> dict[str, str]:
        """List the products by name, with their ids."""
        return {product["name"]: product["product_id"] for product in self._data["products"].values()}

    def calculate(self, expression: str) -> str:
        """Work out a sum of numbers with + - * / and parentheses, to two places."""
        return str(round(float(_worked_out(ast.parse(expression, mode="eval").body)), 2))

    def transfer_to_human_agents(self, summary: str) -> str:
        """Hand the user to a person, with a summary, where nothing else can be done."""
        return "a person takes over"

    def cancel_pending_order(self, order_id: str, reason: Literal["no longer needed", "ordered by mistake"]) -> Any:
        """Cancel a pending order and refund what was paid for it."""
        order = self._order(order_id, "pending")
        for payment in list(order["payment_history"]):
            self._refund(order, payment["amount"], payment["payment_method_id"])
        order |= {"status": "cancelled", "cancel_reason": reason}
        return order

    def modify_pending_order_address(
        self,
        order_id: str,
        *,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,  # noqa: A002 - the data's name
    ) -> Any:
        """Change where a pending order goes."""
        order = self._order(order_id, "pending")
        order["address"] = {
            "address1": address1,
            "address2": address2,
            "city": city,
            "state": state,
            "country": country,
            "zip": zip,
        }
        return order

    def modify_user_address(
        self,
        user_id: str,
        *,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,  # noqa: A002 - the data's name
    ) -> Any:
        """Change a user's default address."""
        user = self._own("users", user_id)
        user["address"] = {
            "address1": address1,
            "address2": address2,
            "city": city,
            "state": state,
            "country": country,
            "zip": zip,
        }
        return user

    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Any:
        """Pay a pending order in another way."""
        order = self._order(order_id, "pending")
        (paid,) = [one for one in order["payment_history"] if one["transaction_type"] == "payment"]
        if paid["payment_method_id"] == payment_method_id:
            raise ValueError("it is paid that way already")
        self._pay(order, paid["amount"], payment_method_id)
        self._refund(order, paid["amount"], paid["payment_method_id"])
        return order

    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Any:
        """Change items of a pending order to others of the same products. It can be done once."""
        order = self._order(order_id, "pending")
        chosen = self._exchanged(order, item_ids, new_item_ids)
        difference = sum(_money(new["price"]) - _money(old["price"]) for old, new in chosen)
        if difference > 0:
            self._pay(order, float(difference), payment_method_id)
        else:
            self._refund(order, float(-difference), payment_method_id)
        for old, new in chosen:
            old |= {name: copy.deepcopy(new[name]) for name in ("item_id", "price", "options")}
        order["status"] = "pending (items modified)"
        return order

    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Any:
        """Take items of a delivered order back, for a refund to the original payment method or a gift card."""
        order = self._order(order_id, "delivered")
        _items(order, item_ids)
        method = self._method(order, payment_method_id)
        original = order["payment_history"][0]["payment_method_id"]
        if payment_method_id != original and method["source"] != "gift_card":
            raise ValueError("a refund goes to the original payment method or to a gift card")
        order |= {
            "status": "return requested",
            "return_items": sorted(item_ids),
            "return_payment_method_id": payment_method_id,
        }
        return order

    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Any:
        """Exchange items of a delivered order for others of the same products. It can be done once."""
        order = self._order(order_id, "delivered")
        chosen = self._exchanged(order, item_ids, new_item_ids)
        difference = sum(_money(new["price"]) - _money(old["price"]) for old, new in chosen)
        _covered(self._method(order, payment_method_id), difference)
        order |= {
            "status": "exchange requested",
            "exchange_items": sorted(item_ids),
            "exchange_new_items": sorted(new_item_ids),
            "exchange_payment_method_id": payment_method_id,
            "exchange_price_difference": float(difference),
        }
        return order

    def _one(self, kind: str, key: str) -> dict[str, Any]:
        found = self.changed.get(kind, {}).get(key) or self._data[kind].get(key)
        if found is None:
            raise LookupError(f"there is no {key!r} among the {kind}")
        return found

    def _own(self, kind: str, key: str) -> dict[str, Any]:
        """A record that may be changed."""
        return self.changed[kind].setdefault(key, copy.deepcopy(self._one(kind, key)))

    def _order(self, order_id: str, status: str) -> dict[str, Any]:
        found = self._one("orders", order_id)["status"]
        if found != status:
            raise ValueError(f"order {order_id} is {found}, not {status}")
        return self._own("orders", order_id)

    def _user_id(self, fits: Any) -> str:
        found = [key for key, user in self._data["users"].items() if fits(user)]
        if not found:
            raise LookupError("there is no such user")
        return found[0]

    def _method(self, order: dict[str, Any], method_id: str) -> dict[str, Any]:
        methods = self._own("users", order["user_id"])["payment_methods"]
        if method_id not in methods:
            raise LookupError(f"the user has no payment method {method_id!r}; there are {sorted(methods)}")
        return methods[method_id]

    def _pay(self, order: dict[str, Any], amount: float, method_id: str) -> None:
        method = self._method(order, method_id)
        _covered(method, _money(amount))
        self._settle(order, "payment", amount, method, -1)

    def _refund(self, order: dict[str, Any], amount: float, method_id: str) -> None:
        self._settle(order, "refund", amount, self._method(order, method_id), 1)

    def _settle(self, order: dict[str, Any], kind: str, amount: float, method: dict[str, Any], sign: int) -> None:
        """Write a payment or refund down; of a gift card the balance follows at once."""
        paid = {"transaction_type": kind, "amount": amount, "payment_method_id": method["id"]}
        order["payment_history"].append(paid)
        if method["source"] == "gift_card":
            method["balance"] = float(_money(method["balance"]) + sign * _money(amount))

    def _exchanged(self, order: dict[str, Any], item_ids: list[str], new_item_ids: list[str]) -> list[tuple[Any, Any]]:
        """Each item with what is to take its place."""
        pairs = []
        for item, new_id in zip(_items(order, item_ids), new_item_ids, strict=True):
            new = self._one("products", item["product_id"])["variants"].get(new_id)
            if new is None or not new["available"]:
                raise ValueError(f"{new_id} is no available item of the same product as {item['item_id']}")
            pairs.append((item, new))
        return pairs


def _items(order: dict[str, Any], item_ids: list[str]) -> list[dict[str, Any]]:
    """The items of an order with these ids, each once."""
    left, found = list(order["items"]), []
    for item_id in item_ids:
        item = next((one for one in left if one["item_id"] == item_id), None)
        if item is None:
            raise LookupError(f"order {order['order_id']} holds no (further) item {item_id}")
        left.remove(item)
        found.append(item)
    return found


def _covered(method: dict[str, Any], amount: Decimal) -> None:
    if method["source"] == "gift_card" and _money(method["balance"]) < amount:
        raise ValueError(f"the gift card holds {method['balance']}, which does not cover {amount}")


def _money(amount: float) -> Decimal:
    return Decimal(str(amount))


_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def _worked_out(node: ast.expr) -> Decimal:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return _money(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_worked_out(node.left), _worked_out(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_worked_out(node.operand)
    raise ValueError("only numbers, + - * / and parentheses can be worked out")
