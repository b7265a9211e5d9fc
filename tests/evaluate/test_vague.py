"""Which rubric items two people would not agree about."""

from __future__ import annotations

import pytest

from retrial.evaluate.vague import rubric_items, vague

VAGUE = [
    "The tone is nice",
    "High quality writing",
    "Is clear and concise",
    "appropriate for the audience",
    "Good grammar",
    "Well-written and engaging",
    "includes a clear and appropriate explanation",
    "The answer should be correct",
    "reads very natural",
    "sounds professional",
    "!",
]
CONCRETE = [
    "At most 50 words",
    "No more than three sentences",
    "Names the price",
    'Says "free returns"',
    "says 'battery' once",
    "Mentions the good battery life",
    "Does not mention competitors",
    "The date is in the correct ISO 8601 format",
    "Every claim cites a source",
    "Uses a proper noun of Goethe",
    "Good enough for Wikipedia's Featured Article list",
    "Begins with the conclusion",
    "No exclamation marks",
    "It is written in French",
]


@pytest.mark.parametrize("item", VAGUE)
def test_matters_of_taste_are_vague(item):
    """The reason is there."""
    assert vague(item)


@pytest.mark.parametrize("item", CONCRETE)
def test_what_can_be_counted_quoted_or_found_is_not(item):
    """A number, a quotation, a name, or what has to be said."""
    assert vague(item) == ""


def test_the_reason_quotes_the_words():
    """So that one sees what to replace."""
    assert vague("It is good, clear and good").startswith("'good' and 'clear' are matters of taste")


def test_rubrics_are_found_at_any_depth():
    """As lists and as texts with bullets, in a panel and in an all_of; other evaluators have none."""
    judges = [{"kind": "judge", "rubric": ["short", "names the price"]}, {"kind": "judge", "rubric": "- nice\n2. good"}]
    spec = {"kind": "all_of", "parts": [{"kind": "exact"}, {"kind": "panel", "judges": judges}]}
    assert list(rubric_items(spec)) == ["short", "names the price", "nice", "good"]
