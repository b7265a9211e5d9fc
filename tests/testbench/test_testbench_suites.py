"""Whole test files: unittest, pytest, examples and tables."""

from __future__ import annotations

import importlib.util

import pytest

from retrial.errors import EvaluatorError, SandboxError

ADD = "def add(a, b):\n    return a + b\n"
PARTLY = "def add(a, b):\n    return a + b if a < 4 else 0\n"
STACK = """
class Empty(ValueError):
    pass

class Stack:
    def __init__(self, *items):
        self.items = list(items)
    def push(self, item):
        self.items.append(item)
        return self
    def pop(self):
        if not self.items:
            raise Empty('nothing left')
        return self.items.pop()
    def __len__(self):
        return len(self.items)
    def __repr__(self):
        return f'Stack({self.items})'

def add(a, b):
    return a + b

def count(n):
    yield from range(n)

def apply(function, values):
    values[:] = [function(value) for value in values]
"""


def told(report):
    return [(check.name, check.message) for check in report.checks]


def names(report):
    return {check.name: check.passed for check in report.checks}


UNITTEST = """
import unittest
from solution import add

class Sums(unittest.TestCase):
    def setUp(self):
        self.four = add(2, 2)
    def test_equal(self):
        self.assertEqual(add(4, 1), 5)
    def test_swapped(self):
        self.assertEqual(5, add(4, 1))
    def test_plain(self):
        assert add(5, 1) == 6
    def test_set_up(self):
        self.assertTrue(self.four == 4)
    def test_parts(self):
        for n in (1, 4):
            with self.subTest(n=n):
                self.assertEqual(add(n, 1), n + 1)

if __name__ == '__main__':
    unittest.main()
"""


def test_each_method_of_a_test_case_is_a_record(run):
    """A failed comparison is told with the call that gave the value, wherever it stands, and with its subtest."""
    report = run(PARTLY, UNITTEST, style="unittest")
    assert told(report) == [
        ("Sums.test_equal", "add(4, 1) is 0, expected 5"),
        ("Sums.test_swapped", "add(4, 1) is 0, expected 5"),
        ("Sums.test_plain", "add(5, 1) is 0, expected 6"),
        ("Sums.test_set_up", ""),
        ("Sums.test_parts", "add(4, 1) is 0, expected 5 (n=4)"),
    ]
    assert report.finished
    assert (report.checks[0].input, report.checks[0].actual, report.checks[0].expected) == ("add(4, 1)", "0", "5")


PYTEST = """
from __future__ import annotations
import pytest
from solution import add

@pytest.fixture
def four():
    return add(3, 1)

@pytest.mark.parametrize("a, b", [(1, 2), (4, 1)])
def test_sum(a, b):
    assert add(a, b) == a + b

def test_fixture(four, tmp_path):
    (tmp_path / "x").write_text(str(four))
    assert (tmp_path / "x").read_text() == "4"

class TestMore:
    def test_raises(self):
        with pytest.raises(TypeError):
            add(1, "a")

    def test_close(self):
        value = add(5, 1)
        assert value == pytest.approx(6.0)
"""


def test_each_id_of_a_pytest_file_is_a_record(run):
    """Parametrised tests, fixtures, classes, raises and approx work; a record names its id."""
    report = run(PARTLY, PYTEST, style="pytest")
    assert told(report) == [
        ("test_sum[1-2]", ""),
        ("test_sum[4-1]", "add(4, 1) is 0, expected 5"),
        ("test_fixture", ""),
        ("TestMore.test_raises", ""),
        ("TestMore.test_close", "value is 0, expected 6.0 \u00b1 6.0e-06 (add(5, 1) is 0)"),
    ]


