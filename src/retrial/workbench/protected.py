"""What a reply may not change: tests, and the files that steer whoever runs them. Pure functions of paths."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping

from retrial.workbench.named import modules_of, names_in

__all__ = ["STEERING", "TESTS", "is_protected", "matches", "shadows"]

TESTS = (
    *(f"{name}/**" for name in ("test", "tests", "spec", "specs", "__tests__", "testing", "fixtures")),
    *(f"**/{name}/**" for name in ("test", "tests", "__tests__", "spec")),
    *(
        "test_*.*",
        "test-*.*",
        "*_test.*",
        "*_tests.*",
        "*.test.*",
        "test.*",
        "tests.*",
        "*.spec.*",
        "*-test.*",
        "*_spec.rb",
        "*Test.java",
        "*Tests.java",
        "*Test.kt",
        "*Tests.cs",
        "*Test.php",
        "*.bats",
        "*.snap",
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
    *("pom.xml", "build.gradle*", "settings.gradle*", "gradlew*", "meson.build", "composer.json", "phpunit.xml*"),
    *(
        "deno.json*",
        "bunfig.toml",
        "pnpm-workspace.yaml",
        "pnpm-lock.yaml",
        "yarn.lock",
        ".yarnrc*",
        ".pnp.*",
        "mix.exs",
    ),
    *("**/*.egg-info/**", "**/*.dist-info/**", ".config/nextest.toml", "karma.conf.*", "vitest.workspace.*"),
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
    others, and ``words`` the command's: a script that it names, as a path, as a module to run or within a text for a
    shell, is not the reply's to write.

    >>> is_protected("conftest.py", [], [], []), is_protected("src/slug.py", None, [], ["pytest"])
    (True, False)
    """
    if matches(path, editable):
        return False
    return (
        path in names_in(words) or matches(path, STEERING) or matches(path, TESTS if protected is None else protected)
    )


def shadows(path: str, files: Mapping[str, object], words: Iterable[str] = ()) -> bool:
    """Tell whether a new file would be imported in place of a module of the runner or the standard library.

    ``words`` are the command's: a module that it runs with ``-m`` is a runner, too.

    >>> shadows("random.py", {}), shadows("src/unittest/__init__.py", {}), shadows("src/app/random.py", {})
    (True, True, False)
    """
    parent, _, name = path.partition("/") if path.partition("/")[0] in _ROOTS else ("", "", path)
    first = name.partition("/")[0]
    module = first.partition(".")[0]
    has = any(other == path or other.startswith(f"{parent}/{module}/".lstrip("/")) for other in files)
    return not has and module in _SHADOWED | modules_of(words) and path.endswith((".py", ".pyc", ".so"))
