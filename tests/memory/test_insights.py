"""The insight bank as a fold of operations, and the faults of the published code that it must not have."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from retrial.memory.insights import CONTENT, Bank, Operation, apply, best, fold, resolved
from retrial.memory.operations import read_operations

TEXTS = st.sampled_from(["check dates", "Check dates!", "use a set", "sort first", "read twice", "name units", "round"])
OPERATIONS = st.builds(
    Operation,
    kind=st.sampled_from(sorted(CONTENT | {"DELETE"})),
    target=st.integers(0, 9),
    text=TEXTS,
    trajectory_ids=st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    cap=st.just(4),
).map(lambda one: replace(one, target=0) if one.kind == "ADD" else one)
JOURNALS = st.lists(OPERATIONS, max_size=30)


def recorded(operations):
    """The journal that a store makes of operations: numbered, with the ids that were given."""
    bank, journal = Bank(), []
    for one in operations:
        entry = resolved(bank, replace(one, number=bank.count + 1), {})
        bank = apply(bank, entry)
        journal.append(entry)
    return bank, journal


def listed(*texts):
    return fold([Operation(kind="ADD", text=text) for text in texts])


def test_rules_that_do_not_end_in_a_full_stop_are_kept():
    """Fault 1: the words of an insight need no punctuation."""
    (one,) = read_operations("ADD: check 29 February", 0).proposals
    assert one.text == "check 29 February"


def test_rules_that_hold_the_names_of_operations_are_kept():
    """Fault 2: EDIT, ADD and AGREE inside a text are words like any other."""
    text = "Before you EDIT a list, ADD nothing and AGREE on an order; UPVOTE nobody."
    reading = read_operations(f"ADD: {text}\nEDIT 1: {text}", 1)
    assert [one.text for one in reading.proposals] == [text, text]


def test_a_prefix_with_a_colon_is_kept():
    """Fault 3: ``Date handling:`` belongs to the insight."""
    (one,) = read_operations("ADD: Date handling: check leap years.", 0).proposals
    assert one.text == "Date handling: check leap years."


def test_edit_0_edits_nothing():
    """Fault 4: there is no insight 0, so the line is skipped with its words and the last insight stays."""
    reading = read_operations("EDIT 0: overwritten\nEDIT -1: overwritten\nEDIT 3: overwritten", 2)
    assert reading.proposals == ()
    assert [one.line for one in reading.unread] == [
        "EDIT 0: overwritten",
        "EDIT -1: overwritten",
        "EDIT 3: overwritten",
    ]
    bank = listed("a", "b")
    assert apply(bank, Operation(kind="EDIT", target=0, text="overwritten")).insights == bank.insights


def test_an_edit_without_a_number_is_not_lost():
    """Fault 5: it is skipped and logged with its words and a reason."""
    (one,) = read_operations("EDIT: sort before you compare", 3).unread
    assert one.line == "EDIT: sort before you compare"
    assert "no number" in one.reason


def test_a_vote_counts_for_the_insight_it_names():
    """Fault 6: an insight whose words stand inside another's does not get the other's votes."""
    bank = apply(listed("sort", "sort the list"), Operation(kind="UPVOTE", target=2))
    assert [one.score for one in bank.insights] == [2, 3]


def test_the_cap_is_kept():
    """Fault 7: forty new insights at a cap of thirty leave thirty, the newest among them."""
    bank = listed(*(f"insight {number}" for number in range(40)))
    assert [one.id for one in bank.insights] == list(range(11, 41))


def test_the_lowest_goes_first_and_among_equals_the_one_not_supported_for_longest():
    """A downvoted insight goes before older ones, then the one whose support is oldest; the newcomer enters."""
    journal = [Operation(kind="ADD", text=text, cap=3) for text in ("a", "b", "c")]
    journal += [Operation(kind="UPVOTE", target=1), Operation(kind="DOWNVOTE", target=1)]
    journal += [Operation(kind="ADD", text="d", cap=3)]
    assert [one.text for one in fold(journal).insights] == ["a", "c", "d"]
    journal += [Operation(kind="DOWNVOTE", target=4), Operation(kind="ADD", text="e", cap=3)]
    assert [one.text for one in fold(journal).insights] == ["a", "c", "e"]


def test_scores_are_those_of_the_paper():
    """A new insight counts 2, EDIT and UPVOTE add 1, DOWNVOTE takes 1, and at 0 it is gone."""
    bank = listed("a")
    assert bank[1].score == 2
    bank = apply(bank, Operation(kind="EDIT", target=1, text="b"))
    assert (bank[1].text, bank[1].score) == ("b", 3)
    assert apply(bank, Operation(kind="UPVOTE", target=1))[1].score == 4
    for _ in range(3):
        bank = apply(bank, Operation(kind="DOWNVOTE", target=1))
    assert bank.insights == ()


def test_what_was_told_to_an_actor_does_not_come_back_as_new():
    """An insight that was recalled is supported by its echo, and one that was removed since stays removed."""
    told = {"check dates": 1}
    echo = Operation(kind="ADD", text="Check dates.")
    assert resolved(listed("check dates"), echo, told).kind == "UPVOTE"
    gone = apply(listed("check dates"), Operation(kind="DELETE", target=1))
    refused = resolved(gone, echo, told)
    assert (refused.kind, refused.text) == ("SKIP", "ADD: Check dates.")


def test_a_taint_restores_what_there_was_before_it():
    """Words and score go back to what sound trajectories made; what a tainted one alone made is gone."""
    journal = [
        Operation(kind="ADD", text="sound", trajectory_ids=("a",)),
        Operation(kind="EDIT", target=1, text="spoilt", trajectory_ids=("bad",)),
        Operation(kind="UPVOTE", target=1, trajectory_ids=("b",)),
        Operation(kind="ADD", text="spoilt too", trajectory_ids=("bad", "a")),
        Operation(kind="TAINT", text="bad"),
    ]
    (kept,) = fold(journal).insights
    assert (kept.text, kept.score, kept.trajectory_ids) == ("sound", 3, ("a", "b"))
    assert len(fold([*journal, Operation(kind="UNDO", target=5)]).insights) == 2


def test_a_tainted_insight_that_others_found_by_themselves_stays_with_their_support():
    """Two sources found the same words; without the first, the second one's insight stands, under an id of its own."""
    journal = [Operation(kind="ADD", text="sort", trajectory_ids=(name,)) for name in ("bad", "good")]
    _, entries = recorded(journal)
    (kept,) = fold([*entries, Operation(kind="TAINT", text="bad", number=3)]).insights
    assert (kept.text, kept.score, kept.trajectory_ids) == ("sort", 2, ("good",))


