"""Control flow and nothing else: each algorithm is an async function over a run, bounded when it is made."""

from retrial.algorithms.best_of import BestOf
from retrial.algorithms.debate import Debate
from retrial.algorithms.generate_test_repair import GenerateTestRepair
from retrial.algorithms.generator_critic import GeneratorCritic
from retrial.algorithms.own_tests import TestAccuracy
from retrial.algorithms.reflexion import Reflexion
from retrial.algorithms.self_consistency import SelfConsistency
from retrial.algorithms.swarm import Agent, Swarm
from retrial.algorithms.tool_loop import ToolLoop
from retrial.algorithms.tree import TreeOfThoughts
from retrial.algorithms.ucs import UniformCostSearch
from retrial.algorithms.written_tests import WrittenTests

__all__ = [
    "Agent",
    "BestOf",
    "Debate",
    "GenerateTestRepair",
    "GeneratorCritic",
    "Reflexion",
    "SelfConsistency",
    "Swarm",
    "TestAccuracy",
    "ToolLoop",
    "TreeOfThoughts",
    "UniformCostSearch",
    "WrittenTests",
]
