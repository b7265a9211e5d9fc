"""Who passed what, with which words."""

from __future__ import annotations

import pytest

from retrial.errors import ConfigError, EvaluatorError, SandboxError
from retrial.testbench.program import candidate_program, judge_program

ADD = "def add(a, b):\n    return a + b\n"
PARTLY = "def add(a, b):\n    return a + b if a < 4 else 0\n"


def messages(report):
    return [check.message for check in report.checks]


def kinds(report):
    return [check.kind for check in report.checks]


def test_each_assert_is_a_record(run):
    """A wrong answer is told with the call, what it gave and what was expected; the others still count."""
    report = run(PARTLY, "assert add(1, 2) == 3", "assert add(4, 1) == 5", "assert add(2, 2) == 4")
    assert [check.passed for check in report.checks] == [True, False, True]
    check = report.checks[1]
    assert (check.name, check.message) == ("assert add(4, 1) == 5", "add(4, 1) is 0, expected 5")
    assert (check.input, check.actual, check.expected) == ("add(4, 1)", "0", "5")
    assert report.isolation.level in ("jailed", "confined")


CHECK = "def check(candidate):\n    assert candidate(4, 1) == 5\n    assert True, 'for debugging'\n    assert candidate(1, 1) == 2\n"


@pytest.mark.parametrize("prelude", ["", "    x = [1]\n    x.sort()\n"], ids=["literal", "judged"])
def test_a_failing_assert_hides_no_later_one(run, prelude):
    """In a check function every assert is recorded, and an assert that says nothing is not."""
    report = run(PARTLY, CHECK.replace("candidate):\n", "candidate):\n" + prelude), style="check")
    assert [(check.passed, check.message) for check in report.checks] == [
        (False, "add(4, 1) is 0, expected 5"),
        (True, ""),
    ]


def test_asserts_in_loops_are_recorded_each_time(run):
    """One record for each execution, with the values of that execution."""
    test = "def check(candidate):\n    for i in range(3, 6):\n        assert candidate(i, i) == 2 * i\n"
    report = run(PARTLY, test, style="check")
    assert [check.passed for check in report.checks] == [True, False, False]
    assert messages(report)[1] == "add(4, 4) is 0, expected 8"


def test_a_check_that_calls_itself_is_not_run_twice(run):
    """A file that calls check at its end gives each record once."""
    report = run(ADD, "x = str(1)\n" + CHECK + "\ndef test_check():\n    check(add)\n\ntest_check()\n", style="check")
    assert len(report.checks) == 2


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("assert add(1, 2) is None", "add(1, 2) is 3, expected None"),
        ("assert not add(1, 2)", "add(1, 2) is 3, expected a false value"),
        ("assert add(1, -1)", "add(1, -1) is 0, expected a true value"),
        ("assert add(1, 2) != 3", "add(1, 2) is 3, expected anything else"),
        ("assert add(1, 2) in (1, 2)", "add(1, 2) is 3, expected one of (1, 2)"),
        ("assert abs(add(1, 2) - 2.5) < 0.1", "abs(add(1, 2) - 2.5) is 0.5, expected less than 0.1 (add(1, 2) is 3)"),
        ("assert add([1], [2]) == [1, 2, 3]", "add([1], [2]) is [1, 2], expected [1, 2, 3]"),
    ],
)
def test_the_judge_and_the_supervisor_say_the_same(run, test, message):
    """A literal assert reads the same whether a judge process was needed or not."""
    straight = run(ADD, test)
    judged = run(ADD, test, "value = [add(0, 1)]\nassert value == [1]")
    assert straight.checks[0] == judged.checks[0]
    assert messages(straight) == [message]


def test_exceptions_name_the_line(run):
    """An exception is told with its text and the line of the solution that raised it."""
    report = run("def add(a, b):\n    return a + b\n", "assert add(1, 'a') == 2")
    assert kinds(report) == ["exception"]
    assert messages(report)[0].startswith("add(1, 'a') raised TypeError: unsupported operand")
    assert messages(report)[0].endswith("(line 2: return a + b)")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("def add(a, b) return a + b", "SyntaxError: expected ':' (line 1)"),
        ("def addition(a, b): return a + b", "add is not defined; the code defines: addition"),
        ("import numpy_is_not_here\n" + ADD, "numpy_is_not_here is not available here"),
        ("raise ValueError('no')\n" + ADD, "loading the code raised ValueError: no (line 1: raise ValueError('no'))"),
        ("raise SystemExit\n" + ADD, "the code ended the program while loading (SystemExit)"),
        ("import os\nos._exit(3)\n" + ADD, "the program ended while the code was loading (exit code 3)"),
        ("", "the reply holds no code"),
    ],
)
def test_a_load_failure_says_why(run, code, error):
    """Code that cannot be loaded passes nothing, and the report says what to change."""
    report = run(code, "assert add(1, 2) == 3")
    assert report.load_error == error
    assert kinds(report) == ["not_run"]


