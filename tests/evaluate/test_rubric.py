"""Rules that a program checks, one by one."""

from __future__ import annotations

import pytest

from judging import verdict_on
from retrial.core.tasks import Task
from retrial.errors import ConfigError
from retrial.evaluate import evaluator_from
from retrial.evaluate.rubric import Rubric

SOURCE = "In 2025 the course had 1,200 students, 12 % more than before. It costs 40.50 euros and lasts three weeks."
TASK = Task(id="s", prompt="Summarise it.", metadata={"source": SOURCE})

RULES = {
    "min_words": (3, "only two", "now three words"),
    "max_words": (3, "one two three four", "one two three"),
    "min_characters": (8, "banana", "bananas!"),
    "max_characters": (6, "bananas", "banana"),
    "min_sentences": (2, "One. ", "One. Two?"),
    "max_sentences": (1, "One. Two!", "Only 3.5 of one"),
    "required": (["warranty"], "banana", "The WARRANTY lasts."),
    "forbidden": (["cheap"], "It is Cheap.", "It is fine."),
    "patterns": ([r"\d{4}-\d\d-\d\d"], "15 Nov", "2026-11-15"),
    "forbidden_patterns": ([r"(?i)as an ai"], "As an AI, I", "I"),
    "min_citations": (2, "It is so [1], and so [1].", "It is so [1], and so https://example.org."),
    "numbers_in_source": (
        True,
        "It had 1,300 students.",
        "It had 1200 students, 12% more, for 40.5 euros and 3 weeks.",
    ),
    "max_same_action": (2, "Action: look\nAction: look\nAction: look", "Action: look\nAction: go\nAction: look"),
}


@pytest.mark.parametrize("rule", RULES)
async def test_each_rule_fails_what_breaks_it_and_passes_what_keeps_it(rule):
    """One rule, one bad and one good output, and a message for the bad one."""
    value, bad, good = RULES[rule]
    evaluator = Rubric(**{rule: value})
    verdict = await verdict_on(evaluator, bad, TASK)
    assert (verdict.passed, verdict.score, verdict.trust) == (False, 0.0, "rubric")
    assert verdict.reason.startswith("0 of 1 requirements hold\n- ")
    assert (await verdict_on(evaluator, good, TASK)).passed
    assert evaluator_from(evaluator.spec()).spec() == evaluator.spec()


@pytest.mark.parametrize("rule", RULES)
async def test_emptiness_never_passes(rule):
    """Not even where the only rule is an upper bound."""
    for output in ("", " \n"):
        verdict = await verdict_on(Rubric(**{rule: RULES[rule][0]}), output, TASK)
        assert (verdict.passed, verdict.score, verdict.reason) == (False, 0.0, "the text is empty")


async def test_the_score_is_the_share_of_rules_that_hold_and_each_is_a_check():
    """A banana breaks three of four rules, and each is named."""
    verdict = await verdict_on(Rubric(min_words=5, max_words=50, required=["price"], min_citations=1), "banana", TASK)
    assert (verdict.passed, verdict.score) == (False, 0.25)
    assert [check.passed for check in verdict.checks] == [False, True, False, False]
    assert "it has 1 word, at least 5 are asked for" in verdict.reason


async def test_numbers_are_compared_as_numbers():
    """However they are written, in digits or words; list numbers and citations are no claims."""
    evaluator = Rubric(numbers_in_source=True)
    for text in ("1. It had 1200 students [7].\n2. It lasts 3 weeks.", "Twelve-hundred, one by one", "$40.50, in 2025"):
        assert (await verdict_on(evaluator, text, TASK)).passed
    verdict = await verdict_on(evaluator, "In 2026 it had 1,200.5 students in four weeks.", TASK)
    assert verdict.reason.endswith("these numbers are not in the source: 2026, 1,200.5, four")


def test_what_cannot_be_is_refused():
    """No rule, a bound below one, a broken pattern, a text where a list belongs."""
    for options in (
        {},
        {"source": "x"},
        {"max_words": 0},
        {"max_words": "50"},
        {"min_words": True},
        {"patterns": ["("]},
        {"required": "price"},
        {"max_wrods": 5},
    ):
        with pytest.raises(ConfigError):
            evaluator_from({"kind": "rubric", **options})


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "text", ["\n" * 50_000 + "x", "Action" + " " * 50_000 + "x", "1," * 50_000, "." * 50_000, "9" * 50_000]
)
async def test_long_and_odd_texts_are_judged_too(rule, text):
    """No rule takes the square of a text's length."""
    assert (await verdict_on(Rubric(**{rule: RULES[rule][0]}), text, TASK)).trust == "rubric"
