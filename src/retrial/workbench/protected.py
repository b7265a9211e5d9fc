"""What a reply may not change: tests, and the files that steer whoever runs them. Pure functions of paths."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

__all__ = ["STEERING", "TESTS", "is_protected", "matches", "shadows"]

TESTS = (
    *(f"{name}/**" for name in ("test", "tests", "spec", "specs", "__tests__", "testing", "fixtures")),
    *(f"**/{name}/**" for name in ("test", "tests", "__tests__", "spec")),
    *(
        "test_*.py",
        "*_test.py",
        "*_tests.py",
        "*.test.*",
        "*.spec.*",
        "*-test.*",
        "*_spec.rb",
        "*_test.go",
        "*_test.rs",
    ),
)
"""What tests are usually called; a task's own ``protected`` takes its place."""

STEERING = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "setup.py"),
    *("pyproject.toml", "noxfile.py", ".coveragerc", "mypy.ini", "sitecustomize.py", "usercustomize.py", "*.pth"),
    *("package.json", "package-lock.json", ".npmrc", ".mocharc*", "*.config.js", "*.config.ts", "*.config.mjs"),
    *("*.config.cjs", "*.config.mts", ".babelrc*", "tsconfig*.json", ".nycrc*", ".swcrc"),
    *("Cargo.toml", "Cargo.lock", "build.rs", ".cargo/**", "rust-toolchain*", "go.mod", "go.sum"),
    *("Makefile", "makefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "justfile", "Gemfile*", "Rakefile", ".rspec"),
    *(".env", ".envrc", ".python-version", ".tool-versions"),
)
"""Files that steer runners and build tools: always protected, unless a task names them as ``editable``."""

_SHADOWED = frozenset({*sys.stdlib_module_names, "pytest", "_pytest", "pluggy", "iniconfig", "pip", "setuptools"})
_ROOTS = ("", "src", "lib")


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Tell whether a path is meant by one of several patterns.

    One without a slash means a name in any folder, one with a slash the whole path; ``**`` is any number of folders.

    >>> matches("a/b/conftest.py", ["conftest.py"]), matches("src/a.py", ["tests/**"])
    (True, False)
    >>> matches("tests/x/y", ["tests/**"])
    True
    """
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = pattern.removeprefix("./")
    if "/" not in pattern.rstrip("/"):
        pattern = f"**/{pattern}"
    if pattern.endswith("/"):
        pattern += "**"
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts), re.DOTALL)


def is_protected(path: str, protected: Iterable[str] | None, editable: Iterable[str], words: Iterable[str]) -> bool:
    """Tell whether a reply may not touch ``path``.

    ``protected`` are the task's patterns (None for the usual names of tests), ``editable`` those that come before all
    others, and ``words`` those of the command: a script that it names is not the reply's to write.

    >>> is_protected("conftest.py", [], [], []), is_protected("src/slug.py", None, [], ["pytest"])
    (True, False)
    """
    if matches(path, editable):
        return False
    named = {str(PurePosixPath(word)) for word in words}
    return path in named or matches(path, STEERING) or matches(path, TESTS if protected is None else protected)


def shadows(path: str, files: Mapping[str, object]) -> bool:
    """Tell whether a new file would be imported in place of a module of the runner or the standard library.

    >>> shadows("random.py", {}), shadows("src/unittest/__init__.py", {}), shadows("src/app/random.py", {})
    (True, True, False)
    """
    parent, _, name = path.partition("/") if path.partition("/")[0] in _ROOTS else ("", "", path)
    first = name.partition("/")[0]
    module = first.partition(".")[0]
    has = any(other == path or other.startswith(f"{parent}/{module}/".lstrip("/")) for other in files)
    return not has and module in _SHADOWED and path.endswith((".py", ".pyc", ".so"))
