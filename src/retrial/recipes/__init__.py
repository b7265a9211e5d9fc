"""The variants of the seeds, each as one short function that configures the one loop."""

from retrial.recipes.gate import gate
from retrial.recipes.harness import HARNESS_ACTOR, HARNESS_REFLECTOR, harness
from retrial.recipes.insight_bank import INSIGHT_BANK_ACTOR, INSIGHT_BANK_REVIEWED_ACTOR, extraction, insight_bank
from retrial.recipes.judge import JUDGE_ACTOR, JUDGE_ACTOR_WITH_CHECKS, JUDGE_REFLECTOR, checked, judge
from retrial.recipes.project import PROJECT_ACTOR, project
from retrial.recipes.registry import RECIPES, rebuild, recorded
from retrial.recipes.unit_tests import UNIT_TESTS_ACTOR, UNIT_TESTS_ACTOR_WITH_CHECKS, UNIT_TESTS_REFLECTOR, unit_tests

__all__ = [
    "HARNESS_ACTOR",
    "HARNESS_REFLECTOR",
    "INSIGHT_BANK_ACTOR",
    "INSIGHT_BANK_REVIEWED_ACTOR",
    "JUDGE_ACTOR",
    "JUDGE_ACTOR_WITH_CHECKS",
    "JUDGE_REFLECTOR",
    "PROJECT_ACTOR",
    "RECIPES",
    "UNIT_TESTS_ACTOR",
    "UNIT_TESTS_ACTOR_WITH_CHECKS",
    "UNIT_TESTS_REFLECTOR",
    "checked",
    "extraction",
    "gate",
    "harness",
    "insight_bank",
    "judge",
    "project",
    "rebuild",
    "recorded",
    "unit_tests",
]
