"""Task files: what a user writes down about a task, read strictly.

Two forms: a TOML file for one task, and a JSONL file of HumanEval-shaped tasks (task_id, prompt, entry_point, test).
Every mistake is answered with the file, the line and the nearest right name, before anything is run.
"""

from __future__ import annotations

import ast
import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from retrial.core.syntax import expression_of
from retrial.core.tasks import Task
from retrial.errors import ConfigError
from retrial.taskrows import read_rows

__all__ = ["STYLES", "TEMPLATE", "case_tests", "load_tasks"]

_FIELDS: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "prompt": (str,),
    "style": (str,),
    "tests": (list, str),
    "hidden_tests": (list, str),
    "hidden_style": (str,),
    "cases": (list,),
    "check": (str,),
    "answer": (str, int, float),
    "answers": (list,),
    "evaluator": (dict, str),
    "entry_point": (str,),
    "completes": (bool,),
    "modules": (list,),
    "timeout": (int, float),
    "known_good": (list, str),
    "known_bad": (list, str),
    "metadata": (dict,),
}
"""The names that a task file may hold, with their types."""

STYLES = ("asserts", "check", "table", "unittest", "pytest", "doctest", "rust")
"""How tests can be written."""

_LISTS = ("asserts", "table")
_LIST_HINT = 'a text holds whole files: add style = "pytest" (or unittest, doctest, rust), or make a list of it'


