"""A report in JUnit's XML, which code under test may have written: one check a test.

The standard library's parser is enough, and safe as it is used here: the report is bounded in size, read as text that
is UTF-8 (so that nothing hides in another encoding), and refused if it declares anything (a document type, and with it
every entity), so there is nothing to expand and nothing to fetch.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from retrial.core.reports import Check

__all__ = ["MOST_BYTES", "BadReport", "checks_in"]

MOST_BYTES = 4 << 20
"""Bytes of a report; a larger one is not read."""

_MOST_TESTS = 5_000
_PROLOG = re.compile(r"^\s*<\?xml[^>]*\?>")
_ASSERTION = re.compile(r"^E {1,7}(\S.*)$", re.MULTILINE)
_MESSAGE = 400


class BadReport(Exception):
    """The report cannot be used; the text says why."""


def checks_in(report: bytes, clean: Callable[[str, int], str]) -> tuple[Check, ...]:
    """Return a check for every test of a report; skipped ones are ``not_run`` and count for nobody.

    ``clean`` makes a stranger's text fit for a prompt, within a number of characters.

    >>> text = b'<suite><testcase classname="t" name="a"/><testcase name="b"><failure message="no"/></testcase></suite>'
    >>> [(check.name, check.passed, check.message) for check in checks_in(text, lambda text, most: text[:most])]
    [('t.a', True, ''), ('b', False, 'no')]

    Raises:
        BadReport: if it is too large, no XML, or declares a document type.
    """
    if len(report) > MOST_BYTES:
        raise BadReport(f"it is larger than {MOST_BYTES >> 20} MB")
    try:
        text = report.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadReport("it is not UTF-8") from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise BadReport("it declares a document type")
    try:
        root = ET.fromstring(_PROLOG.sub("", text))  # noqa: S314 - bounded, and without declarations as checked above
    except (ET.ParseError, ValueError) as error:
        raise BadReport(f"it is no XML ({error})") from None
    cases = list(root.iter("testcase"))
    if not cases:
        raise BadReport("it holds no test")
    if len(cases) > _MOST_TESTS:
        raise BadReport(f"it holds more than {_MOST_TESTS} tests")
    return tuple(_check(case, clean) for case in cases)


def _check(case: ET.Element, clean: Callable[[str, int], str]) -> Check:
    parts = [case.get("classname") or "", case.get("name") or "a test"]
    name = clean(".".join(part for part in parts if part), 200)
    for kind in ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            return Check(name=name, passed=False, message=clean(_message(found), _MESSAGE) or "it failed")
    skipped = case.find("skipped")
    if skipped is not None:
        where = clean(skipped.text or "", _MESSAGE).strip()
        return Check(name=name, passed=False, message=where or "it was skipped", kind="not_run")
    return Check(name=name, passed=True)


def _message(found: ET.Element) -> str:
    """What went wrong: the message and, where that is no more than a kind of fault, what the text below says of it."""
    message, text = (found.get("message") or "").strip(), (found.text or "").strip()
    if message and found.tag == "failure":
        first = message.partition("\n")[0]
        return first if "assert" in first else message  # The lines below draw what the first one says.
    lines = _ASSERTION.findall(text) or [line for line in text.split("\n") if line.strip()][-1:]
    return "\n".join([f"{message}:" if message else "", *lines[-6:]]).strip()
