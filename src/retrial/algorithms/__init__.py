"""Control flow and nothing else: each algorithm is an async function over a run, bounded when it is made."""

from retrial.algorithms.debate import Debate
from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.self_consistency import SelfConsistency
from retrial.algorithms.swarm import Agent, Swarm
from retrial.algorithms.tool_loop import ToolLoop
from retrial.algorithms.tree import TreeOfThoughts

__all__ = ["Agent", "Debate", "Reflexion", "SelfConsistency", "Swarm", "ToolLoop", "TreeOfThoughts"]
