"""Evaluators: each asks the world for what it needs and turns the answer into a verdict."""

from retrial.evaluate.critic import Critic
from retrial.evaluate.evaluator import Evaluator
from retrial.evaluate.judge import Judge
from retrial.evaluate.person import Person, PersonHandler
from retrial.evaluate.pydantic_model import PydanticHandler
from retrial.evaluate.registry import evaluator_from, register
from retrial.evaluate.sql_handler import SqlHandler
from retrial.evaluate.unit_tests import UnitTests
from retrial.evaluate.validator import ValidationHandler, Validator

__all__ = [
    "Critic",
    "Evaluator",
    "Judge",
    "Person",
    "PersonHandler",
    "PydanticHandler",
    "SqlHandler",
    "UnitTests",
    "ValidationHandler",
    "Validator",
    "evaluator_from",
    "register",
]