@given(JOURNALS)
def test_the_cap_is_never_exceeded_and_every_score_is_above_0(operations):
    """Whatever is done, there are at most ``cap`` insights, all with a score, and no two say the same."""
    bank = Bank()
    for one in operations:
        bank = apply(bank, one)
        assert len(bank.insights) <= 4
        assert all(insight.score > 0 for insight in bank.insights)
        assert len({best_text.text.strip("!").lower() for best_text in bank.insights}) == len(bank.insights)


@given(JOURNALS)
def test_ids_are_never_used_again(operations):
    """An id that is gone does not come back with other words."""
    bank, gone = Bank(), set()
    for one in operations:
        before = {insight.id for insight in bank.insights}
        bank = apply(bank, one)
        after = {insight.id for insight in bank.insights}
        assert not after & gone
        gone |= before - after
        assert all(name < bank.next_id for name in after)


@given(JOURNALS)
def test_the_journal_makes_the_same_bank_again(operations):
    """Folding what was recorded gives the bank that was there."""
    bank, journal = recorded(operations)
    assert fold(journal) == bank


@given(JOURNALS, st.data())
def test_undo_restores_the_bank(operations, data):
    """Undoing the newest operation gives the bank before it; undoing the undo gives the bank after it."""
    bank, journal = recorded(operations)
    extra = data.draw(OPERATIONS)
    entry = resolved(bank, replace(extra, number=bank.count + 1), {})
    undone = [*journal, entry, Operation(kind="UNDO", target=entry.number, number=entry.number + 1)]
    assert fold(undone).insights == bank.insights
    again = [*undone, Operation(kind="UNDO", target=entry.number + 1, number=entry.number + 2)]
    assert fold(again).insights == apply(bank, entry).insights


@given(JOURNALS, st.integers(0, 9), TEXTS)
def test_an_edit_of_what_is_not_there_loses_no_text(operations, target, text):
    """It changes nothing, and its words stay in the journal."""
    bank, _ = recorded(operations)
    entry = resolved(bank, Operation(kind="EDIT", target=target, text=text, number=bank.count + 1), {})
    if target not in bank:
        assert entry.kind == "SKIP"
        assert text in entry.text
        assert apply(bank, entry).insights == bank.insights


@given(st.text(max_size=200), st.integers(0, 5))
def test_any_reply_can_be_read(reply, count):
    """No text breaks the reader, and every number that it returns is one that was listed."""
    reading = read_operations(reply, count)
    assert all(1 <= one.number <= count for one in reading.proposals if one.kind != "ADD")
    assert all(one.text for one in reading.proposals if one.kind in ("ADD", "EDIT"))


def test_the_best_are_those_with_the_highest_score_and_then_the_newest_support():
    """Among equals the one supported last comes first."""
    bank = apply(listed("a", "b", "c"), Operation(kind="UPVOTE", target=2))
    assert [one.text for one in best(bank, 2)] == ["b", "c"]


def test_a_journal_read_once_makes_the_same_bank():
    """What reaches back is looked up beforehand, so that an undo needs no journal in memory."""
    journal = [Operation(kind="ADD", text=f"insight {number}", number=number) for number in range(1, 5)]
    journal += [
        Operation(kind="UPVOTE", target=2, trajectory_ids=("bad",), number=5),
        Operation(kind="UNDO", target=1, number=6),
        Operation(kind="TAINT", text="bad", number=7),
    ]
    assert fold(iter(journal), journal[-2:]) == fold(journal)
    assert [(one.id, one.score) for one in fold(journal).insights] == [(2, 2), (3, 2), (4, 2)]