def test_a_hang_costs_one_test(run):
    """A test that does not end is told in words, and the next one still runs."""
    code = "def add(a, b):\n    while a == 3: pass\n    return a + b\n"
    report = run(code, "assert add(3, 1) == 4", "assert add(1, 2) == 3", test_timeout=1)
    assert messages(report) == ["add(3, 1) did not finish within 1 s", ""]
    assert kinds(report) == ["timeout", "assert"]


def test_two_hangs_are_enough(run):
    """After two timeouts the rest is not run."""
    code = "def add(a, b):\n    while True: pass\n"
    report = run(code, *[f"assert add({n}, 1) == 4" for n in range(4)], test_timeout=0.5)
    assert kinds(report) == ["timeout", "timeout", "not_run", "not_run"]


def test_a_hang_while_loading_is_a_timeout(run):
    """Code that never finishes loading is told as such."""
    report = run("while True: pass\n" + ADD, "assert add(1, 2) == 3", timeout=1)
    assert report.load_error == "loading the code did not finish within 1 s"
    assert kinds(report) == ["timeout"]


@pytest.mark.parametrize(
    ("body", "how"),
    [("os._exit(0)", "exit code 0"), ("os.kill(os.getpid(), 11)", "killed by signal SIGSEGV")],
)
def test_a_death_is_told_and_the_next_test_runs(run, body, how):
    """However the program ends, it is no verdict."""
    report = run(
        f"import os\ndef add(a, b):\n    if a == 3: {body}\n    return a + b",
        "assert add(3, 1) == 4",
        "assert add(1, 2) == 3",
    )
    assert messages(report) == [f"the program ended while add(3, 1) was running ({how})", ""]


def test_running_out_of_memory_is_told(run):
    """A memory error reads as one."""
    report = run("def add(a, b): return bytearray(1 << 40)", "assert add(3, 1) == 4")
    assert messages(report) == ["add(3, 1) ran out of memory"]


def test_invalid_tests_count_for_nobody(run):
    """A test that is no test is marked, whatever the code does."""
    report = run(ADD, "assert add(1, 2) == 3", "assert add(1, 2 == 3", "assert (add(1, 2) == 4, 'no')", "assert True")
    assert kinds(report) == ["assert", "bad_test", "bad_test", "bad_test"]
    assert (report.passed_count, report.valid_count) == (1, 1)


@pytest.mark.parametrize(
    ("tests", "style"),
    [
        ([], "asserts"),
        (["# TODO"], "asserts"),
        (["assert True"], "asserts"),
        (["def check(candidate):\n    pass"], "check"),
        (["x = add(1, 2)"], "asserts"),
    ],
)
def test_no_test_is_an_error(run, tests, style):
    """What cannot fail is no evaluator."""
    with pytest.raises(EvaluatorError, match=r"no (valid )?tests"):
        run(ADD, *tests, style=style)


def test_unknown_styles_are_refused(run):
    """A style that nobody knows is named."""
    with pytest.raises(ConfigError, match="quiz"):
        run(ADD, "assert add(1, 2) == 3", style="quiz")


def test_a_declared_module_that_is_missing_is_nobodys_fault(run):
    """Where the task allows a module, its absence is the environment's."""
    with pytest.raises(SandboxError, match="numpy_is_not_here"):
        run(ADD, "assert add(1, 2) == 3", modules=("numpy_is_not_here",))


def test_a_declared_module_can_be_imported_and_no_other(run):
    """What the task allows is there; what is installed beside it is not."""
    code = "import {}\ndef add(a, b): return a + b"
    assert (
        run(code.format("sortedcontainers"), "assert add(1, 2) == 3", modules=("sortedcontainers",)).passed_count == 1
    )
    report = run(code.format("hypothesis"), "assert add(1, 2) == 3", modules=("sortedcontainers",))
    assert report.load_error == "hypothesis is not available here"


def test_a_function_may_be_called_like_a_builtin(run):
    """An entry point that hides a built-in function is the one that is tested."""
    assert (
        run(
            "def sum(x): return 7", "assert sum([1]) == 7", "x = [1]\nassert sum(x) == 7", entry_point="sum"
        ).passed_count
        == 2
    )


def test_warnings_of_the_compiler_are_nobodys_business(run):
    """An odd escape in code or tests is no error."""
    assert run("def add(a, b): return '\\d'", "assert add(1, 2) == '\\d'").passed_count == 1


def test_text_is_fit_to_show(run):
    """No escape sequences, addresses or temporary paths, and never endless."""
    code = "class A: pass\ndef add(a, b):\n    print('\\x1b[31mred')\n    raise ValueError(f'\\x1b[1m{A()} /tmp/x1/y ' + 'z' * 10**6)\n"
    report = run(code, "assert add(1, 2) == 3")
    (message,) = messages(report)
    assert "<solution.A object> <temporary path> zzz" in message
    assert len(message) < 4200
    assert "\x1b" not in message + report.output