@pytest.mark.parametrize(
    ("style", "test"),
    [
        ("pytest", "def test_it():\n    {}"),
        ("unittest", "import unittest\nclass It(unittest.TestCase):\n    def test_it(self):\n        {}"),
    ],
)
@pytest.mark.parametrize(
    "imported",
    ["", "import solution\nfrom solution import *\n", "from solution import Stack, apply, add, count, Empty\n"],
)
def test_objects_work_from_afar(run, style, test, imported):
    """Classes, exceptions, generators, callbacks and changes in place reach whole test files, imported or not."""
    body = """
values = [1, 2]
apply(lambda value: value * 10, values)
assert values == [10, 20]
assert list(count(3)) == [0, 1, 2]
stack = Stack(1).push(2)
assert len(stack) == 2 and stack.pop() == 2 and stack.items == [1]
stack.pop()
try:
    stack.pop()
except Empty as error:
    assert str(error) == 'nothing left'
else:
    raise AssertionError('it must raise')
"""
    imported = imported.replace(
        "from solution import *\n",
        "Stack, apply, add = solution.Stack, solution.apply, solution.add\ncount, Empty = solution.count, solution.Empty\n",
    )
    indent = test.rpartition("\n")[2].partition("{")[0]
    text = imported + test.format(body.strip().replace("\n", "\n" + indent))
    report = run(STACK, text, style=style)
    assert [check.passed for check in report.checks] == [True], told(report)


@pytest.mark.parametrize("style", ["pytest", "unittest"])
@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit", "GeneratorExit", "BaseException('x')"])
def test_nothing_that_the_code_raises_ends_the_run(run, style, error):
    """One test fails, with the words of the exception, and the others still run."""
    code = f"def add(a, b):\n    if a == 1:\n        raise {error}\n    return a + b\n"
    text = "import unittest\nclass TestIt(unittest.TestCase):\n" if style == "unittest" else "class TestIt:\n"
    text += (
        "    def test_a(self):\n        assert add(1, 1) == 2\n    def test_b(self):\n        assert add(2, 1) == 3\n"
    )
    report = run(code, text, style=style)
    assert names(report) == {"TestIt.test_a": False, "TestIt.test_b": True}
    assert report.checks[0].message.startswith(f"add(1, 1) raised {error.partition('(')[0]}")
    assert report.finished


@pytest.mark.parametrize("style", ["pytest", "unittest"])
def test_a_test_that_hangs_or_kills_the_code_costs_one_record(run, style):
    """The code is started again for the next test."""
    code = "import os\ndef add(a, b):\n    while a == 1: pass\n    if a == 2: os._exit(0)\n    return a + b\n"
    text = "import unittest\nclass TestIt(unittest.TestCase):\n" if style == "unittest" else "class TestIt:\n"
    text += "".join(f"    def test_{n}(self):\n        assert add({n}, 1) == {n + 1}\n" for n in (1, 2, 3))
    report = run(code, text, style=style, test_timeout=1)
    assert [check.kind for check in report.checks] == ["timeout", "died", "assert"]
    assert report.checks[2].passed


@pytest.mark.parametrize(
    ("style", "text", "why"),
    [
        ("pytest", "x = 1", "nothing in the given tests asserts anything"),
        ("pytest", "def test_a():\n    assert 1 == 1", "it never uses the solution"),
        ("pytest", "def test_a():\n    assert (add(1, 2) == 3, 'no')", "it asserts a tuple"),
        ("pytest", "import pytest\n@pytest.mark.skip\ndef test_a():\n    assert add(1, 2) == 3", "it is skipped"),
        ("pytest", "import pytest\n@pytest.mark.xfail\ndef test_a():\n    assert add(1, 2) == 3", "expected to fail"),
        ("pytest", "def test_a():\n    add(1, 2)", "neither it nor any other test asserts"),
        ("pytest", "def test_a(:\n    pass", "no valid Python"),
        ("pytest", "import numpy_is_not_here\ndef test_a():\n    assert add(1, 2) == 3", "the tests import numpy_is_not_here"),
        ("unittest", "import unittest\n", "nothing in the given tests asserts anything"),
        ("unittest", "import unittest, numpy_is_not_here\nclass T(unittest.TestCase):\n    def test_a(self):\n        assert add(1, 2)", "numpy_is_not_here"),
        ("unittest", "import unittest\n@unittest.skip('later')\nclass T(unittest.TestCase):\n    def test_a(self):\n        assert add(1, 2)", "it is skipped"),
        ("doctest", "no examples", "nothing in the given tests asserts anything"),
        ("doctest", ">>> 1 + 1\n2\n", "nothing in the given tests asserts anything"),
        ("table", "add(1, 2) == 3", "it is no JSON"),
        ("table", '["add(1, 2)"]', "it is no row of the table"),
        ("table", '["add(1, 2) == 3 or 1", true]', "is no call"),
        ("table", '["add(1, 2)", NaN]', "NaN equals nothing"),
        ("table", '["add(1, 2)", [1e999]]', "too large"),
        ("table", '["len(\'abc\')", 3]', "it never uses the solution"),
    ],
)  # fmt: skip
def test_tests_that_can_say_nothing_are_an_error(run, style, text, why):
    """An evaluator that cannot fail is told from a solution that is wrong."""
    with pytest.raises(EvaluatorError, match=why):
        run(ADD, text, style=style)


