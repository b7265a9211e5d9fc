"""The code in a model's reply.

Knows fences, prose and completions; compiles text to see whether it is code and never runs it. What cannot be code is
given back as it is, so that the error that follows is about what the model wrote.
"""

from __future__ import annotations

import ast
import re
import textwrap

from retrial.core.syntax import UNREADABLE, compiles, tree_of

__all__ = ["extract_code", "fenced"]

_OPENING = re.compile(r"^([ \t]*)(`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^`\n]*+$")
_PYTHON = ("", "py", "python", "python3", "py3", "ipython", "pycon")
_STARTS = re.compile(
    r"^(?:async\s+def|def|class|import|from|@|if|for|while|with|try|return)\b|^@|^\w+\s*(?::[^=]+)?=[^=]"
)
_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)


def extract_code(reply: str, entry_point: str | None = None, prompt: str | None = None) -> str:
    r"""The code that ``reply`` holds, whole: with what a ``prompt`` defines before it, where the reply continues one.

    >>> extract_code("Sure:\n```python\ndef f(): return 1\n```\nDone.", "f")
    'def f(): return 1\n'
    >>> extract_code("    return x + 1", "f", "def f(x):\n    '''Add one.'''\n")
    "def f(x):\n    '''Add one.'''\n    return x + 1\n"
    """
    text = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not _compiles(text):
        text = text.replace("\u00a0", " ").replace("\u200b", "").replace("\ufeff", "")
    # A reply that is code as it stands may hold a fence in a docstring; a fence around code is no code.
    blocks = [] if _compiles(text) else fenced(text)
    code = _chosen(blocks, entry_point, prompt) if blocks else _unfenced(text, entry_point, prompt)
    if prompt is None:
        return _ended(code)
    if entry_point is None or _defines(code, entry_point):
        return _ended(_after_prompt(code, entry_point, prompt))
    return _ended(_continued(code, prompt))


def _ended(code: str) -> str:
    return code.rstrip() + "\n" if code.strip() else ""


def _compiles(code: str) -> bool:
    return compiles(code) is True


def fenced(text: str) -> list[tuple[str, str]]:
    """The fenced blocks as language and content; a block that is never closed reaches to the end."""
    blocks: list[tuple[str, str]] = []
    opening: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        if opening is None:
            opening, lines = _OPENING.match(line), []
        elif line.startswith(opening[1] + opening[2]) and not line.strip(" \t" + opening[2][0]):
            blocks.append((opening[3].lower(), _dedented(lines, opening[1])))
            opening = None
        else:
            lines.append(line)
    if opening is not None:
        blocks.append((opening[3].lower(), _dedented(lines, opening[1])))
    return blocks


def _dedented(lines: list[str], indent: str) -> str:
    return "\n".join(line.removeprefix(indent) for line in lines)


def _names(code: str) -> set[str]:
    """What code defines at its top level; by its look where it does not parse."""
    try:
        tree = tree_of(code)
    except UNREADABLE:
        found = re.findall(r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*=[^=]", code, re.MULTILINE)
        return {name for pair in found for name in pair if name}
    names: set[str] = set()
    for node in _top_level(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


def _top_level(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that run on import, those under ``if`` and ``try`` among them."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            found += _top_level([*node.body, *getattr(node, "orelse", [])])
            found += [part for handler in getattr(node, "handlers", []) for part in _top_level(handler.body)]
    return found


def _defines(code: str, name: str) -> bool:
    return name in _names(code)


def _chosen(blocks: list[tuple[str, str]], entry_point: str | None, prompt: str | None) -> str:
    """The block that defines the entry point (the last that does), after the earlier ones that it needs."""
    python = [content for language, content in blocks if language in _PYTHON]
    known = python or [content for _, content in blocks]
    defining = [place for place, content in enumerate(known) if entry_point and _defines(content, entry_point)]
    if not defining and entry_point:
        others = [content for language, content in blocks if language not in _PYTHON and _defines(content, entry_point)]
        if others:
            return others[-1]
    if not defining:
        if prompt is not None:
            return known[0]
        whole = [content for content in known if _compiles(content)]
        return max(
            whole or known,
            key=lambda content: (bool(re.search(r"^(?:async )?(?:def|class) ", content, re.MULTILINE)), len(content)),
        )
    parsing = [place for place in defining if _compiles(known[place])]
    last = (parsing or defining)[-1]
    return _with_needs(known[:last], known[last])


def _with_needs(earlier: list[str], code: str) -> str:
    """``code`` after those earlier blocks that define names which it reads and does not define."""
    for content in reversed(earlier):
        try:
            read = {node.id for node in ast.walk(tree_of(code)) if isinstance(node, ast.Name)}
        except UNREADABLE:
            return code
        missing = read - _names(code)
        if missing & _names(content) and _compiles(content):
            code = content.rstrip("\n") + "\n\n" + code
    return code


def _unfenced(text: str, entry_point: str | None, prompt: str | None) -> str:
    """Code without a fence, the prose around it taken away."""
    if _compiles(text) or (prompt is not None and not (entry_point and _defines(text, entry_point))):
        return text
    lines = text.split("\n")
    starts = [place for place, line in enumerate(lines) if _STARTS.match(line)]
    for start in starts:
        for end in range(len(lines), start, -1):
            part = "\n".join(lines[start:end])
            if (end == len(lines) or not lines[end].startswith((" ", "\t"))) and _compiles(part):
                if entry_point is None or _defines(part, entry_point):
                    return part
                break
    certain = [
        place for place in starts if re.match(r"(?:async\s+def|def|class|import|from\s+\S+\s+import|@)", lines[place])
    ]
    if certain or entry_point is None:
        return "\n".join(lines[certain[0] if certain else 0 :])
    return text if re.search(r"[=(\[{:]", text) else ""


def _after_prompt(code: str, entry_point: str | None, prompt: str) -> str:
    """Whole code after the imports and functions that its prompt defines."""
    future = "".join(f"{line}\n" for line in dict.fromkeys(_FUTURE.findall(prompt) + _FUTURE.findall(code)))
    prompt, code = _FUTURE.sub("", prompt), _FUTURE.sub("", code)
    whole = f"{future}{prompt}\n{code}"
    if _compiles(prompt + "\n") or entry_point is None:
        return whole
    match = re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(entry_point)}\b", prompt, re.MULTILINE)
    return f"{future}{prompt[: match.start()] if match else ''}\n{code}"


def _continued(code: str, prompt: str) -> str:
    """A body after its prompt, with the indentation that it lost on the way."""
    start = prompt if prompt.endswith("\n") else prompt + "\n"
    body = code.strip("\n")
    indented = textwrap.indent(body, "    ")
    firsts = ("    " + body.lstrip(), indented, textwrap.indent(textwrap.dedent(body), "    "))
    variants = [start + code, *[start + variant for variant in firsts]]
    if body[:1] not in (" ", "\t"):
        variants = [*variants[1:], variants[0]]
        variants[:2] = [variants[1], variants[0]]
    return next((variant for variant in variants if _compiles(variant)), start + code)
