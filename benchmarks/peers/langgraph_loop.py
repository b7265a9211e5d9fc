"""The loop as a LangGraph graph, shared by its two scripts."""

from __future__ import annotations

from typing import Any, TypedDict

import measure
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    """What a graph carries from node to node."""

    lessons: list[str]
    output: str
    passed: bool
    reason: str
    trials: int


async def act(state: State) -> dict[str, Any]:
    prompt = "\n".join([measure.TASK, *state["lessons"]])
    output = await measure.answer(prompt, reflecting=False)
    passed, reason = measure.passes(output)
    return {"output": output, "passed": passed, "reason": reason, "trials": state["trials"] + 1}


async def reflect(state: State) -> dict[str, Any]:
    critique = f"{measure.TASK}\n{state['output']}\n{state['reason']}"
    return {"lessons": [*state["lessons"], await measure.answer(critique, reflecting=True)]}


def after(state: State) -> str:
    return END if state["passed"] or state["trials"] == 3 else "reflect"


async def solve_all(crowd: measure.Crowd, saver: Any) -> None:
    graph = StateGraph(State)
    graph.add_node("act", act)
    graph.add_node("reflect", reflect)
    graph.add_edge(START, "act")
    graph.add_conditional_edges("act", after, ["reflect", END])
    graph.add_edge("reflect", "act")
    app = graph.compile(checkpointer=saver)

    async def one(number: int) -> bool:
        empty: State = {"lessons": [], "output": "", "passed": False, "reason": "", "trials": 0}
        end = await app.ainvoke(empty, {"configurable": {"thread_id": str(number)}})
        return end["passed"]

    await crowd.solve(one)
