"""Hard requirements of a text that a program can check: length, wording, citations, numbers, repetition.

Each rule is a check of its own with a message, and the score is the share of rules that hold. An empty text always
fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from retrial.core.reports import Check
from retrial.core.tasks import Task, Verdict
from retrial.engine.run import Run
from retrial.errors import ConfigError
from retrial.evaluate.answers import numbers_in, short
from retrial.evaluate.faithfulness import source_of

__all__ = ["Rubric"]

_UNITS: Mapping[str, Any] = {
    "words": (re.compile(r"\S+"), "word"),
    "characters": (re.compile(r".", re.DOTALL), "character"),
    "sentences": (re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.DOTALL), "sentence"),
}
CITATION = r"\[\d+\]|https?://\S+"
"""What counts as a citation unless a pattern is given."""
_ACTION = re.compile(r"^[ \t]*Action(?:[ \t]*\d+)?[ \t]*:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SPELT = re.compile(rf"\b({'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^[ \t]*\d+[.)]\s|\[\d+\]", re.MULTILINE)


class Rubric:
    """Judges a text by rules; at least one is needed.

    Args:
        min_words: the fewest words; ``max_words``, ``min_characters``, ``max_characters``, ``min_sentences`` and
            ``max_sentences`` likewise.
        required: texts that have to stand in it, without regard to case.
        forbidden: texts that may not.
        patterns: regular expressions that have to match somewhere. Nothing limits the time that one takes, so none may
            repeat what repeats already, as in ``(a+)+``: a long reply makes it try for hours.
        forbidden_patterns: those that may not.
        min_citations: the fewest citations.
        citation: what counts as one, a regular expression: ``[1]`` or a URL unless it is given.
        numbers_in_source: whether every number has to stand in the source; 1,200 is 1200, 12 % is 12 percent and
            "three" is 3. Numbers of list items and citations do not count.
        source: the source; None for ``metadata["source"]`` of the task, else its prompt.
        max_same_action: how often one ``Action: ...`` line of a transcript may stand in it.
    """

    max_calls = 0

    def __init__(
        self,
        *,
        min_words: int | None = None,
        max_words: int | None = None,
        min_characters: int | None = None,
        max_characters: int | None = None,
        min_sentences: int | None = None,
        max_sentences: int | None = None,
        required: Sequence[str] = (),
        forbidden: Sequence[str] = (),
        patterns: Sequence[str] = (),
        forbidden_patterns: Sequence[str] = (),
        min_citations: int | None = None,
        citation: str = CITATION,
        numbers_in_source: bool = False,
        source: str | None = None,
        max_same_action: int | None = None,
    ) -> None:
        self._given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        for name, value in self._given.items():
            if name.startswith(("min_", "max_")) and value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"rubric: {name}={value!r} is not possible; it is a whole number, at least 1")
            if isinstance(value, str) and name in ("required", "forbidden", "patterns", "forbidden_patterns"):
                raise ConfigError(f"rubric: {name}={value!r} must be a list of texts")
        for pattern in (*patterns, *forbidden_patterns, citation):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigError(f"rubric: {pattern!r} is no regular expression: {error}") from error
        if not self._rules():
            raise ConfigError("rubric: there are no rules, so nothing could fail; give one, such as max_words=50")

    def _rules(self) -> dict[str, Any]:
        """The rules that were given."""
        about = ("citation", "source")
        rules = {name: value for name, value in self._given.items() if value and name not in about}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in rules.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def spec(self) -> Mapping[str, Any]:
        """Return what makes an equal evaluator."""
        return {"kind": "rubric", **self._rules(), "citation": self._given["citation"], "source": self._given["source"]}

    async def __call__(self, run: Run, task: Task, output: str) -> Verdict:
        """Judge ``output`` rule by rule."""
        checks = tuple(self._checks(task, output))
        failed = [check.message for check in checks if not check.passed]
        held = len(checks) - len(failed)
        reason = f"{held} of {len(checks)} requirements hold\n" + "\n".join(f"- {message}" for message in failed)
        empty = not output.strip()
        return Verdict(
            passed=not failed and not empty,
            score=0.0 if empty else held / len(checks),
            reason="the text is empty" if empty else reason if failed else "",
            checks=checks,
            trust="rubric",
        )

    def _checks(self, task: Task, output: str) -> Iterator[Check]:
        """One check a rule."""
        given = self._given
        yield from self._lengths(output.strip())
        yield from self._wording(output)
        if given["min_citations"]:
            count = len({match[0] for match in re.finditer(given["citation"], output)})
            message = f"it has {_many(count, 'citation')}, at least {given['min_citations']} are asked for"
            yield _check("citations", count >= given["min_citations"], message)
        if given["numbers_in_source"]:
            foreign = _foreign_numbers(output, source_of(task, given["source"]))
            yield _check("numbers", not foreign, f"these numbers are not in the source: {', '.join(foreign)}")
        if given["max_same_action"]:
            actions = Counter(action.strip() for action in _ACTION.findall(output))
            action, count = actions.most_common(1)[0] if actions else ("", 0)
            message = f"the action {short(action)} was repeated {count} times; try another one"
            yield _check("repeated action", count <= given["max_same_action"], message)

    def _lengths(self, text: str) -> Iterator[Check]:
        """The checks of words, characters and sentences."""
        for unit, (pattern, word) in _UNITS.items():
            least, most = self._given[f"min_{unit}"], self._given[f"max_{unit}"]
            count = len(pattern.findall(text))
            has = f"it has {_many(count, word)}"
            if least is not None:
                yield _check(f"min_{unit}", count >= least, f"{has}, at least {least} are asked for")
            if most is not None:
                yield _check(f"max_{unit}", count <= most, f"{has}, at most {most} are asked for")

    def _wording(self, output: str) -> Iterator[Check]:
        """The checks of texts and patterns."""
        given, folded = self._given, output.casefold()
        for text in given["required"]:
            yield _check(f"required {text!r}", text.casefold() in folded, f"it does not say {text!r}")
        for text in given["forbidden"]:
            yield _check(f"forbidden {text!r}", text.casefold() not in folded, f"it says {text!r}, which it must not")
        for pattern in given["patterns"]:
            yield _check(f"pattern {pattern!r}", bool(re.search(pattern, output)), f"nothing in it matches {pattern!r}")
        for pattern in given["forbidden_patterns"]:
            match = re.search(pattern, output)
            found = short(match[0]) if match else ""
            yield _check(f"forbidden {pattern!r}", match is None, f"{found} matches {pattern!r}, which nothing may")


def _check(name: str, holds: bool, message: str) -> Check:
    return Check(name=name, passed=holds, message="" if holds else message, kind="rubric")


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _values(text: str) -> dict[Fraction, str]:
    """The numbers of a text, digits and words, with how each is written."""
    found = {abs(number.value): number.text for number in numbers_in(_NUMBERED.sub(" ", text))}
    for match in _SPELT.finditer(text):
        found.setdefault(Fraction(_NUMBER_WORDS.index(match[0].lower()) + 1), match[0])
    return found


def _foreign_numbers(text: str, source: str) -> list[str]:
    """The numbers of a text that its source does not hold. "One" is as often a pronoun as a number."""
    known = _values(source)
    return [how for value, how in _values(text).items() if value not in known and how.lower() != "one"]