def test_reports_are_the_same_every_time(run):
    """Two runs of the same thing give equal reports."""
    code = "def add(a, b): return {object, str(a), 'x', 'y', 'z'} if a else object()"
    first, second = (run(code, "assert add(1, 2) == 3", "assert add(0, 2) == 3") for _ in range(2))
    assert first == second


def test_objects_of_the_solution_can_be_used(run):
    """Classes, exceptions, generators, callbacks and changed arguments work across the processes."""
    code = """
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x); return self
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __eq__(self, other): return isinstance(other, Stack) and self.items == other.items
class Loose:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return self.x == other.x
class Empty(Exception): pass
def fail(): raise Empty("nothing")
def count(n):
    yield from range(n)
def apply(f, xs): return [f(x) for x in xs]
def fill(grid): grid[0].append(7)
"""
    tests = (
        "s = Stack().push(1).push(2)\nassert len(s) == 2 and list(s) == [1, 2]\nassert s == Stack().push(1).push(2)\nassert s != Stack()",
        "try:\n    fail()\n    assert False\nexcept Empty as error:\n    assert str(error) == 'nothing'",
        "assert Loose(1) == Loose(1) and Loose(1) != Loose(2)",
        "g = count(3)\nassert next(g) == 0 and list(g) == [1, 2]",
        "seen = []\nassert apply(lambda x: seen.append(x) or x * 2, [1, 2]) == [2, 4]\nassert seen == [1, 2]",
        "row = [1]\ngrid = [row]\nfill(grid)\nassert row == [1, 7] and grid[0] is row",
    )
    report = run(code, *tests, entry_point="Stack")
    assert messages(report) == [""] * len(tests)


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0\n    __rsub__ = __sub__\ndef add(a, b): return A()",
        "class add:\n    n = 0\n    def __init__(self, a, b): pass\n    def __eq__(self, other):\n        add.n += 1\n        return add.n % 2 == 1",
        "class M(type):\n    __module__ = 'collections'\n    def __instancecheck__(c, o): return True\nclass A(metaclass=M):\n    __class__ = int\n    def __eq__(self, o): return True\ndef add(a, b): return A()",
        "import os\ndef add(a, b):\n    for fd in range(3, 99):\n        try: os.write(fd, b'\\0\\0\\0\\x1e' + b'[[\"value\",3,[]]]'.ljust(30))\n        except OSError: pass\n    return 0",
        "import os\ndef add(a, b):\n    for fd in range(3, 99):\n        try: os.write(fd, b'\\xff' * 4000)\n        except OSError: pass\n    return 0",
        "import gc\ndef add(a, b):\n    for o in gc.get_objects():\n        if type(o).__name__ == 'Server': o.send(b'[[\"value\",0,[]]]')\n    return 0",
        "def add(a, b): raise GeneratorExit",
        "def add(a, b):\n    x = ()\n    for _ in range(10**5): x = (x,)\n    return x",
        "def add(a, b): return 1 << 10**7",
    ],
    ids=["equal to all", "class for function", "metaclass", "forged answer", "noise", "server", "exit", "deep", "huge"],
)
@pytest.mark.parametrize("judged", [False, True])
def test_cheats_pass_nothing(run, code, judged):
    """What makes ordinary runners pass makes this one fail, with a judge and without."""
    tests = ["assert add(1, 2) == 3", "assert abs(add(10, 5) - 15) < 1"]
    if judged:
        tests = [f"expected = 1\n{test}" for test in tests]
    report = run(code, *tests)
    assert report.passed_count < 2
    assert not report.checks[1].passed


def test_an_object_that_a_function_returns_is_no_number(run):
    """Even where the tests name its class, an object does not pass for the plain data that a function should give."""
    code = """
class Point:
    def __init__(self, *args): self.x = args
    def __eq__(self, other): return isinstance(other, float) and other < 100 or self.x == getattr(other, 'x', None)
    def __sub__(self, other): return 0.0
    def __lt__(self, other): return True
def dist(a, b): return Point()
"""
    call = "dist(Point(0, 0), Point(3, 4))"
    report = run(
        code, f"assert {call} == 5.0", f"assert abs({call} - 5.0) < 1e-9", f"assert {call} < 5.1", entry_point="dist"
    )
    assert report.passed_count == 0
    assert run(code, "assert Point(1) == Point(1)", entry_point="Point").passed_count == 1


def test_programs_define_no_name_twice():
    """Modules that are joined into one program do not overwrite each other's names."""
    import marshal

    for program in (candidate_program(), judge_program()):
        code = marshal.loads(program[16:])
        defined = [
            const.co_name for const in code.co_consts if hasattr(const, "co_name") and not const.co_name.startswith("<")
        ]
        assert len(defined) == len(set(defined))
