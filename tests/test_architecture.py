"""The house: one direction of imports, no cycles, small modules, and algorithms that know nothing of the world."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "retrial"
MODULES = {
    ".".join(("retrial", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
ARROWS = {
    "errors": "",
    "core": "errors",
    "log": "core errors",
    "stats": "errors",
    "memory": "stats core errors",
    "engine": "log core errors",
    "prompts": "core errors",
    "evaluate": "prompts engine core errors",
    "algorithms": "evaluate prompts memory engine core errors",
    "models": "core errors",
    "tools": "core errors",
    "sandbox": "core errors",
    "testbench": "sandbox core errors",
    "workbench": "testbench sandbox core errors",
    "store": "memory log core errors",
    "taskrows": "core errors",
    "placing": "evaluate workbench errors",
    "taskfile": "placing taskrows evaluate core errors",
    "casefile": "taskfile core errors",
    "recipes": "algorithms evaluate prompts memory engine errors",
    "bank": "recipes store memory engine log core errors",
    "gating": "recipes algorithms evaluate testbench engine core errors",
    "hosts": "evaluate core errors",
    "choosing": "gating placing recipes engine core errors",
    "assembly": (
        "bank choosing placing hosts gating recipes taskfile evaluate models workbench testbench sandbox store memory engine "
        "log core errors"
    ),
    "cli": (
        "assembly bank gating recipes casefile memory taskfile algorithms models testbench sandbox store stats engine log "
        "core errors"
    ),
    "retrial": "assembly core errors",
}
"""Which room may import from which, itself aside."""


def room(module: str) -> str:
    """The first name below ``retrial``, or ``retrial`` for the package itself."""
    return module.split(".")[1] if "." in module else module


def imports(path: Path) -> list[tuple[str, list[str]]]:
    """Every import of our own in a file, TYPE_CHECKING and function bodies included: (module, names)."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("retrial") and not node.level:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [(name, []) for name in inner if name in MODULES]
            outer = [alias.name for alias, name in zip(node.names, inner, strict=True) if name not in MODULES]
            found += [(node.module, outer)] if outer else []
        elif isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names if alias.name.split(".")[0] == "retrial"]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
    return found


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_along_the_arrows(module):
    """Nothing imports against the direction of the house."""
    for imported, _ in imports(MODULES[module]):
        assert room(imported) == room(module) or room(imported) in ARROWS[room(module)].split(), imported


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_no_private_name_and_not_its_own_package(module):
    """No underscored name crosses modules, and nothing inside a package imports the package's front door."""
    package = module.rpartition(".")[0]
    for imported, names in imports(MODULES[module]):
        assert not [name for name in names if name.startswith("_") and not name.startswith("__")], imported
        assert imported != package or MODULES[module].name == "__init__.py", imported


def test_there_are_no_cycles():
    """Following imports never leads back, function bodies and TYPE_CHECKING included."""
    graph = {module: {name for name, _ in imports(path) if name in MODULES} for module, path in MODULES.items()}
    done: set[str] = set()

    def visit(module, trail):
        assert module not in trail, " -> ".join((*trail, module))
        if module not in done:
            for other in graph[module] - {module}:
                visit(other, (*trail, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("module", MODULES)
def test_modules_and_functions_are_small(module):
    """At most 350 lines a module and 60 a function, and every module says what it is for."""
    text = MODULES[module].read_text()
    tree = ast.parse(text)
    assert text.count("\n") <= 350
    assert ast.get_docstring(tree), "a module needs a docstring"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno - node.lineno + 1 <= 60, node.name


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) == "algorithms"])
def test_algorithms_know_nothing_of_the_world(module):
    """Algorithms import no clock, no chance, no event loop and no system: they ask the run."""
    forbidden = {"asyncio", "random", "time", "datetime", "uuid", "os", "threading", "subprocess", "secrets"}
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.split(".")[0] for name in names} & forbidden


@pytest.mark.parametrize(
    "module", [name for name in MODULES if room(name) in ("errors", "core", "log", "engine", "memory", "stats")]
)
def test_the_core_needs_the_standard_library_alone(module):
    """Errors, core, log, engine, memory and stats import nothing that has to be installed."""
    import sys

    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] in {*sys.stdlib_module_names, "retrial"}


TESTS = list(Path(__file__).parent.rglob("test_*.py"))


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_tests_state_what_they_promise(path):
    """Every test function has a sentence."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name}"
