"""Algorithms from specs: what a task file, a recipe or the command line says."""

from __future__ import annotations

import pytest

from retrial.algorithms import BestOf, Debate, TreeOfThoughts
from retrial.algorithms.registry import ALGORITHMS, actor_from, algorithm_from
from retrial.errors import ConfigError
from retrial.evaluate import Critic
from retrial.recipes.registry import recorded


def test_a_spec_makes_the_algorithm():
    """The kind chooses the class, the rest are its parameters."""
    assert algorithm_from({"kind": "debate", "agents": 5, "judge": False}) == Debate(agents=5, judge=False)
    assert algorithm_from({"kind": "tree", "stop_score": None}) == TreeOfThoughts(stop_score=None)


@pytest.mark.parametrize("kind", ALGORITHMS)
def test_a_kind_is_the_name_under_which_runs_are_recorded(kind):
    """What a journal calls an algorithm is what a user types."""
    assert ALGORITHMS[kind].name == kind


def test_an_algorithm_that_judges_its_attempts_takes_the_tasks_evaluator():
    """Unless its spec names another one."""
    made = actor_from({"kind": "best_of", "n": 2}, {"kind": "critic"})
    assert isinstance(made, BestOf)
    assert isinstance(made.evaluator, Critic)
    named = actor_from({"kind": "generator_critic", "validator": "unit"}, {"kind": "critic"})
    assert named.critic.spec()["kind"] == "validator"
    assert actor_from({"kind": "debate"}, {"kind": "critic"}) == Debate()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "debat"}, "did you mean 'debate'"),
        ({"kind": "zzz"}, "it can be one of best_of, debate"),
        ({"kind": "best_of"}, r"needs n and evaluator"),
        ({"kind": "debate", "agent": 3}, "takes no 'agent'; did you mean 'agents'"),
        ({"kind": "debate", "agents": "many"}, "agents='many' is not possible; it can be a whole number"),
        ({"kind": "debate", "agents": 9}, "agents=9 is not possible; it can be 2 to 7"),
        ({"kind": "debate", "judge": 1}, "judge=1 is not possible; it can be true or false"),
        ({"kind": "tree", "stop_score": "high"}, "it can be a number or none"),
        ({"kind": "best_of", "n": 3}, "best_of.*evaluator"),
    ],
)
def test_a_wrong_spec_is_answered_with_what_is_right(spec, words):
    """The message names the key, the value and the next step."""
    with pytest.raises(ConfigError, match=words):
        algorithm_from(spec)


USES = [
    ("unit_tests", {}),
    ("project", {"evaluator": {"kind": "command", "command": ["true"], "project": "p", "target": "x.py"}}),
    ("checked", {"evaluator": {"kind": "numeric"}}),
    ("judge", {"rubric": ["short"], "trust": "other_model"}),
    ("insight_bank", {}),
    ("insight_bank", {"evaluator": {"kind": "numeric"}}),
]


@pytest.mark.parametrize(("recipe", "options"), USES)
def test_every_recipe_hands_its_evaluator_to_an_actor_that_judges(recipe, options):
    """Best of n as the actor picks by what judges the task."""
    made, _ = recorded(recipe, {**options, "actor": {"kind": "best_of", "n": 2}})
    assert isinstance(made.actor, BestOf)
    assert made.actor.evaluator.spec() == made.judge.spec()