@pytest.mark.parametrize("style", ["pytest", "unittest"])
def test_a_skip_is_no_pass(run, style):
    """Whether a test skips itself depends on the code, so it counts against it."""
    skip = "pytest.skip('why')" if style == "pytest" else "self.skipTest('why')"
    text = f"import unittest, pytest\nclass TestIt(unittest.TestCase):\n    def test_a(self):\n        if add(1, 1) != 3: {skip}\n        assert add(1, 1) == 3\n"
    report = run(ADD, text.replace(", pytest", "") if style == "unittest" else text, style=style)
    assert told(report) == [("TestIt.test_a", "the test was skipped: why")]
    assert report.passed_count == 0


def test_a_name_that_the_code_lacks_is_its_own_fault(run):
    """What the tests import and the code does not define fails every test, with the names that there are."""
    report = run(
        ADD, "from solution import add, subtract\ndef test_a():\n    assert subtract(add(1, 2), 1) == 2", style="pytest"
    )
    assert ("the test file", "subtract is not defined; the code defines: add") in told(report)
    assert report.passed_count == 0


def test_a_broken_set_up_fails_its_tests(run):
    """What runs around tests is told and passes nothing."""
    text = "import unittest\nclass T(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.x = add(1)\n    def test_a(self):\n        assert add(1, 2) == 3\n"
    report = run(ADD, text, style="unittest")
    assert report.passed_count == 0
    assert any("add(1) raised TypeError" in check.message for check in report.checks)
    text = "import pytest\n@pytest.fixture\ndef two():\n    yield 2\n    add(1)\ndef test_a(two):\n    assert add(two, 2) == 4\n"
    report = run(ADD, text, style="pytest")
    assert names(report) == {"test_a": False}


def test_inherited_and_asynchronous_tests_run(run):
    """A class has the tests of its bases, and coroutines are awaited where the runner does it."""
    text = """
import unittest
class Shared:
    def test_shared(self):
        self.assertEqual(add(1, 1), 2)
class First(Shared, unittest.TestCase):
    pass
class Later(First):
    def test_own(self):
        self.assertEqual(add(2, 2), 4)
class Waiting(unittest.IsolatedAsyncioTestCase):
    async def test_wait(self):
        self.assertEqual(await later(2), 4)
"""
    code = ADD + "async def later(x):\n    return x + x\n"
    report = run(code, text, style="unittest")
    assert names(report) == {
        "First.test_shared": True,
        "Later.test_own": True,
        "Later.test_shared": True,
        "Waiting.test_wait": True,
    }


def test_pytest_is_never_seen_by_the_code(run):
    """The library of the tests is in the process of the tests alone, and its files cannot be read from the other."""
    folder = importlib.util.find_spec("pytest").origin
    code = f"import os\ndef add(a, b):\n    try:\n        import pytest\n    except ImportError:\n        return os.path.exists({folder!r})\n"
    report = run(code, "def test_a():\n    assert add(1, 2) is False", style="pytest")
    assert names(report) == {"test_a": True}