def case_tests(cases: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Turn a table of calls and expected values into asserts.

    >>> case_tests([("add(1, 2)", 3)])
    ('assert add(1, 2) == 3',)
    """
    return tuple(f"assert {call} == {_literal(call, expected)}" for call, expected in cases)


def _literal(call: str, expected: object) -> str:
    """The source text of an expected value.

    Raises:
        ConfigError: if the value has none, so that no answer could equal what is written.
    """
    text = f"float({str(expected)!r})" if expected in (float("inf"), float("-inf")) else repr(expected)
    try:
        same = text.startswith("float(") or ast.literal_eval(expression_of(text)) == expected
    except (ValueError, SyntaxError, RecursionError):
        same = False
    if not same:
        raise ConfigError(
            f"the expected value of {call!r} is {expected!r}, which cannot be written as a literal; write a test "
            f'instead, such as "assert {call} == ..."'
        )
    return text


def load_tasks(paths: Sequence[Path]) -> list[Task]:
    """Read the tasks of files and folders, in order; a folder stands for its ``*.toml`` and ``*.jsonl`` files.

    Raises:
        ConfigError: if a file cannot be read or is wrong, or two tasks have one id.
    """
    tasks: list[Task] = []
    seen: dict[str, Path] = {}
    for path in _files(paths):
        for task in read_rows(path, _text(path)) if path.suffix == ".jsonl" else [_read_toml(path)]:
            if task.id in seen:
                where = f"twice in {path}" if seen[task.id] == path else f"in {seen[task.id]} and in {path}"
                raise ConfigError(f"task {task.id!r} stands {where}; give one another id")
            seen[task.id] = path
            tasks.append(task)
    return tasks


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files that are meant."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(child for child in path.iterdir() if child.suffix in (".toml", ".jsonl"))
        elif path.suffix in (".toml", ".jsonl"):
            files.append(path)
        else:
            raise ConfigError(f"{path}: a task is a .toml file, a .jsonl file or a folder of them")
    return files


def _read_toml(path: Path) -> Task:
    """One task from a TOML file."""
    text = _text(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error
    for name, value in data.items():
        where = f"{path}, line {_line_of(text, name)}"
        if name not in _FIELDS:
            near = difflib.get_close_matches(name, _FIELDS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(sorted(_FIELDS))}"
            raise ConfigError(f"{where}: {name!r} is no field of a task; {hint}")
        kinds = _FIELDS[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = {str: "a text", list: "a list", bool: "true or false", dict: "a table"}
            wanted = " or ".join(dict.fromkeys(words.get(kind, "a number") for kind in kinds))
            raise ConfigError(f"{where}: {name} = {value!r} must be {wanted}")
    return _task(data, path, text)


def _task(data: Mapping[str, Any], path: Path, text: str) -> Task:
    """The task that checked fields describe."""
    prompt = str(data.get("prompt", ""))
    if not prompt.strip():
        raise ConfigError(f'{path}: the task has no prompt; add prompt = "..."')
    check = data.get("check")
    style = _style(data, "style", "asserts" if check is None else "check", path, text)
    if (check is not None) != (style == "check"):
        way = "put the tests into check" if check is None else "leave out style, or write tests instead of check"
        raise ConfigError(
            f"{path}, line {_line_of(text, 'style')}: style = {style!r} and the tests do not match; {way}"
        )
    is_list = isinstance(data.get("hidden_tests"), list)
    hidden_style = _style(data, "hidden_style", "asserts" if style == "check" and is_list else style, path, text)
    tests = _tests(data, "tests", style, path, text) + _cases(data, style, path, text)
    if check is not None and tests:
        raise ConfigError(f"{path}: 'check' and 'tests' are both given; keep one of the two")
    evaluator = _evaluator(data, path, text)
    if check is None and not tests and evaluator is None:
        raise ConfigError(
            f'{path}: the task has no tests, so nothing could fail; add tests = ["assert ..."], answer = "..." '
            f'or evaluator = {{ kind = "..." }}'
        )
    if check is not None and "entry_point" not in data:
        raise ConfigError(
            f"{path}, line {_line_of(text, 'check')}: 'check' needs entry_point = \"the function's name\""
        )
    timeout = float(data.get("timeout", 30.0))
    if not 0 < timeout <= 3600:
        raise ConfigError(
            f"{path}, line {_line_of(text, 'timeout')}: timeout = {timeout:g} must be above 0 and at most 3600"
        )
    return Task(
        id=str(data.get("id", path.stem)),
        prompt=_prompt(prompt.strip(), evaluator, path, text),
        tests=(str(check),) if check is not None else tests,
        hidden_tests=_tests(data, "hidden_tests", hidden_style, path, text),
        style=style,
        hidden_style=hidden_style,
        entry_point=data.get("entry_point"),
        completes=bool(data.get("completes", False)),
        modules=_texts(data, "modules", path, text),
        timeout=timeout,
        answer=str(data["answer"]) if "answer" in data else None,
        answers=_texts(data, "answers", path, text),
        evaluator=evaluator,
        known_good=_known(data, "known_good", path, text),
        known_bad=_known(data, "known_bad", path, text),
        metadata=data.get("metadata", {}),
    )


def _style(data: Mapping[str, Any], name: str, default: str, path: Path, text: str) -> str:
    """How tests are written."""
    style = str(data.get(name, default))
    if style not in STYLES:
        near = difflib.get_close_matches(style, STYLES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it can be one of {', '.join(STYLES)}"
        raise ConfigError(f"{path}, line {_line_of(text, name)}: {name} = {style!r} is no style of tests; {hint}")
    return style


def _tests(data: Mapping[str, Any], name: str, style: str, path: Path, text: str) -> tuple[str, ...]:
    """Tests as a list of texts or, in the styles of whole files, as one text."""
    value = data.get(name, [])
    if not isinstance(value, str):
        return _texts(data, name, path, text)
    where = f"{path}, line {_line_of(text, name)}"
    if style in _LISTS:
        raise ConfigError(f"{where}: {name} is a text, and style {style!r} wants a list; {_LIST_HINT}")
    if not value.strip():
        raise ConfigError(f"{where}: {name} is empty, so nothing could fail; write a test into it")
    return (value,)


def _evaluator(data: Mapping[str, Any], path: Path, text: str) -> dict[str, Any] | None:
    """The spec of what judges: as it is given, normalised match for a task that has an answer and no tests, or None."""
    given: Any = data.get("evaluator")
    if given is None:
        tested = any(name in data for name in ("tests", "cases", "check"))
        return {"kind": "normalised"} if not tested and {"answer", "answers"} & {*data} else None
    from retrial.evaluate.registry import evaluator_from  # noqa: PLC0415 - only where a task names one
    from retrial.placing import placed  # noqa: PLC0415 - same

    spec = {"kind": given} if isinstance(given, str) else cast("dict[str, Any]", given)
    try:
        evaluator_from(spec)  # First of all, so that what is misspelt is found before a folder is looked for.
        spec = placed(spec, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{path}, line {_line_of(text, 'evaluator')}: {error}") from error
    return spec


def _prompt(prompt: str, evaluator: Mapping[str, Any] | None, path: Path, text: str) -> str:
    """The task in words, with the files that its evaluator says to show."""
    if evaluator is None:
        return prompt
    from retrial.placing import with_files  # noqa: PLC0415 - only where a task names an evaluator

    try:
        return with_files(prompt, evaluator)
    except ConfigError as error:
        raise ConfigError(f"{path}, line {_line_of(text, 'evaluator')}: {error}") from error


def _texts(data: Mapping[str, Any], name: str, path: Path, text: str) -> tuple[str, ...]:
    """A list of texts."""
    for item in (items := cast("list[Any]", data.get(name, []))):
        if not isinstance(item, str) or not item.strip():
            raise ConfigError(f"{path}, line {_line_of(text, name)}: {name} holds {item!r}; every item must be a text")
    return tuple(items)


def _known(data: Mapping[str, Any], name: str, path: Path, text: str) -> dict[str, str]:
    """Outputs by label: texts as they stand, or those of files beside the task file."""
    value: Any = data.get(name, [])
    known: dict[str, str] = {}
    for number, item in enumerate(cast("list[Any]", [value] if isinstance(value, str) else value), 1):
        file = cast("dict[str, Any]", item).get("file") if isinstance(item, dict) and len(item) == 1 else None  # pyright: ignore[reportUnknownArgumentType]
        if isinstance(file, str):
            known[file] = _text(path.parent / file, f"{name} of {path} names it")
        elif isinstance(item, str):
            known[f"{name} {number}" if isinstance(value, list) else name] = item
        else:
            where = f"{path}, line {_line_of(text, name)}"
            raise ConfigError(f'{where}: {name} holds {item!r}; an output is a text or {{ file = "answer.py" }}')
    return known


def _cases(data: Mapping[str, Any], style: str, path: Path, text: str) -> tuple[str, ...]:
    """The table of calls and expected values, as asserts or as rows."""
    if "cases" in data and style not in _LISTS:
        where = f"{path}, line {_line_of(text, 'cases')}"
        raise ConfigError(f"{where}: 'cases' are no tests of style {style!r}; write them as tests, or leave out style")
    pairs: list[tuple[str, object]] = []
    for case in cast("list[Any]", data.get("cases", [])):
        fields = cast("dict[str, Any]", case if isinstance(case, dict) else {})
        if {*fields} != {"call", "expected"} or not isinstance(fields["call"], str):
            where = f"{path}, line {_line_of(text, 'cases')}"
            raise ConfigError(f'{where}: a case is {{ call = "f(1)", expected = 2 }}, not {case!r}')
        pairs.append((fields["call"], fields["expected"]))
    if style == "table":
        return tuple(json.dumps([call, expected], default=str) for call, expected in pairs)
    return case_tests(pairs)


def _text(path: Path, advice: str = "check the name, or make one with `retrial new NAME`") -> str:
    """A file's text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; {advice}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from error


def _line_of(text: str, name: str) -> int:
    """The line on which a field begins, from 1."""
    pattern = re.compile(rf"^\s*(?:\[+\s*)?[\"']?{re.escape(name)}[\"']?\s*[=\].]")
    return next((number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 1)


TEMPLATE = '''\
# A task for retrial. Try it with:  retrial run {name}.toml --model openai:gpt-5-mini

# What the model is asked, in words. Say what the tests will check; they are not shown to the actor.
prompt = """
Write a Python function {function}(text) that returns text with its words in reverse order.
"""

# What decides. Each test is one assert; list the edge cases, since a lesson is only as good as the test that failed.
tests = [
    "assert {function}('one two three') == 'three two one'",
    "assert {function}('  padded   words ') == 'words padded'",
    "assert {function}('') == ''",
]

# The name that the code must define.
entry_point = "{function}"

# Seconds for all tests of one attempt. An attempt that takes longer has failed.
timeout = 30

# Also possible:
# style = "pytest"                                    # tests = """a test file"""; also unittest, doctest, rust
# id = "{name}"                                       # the file's name if left out; lessons are stored under it
# cases = [{{ call = "{function}('a b')", expected = "b a" }}]   # the same as an assert
# hidden_tests = ["assert ..."]                       # score the result, never steer it
# answer = "42"                                       # instead of tests: the expected answer, never shown to a model
# evaluator = {{ kind = "numeric", absolute = 0.5 }}    # how it is compared, or another evaluator
# modules = ["numpy"]                                 # modules outside the standard library that the code may import
# known_good = [{{ file = "right.py" }}]                # answers that must pass; `retrial check {name}.toml` puts them
# known_bad = ["def {function}(text): return text"]   # to the tests, and these, which must fail; no model sees them
'''
"""What ``retrial new`` writes; ``name`` and ``function`` are put in."""
