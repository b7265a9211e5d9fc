"""The Rust code in a model's reply: fences, prose around code, and bodies that continue a prompt. Runs nothing."""

from __future__ import annotations

import re

from retrial.testbench.extract import fenced

__all__ = ["extract_rust"]

_LANGUAGES = ("", "rust", "rs")
_STARTS = re.compile(
    r"^(?:pub\b|extern\b|async\b|unsafe\b|use\s|fn\s|struct\s|enum\s|impl\b|trait\s|type\s|const\s|static\s|mod\s|macro_rules!|#!?\[|///?)"
)


def extract_rust(reply: str, entry_point: str | None = None, prompt: str | None = None) -> str:
    r"""The code that ``reply`` holds, whole: after what a ``prompt`` begins, where the reply continues one.

    >>> extract_rust("Sure:\n```rust\nfn f() -> i32 { 1 }\n```\nDone.", "f")
    'fn f() -> i32 { 1 }\n'
    >>> extract_rust("    x + 1\n}", "f", "fn f(x: i32) -> i32 {\n")
    'fn f(x: i32) -> i32 {\n    x + 1\n}\n'
    """
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    blocks = [content for language, content in fenced(text) if language in _LANGUAGES]
    blocks = blocks or [content for _, content in fenced(text)]
    if blocks:
        defining = [content for content in blocks if _defines(content, entry_point)]
        code = (defining or [max(blocks, key=len)])[-1]
    else:
        code = text if prompt is not None and not _defines(text, entry_point) else _without_prose(text)
    if prompt is not None and code.strip():
        code = _after_prompt(code, entry_point, prompt)
    return code.rstrip() + "\n" if code.strip() else ""


def _defines(code: str, entry_point: str | None) -> bool:
    return entry_point is not None and re.search(rf"\bfn\s+{re.escape(entry_point)}\b", code) is not None


def _without_prose(text: str) -> str:
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if _STARTS.match(line)), 0)
    if not any(line.strip() for line in lines[:start]):
        return text
    ends = [number for number, line in enumerate(lines) if line.startswith(("}", ")", "]"))]
    return "\n".join(lines[start : ends[-1] + 1 if ends else len(lines)])


def _after_prompt(code: str, entry_point: str | None, prompt: str) -> str:
    """A body after its prompt; whole code after what the prompt imports."""
    if not _defines(code, entry_point):
        return prompt + ("" if prompt.endswith("\n") else "\n") + code
    known = {line.strip() for line in code.split("\n")}
    missing = [line for line in prompt.split("\n") if re.match(r"use\s", line) and line.strip() not in known]
    return "\n".join([*missing, code])