def test_pytest_that_is_missing_is_said_at_once(run, monkeypatch):
    """Style pytest names what to install, and nobody is blamed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SandboxError, match="`pip install pytest`"):
        run(ADD, "def test_a():\n    assert add(1, 2) == 3", style="pytest")


DOCTEST = """
>>> from solution import Stack
>>> add(4, 1)
5
>>> stack = Stack(1)
>>> stack.push(2)
Stack([1, 2])
>>> for n in count(2):
...     print(add(n, n))
0
2
>>> Stack().pop()
Traceback (most recent call last):
    ...
Empty: nothing left
>>> apply(len, ['a', 'bc'])
>>> [add(n, 1) for n in range(3)]  # doctest: +ELLIPSIS
[1, ..., 3]
"""


def test_each_example_is_a_record(run):
    """Examples share one namespace, as in a session; exceptions, options and loops are compared as doctest does."""
    report = run(STACK, DOCTEST, style="doctest")
    assert [name for name, passed in names(report).items() if not passed] == []
    assert len(report.checks) == 6
    report = run(STACK.replace("return a + b", "return a + b if a < 4 else 0"), DOCTEST, style="doctest")
    assert [message for _, message in told(report) if message] == ["add(4, 1) shows 0, expected 5"]
    assert (report.checks[0].input, report.checks[0].actual, report.checks[0].expected) == ("add(4, 1)", "0", "5")


def test_an_object_does_not_pass_for_the_data_that_it_shows(run):
    """Where an example shows plain data, an object of the solution with that text is none."""
    code = "class Three:\n    def __repr__(self):\n        return '3'\ndef add(a, b):\n    return Three()\n"
    report = run(code, ">>> add(1, 2)\n3\n>>> [add(1, 2)]\n[3]\n", style="doctest")
    assert [message for _, message in told(report)] == [
        "add(1, 2) shows <Three object>, expected 3",
        "[add(1, 2)] shows [<Three object>], expected [3]",
    ]


def test_a_step_between_examples_that_fails_is_told(run):
    """An example that shows nothing is no test, but its exception is a reason."""
    report = run(STACK, ">>> x = Stack(1).nothing\n>>> add(1, 2)\n3\n", style="doctest")
    assert names(report) == {"add(1, 2)": True, "x = Stack(1).nothing": False}


def test_a_row_of_a_table_is_a_record(run):
    """Both shapes are read; the expected value is compared as data."""
    report = run(
        PARTLY,
        '["add(1, 2)", 3]',
        '{"call": "add(4, 1)", "expected": 5}',
        '["add([1], b=[None])", [1, null]]',
        style="table",
    )
    assert told(report) == [
        ("add(1, 2) == 3", ""),
        ("add(4, 1) == 5", "add(4, 1) is 0, expected 5"),
        ("add([1], b=[None]) == [1, None]", "add([1], b=[None]) raised TypeError: '<' not supported between instances of 'list' and 'int' (line 2: return a + b if a < 4 else 0)"),
    ]  # fmt: skip


def test_an_expected_value_is_never_run(run):
    """What looks like code in a table is a text."""
    report = run(
        "def add(a, b):\n    return '__import__(\"os\")'\n",
        '["add(1, 2)", "__import__(\\"os\\")"]',
        "[1]",
        style="table",
    )
    assert [(check.kind, check.passed) for check in report.checks] == [("assert", True), ("bad_test", False)]


def test_rows_that_are_more_than_literal_are_judged(run):
    """A call within a call is run where tests are run."""
    report = run(ADD, '["add(add(1, 2), abs(-1))", 4]', style="table")
    assert names(report) == {"add(add(1, 2), abs(-1)) == 4": True}


@pytest.mark.parametrize(("imported", "passes"), [("import math\n", True), ("", False), ("math = type(add)\n", False)])
def test_tests_may_use_a_module_that_the_code_imports(run, imported, passes):
    """It is the library's own, whatever the code did to its copy, and it is there only if the code imports it."""
    code = ADD + imported + ("math.floor = lambda x: 7\n" if passes else "")
    report = run(code, "assert math.floor(add(1.2, 1)) == 2")
    assert [check.passed for check in report.checks] == [passes]
