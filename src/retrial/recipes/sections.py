"""Sections that a recipe puts before the lessons of a printed prompt."""

from __future__ import annotations

from retrial.prompts import Prompt

__all__ = ["before_lessons", "checks_by"]


def before_lessons(prompt: Prompt, sections: str, *, name: str = "") -> Prompt:
    """Return a prompt with more sections before its lessons, under its own name unless another is given."""
    start, lessons, rest = prompt.text.partition("{{#if lessons}}")
    return Prompt(name or prompt.name, f"{start}{sections}{lessons}{rest}")


def checks_by(whose: str) -> str:
    """Return the section that holds what was said about the last attempt; ``whose`` words introduce it."""
    return f"""\
{{{{#if checks}}}}
You have attempted this before. {whose} about your last attempt:
<checks>{{{{checks}}}}</checks>
{{{{/if}}}}

"""
