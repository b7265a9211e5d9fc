"""Rust: extraction, building, one process for each assert, and code that tries to pass without being right."""

from __future__ import annotations

import shutil

import pytest

from retrial.errors import EvaluatorError, SandboxError
from retrial.testbench import rust_build
from retrial.testbench.extract_rust import extract_rust
from retrial.testbench.rust_tests import plan_rust
from retrial.testbench.rust_text import arguments, body_of, statements

ADD = "fn add(a: i64, b: i64) -> i64 { a + b }"
PARTLY = "fn add(a: i64, b: i64) -> i64 {\n    if a < 4 { a + b } else { 0 }\n}"
MAIN = "fn main() {\n    let candidate = add;\n    assert_eq!(candidate(1, 2), 3);\n    assert_eq!(candidate(4, 1), 5);\n}\n"

needs_rustc = pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")


@pytest.fixture
def rust(run):
    """Judge Rust code; the tests are MultiPL-E's unless others are given."""

    def run_rust(code, *tests, **fields):
        return run(code, *(tests or [MAIN]), style="rust", **fields)

    return run_rust


def told(report):
    return [check.message for check in report.checks]


@needs_rustc
def test_each_assert_is_a_process_and_a_record(rust):
    """A wrong answer is told with call and values, and the report says that code and tests shared a process."""
    report = rust(PARTLY)
    assert [check.name for check in report.checks] == [
        "assert_eq!(candidate(1, 2), 3)",
        "assert_eq!(candidate(4, 1), 5)",
    ]
    assert told(report) == ["", "add(4, 1) is 0, expected 5"]
    check = report.checks[1]
    assert (check.input, check.actual, check.expected) == ("add(4, 1)", "0", "5")
    assert report.shared_process
    assert report.isolation.level in ("jailed", "confined")


@needs_rustc
def test_every_shape_of_test_is_read(rust):
    """Conditions, tolerances, inequalities, steps before an assert, loops and functions marked as tests."""
    single = rust(
        ADD,
        "let x = 3; assert!(add(x, 1) == 5); assert!((add(1, 1) as f64 - 2.0).abs() < 1e-9);",
        "assert_ne!(add(1, 1), 2); for i in 0..3 { assert_eq!(add(i, i), 2 * i); }",
    )
    assert told(single) == ["add(x, 1) is 4, expected 5", "", "add(1, 1) is 2, expected anything else", ""]
    functions = rust(
        ADD,
        'use std::cmp::max;\n#[test]\nfn sums() { assert_eq!(add(1, max(1, 0)), 3, "sum {}", 4); }\n#[test]\nfn fits() { assert!(add(1, 2) > 2); }',
    )
    assert told(functions) == ["sums(): 2 is not 3: sum 4", ""]


@needs_rustc
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("fn add(a: i64, b: i64) -> i64 {\n    a +\n}", "error: expected expression, found `}`: expected expression (line 3: })"),
        ('fn add(a: i64, b: i64) -> i64 {\n    let c: i64 = "x";\n    c\n}', 'error[E0308]: mismatched types: expected `i64`, found `&str` (line 2: let c: i64 = "x";)'),
        ("fn addition(a: i64) -> i64 { a }", "add is not defined; the code defines: addition"),
        ("fn add(a: i64) -> i64 { a }", "the tests do not fit the code: error[E0061]: this function takes 1 argument but 2 arguments were supplied"),
        (ADD + "\nfn main() {}", "the code defines `main`, which the tests bring: leave it out"),
        ('const S: &str = include_str!("/etc/passwd");\n' + ADD, "couldn't read `/etc/passwd`"),
        ('const S: &str = env!("HOME_OF_THE_USER");\n' + ADD, "environment variable `HOME_OF_THE_USER` not defined"),
        ("fn add(a: i64, b: i64) -> i64 { unsafe { std::mem::zeroed() } }", "usage of an `unsafe` block"),
        ('#[no_mangle]\npub extern "C" fn add(a: i64, b: i64) -> i64 { 0 }', "error"),
        ("extern crate self as std;\n" + ADD, "the code uses `extern crate`"),
        ("extern /* /* */ ; */ crate self as std;\n" + ADD, "the code uses `extern crate`"),
        ("", "the reply holds no code"),
    ],
)  # fmt: skip
def test_code_that_cannot_be_built_says_why(rust, code, error):
    """The first errors of the compiler are told with the line, and nothing passes."""
    report = rust(code)
    assert error in report.load_error
    assert {check.kind for check in report.checks} == {"not_run"}
    assert "judge_" not in report.load_error
    assert "/tmp" not in report.load_error


BODY = "fn add(a: i64, b: i64) -> i64 {{ {} }}"
LIAR = "#[derive(Debug, Clone, Copy)]\nstruct Liar;\nimpl PartialEq<i64> for Liar { fn eq(&self, _: &i64) -> bool { true } }\n"


@needs_rustc
@pytest.mark.parametrize(
    "code",
    [
        BODY.format("std::process::exit(0)"),
        BODY.format("std::process::abort()"),
        BODY.format('println!("test result: ok"); std::process::exit(0)'),
        BODY.format("std::panic::set_hook(Box::new(|_| std::process::exit(0))); panic!()"),
        BODY.format("std::thread::spawn(|| std::process::exit(0)); std::thread::sleep(std::time::Duration::from_secs(9)); 0"),
        BODY.format('use std::io::Write; for n in 0..64 { if let Ok(mut f) = std::fs::OpenOptions::new().write(true).open(format!("/proc/self/fd/{n}")) { let _ = f.write_all(b"P 1 2 3."); } } std::process::exit(0)'),
        BODY.format('use std::io::Read; let mut s = String::new(); let _ = std::io::stdin().read_to_string(&mut s); println!("{s}"); std::process::exit(0)'),
        BODY.format("add(a, b) + 1"),
        BODY.format("let mut v = vec![]; loop { v.push([0u8; 1 << 20]) }"),
        "macro_rules! assert_eq { ($($t:tt)*) => {} }\n" + BODY.format("0"),
        "macro_rules! always { ($($t:tt)*) => { true } }\npub(crate) use always as assert_eq;\npub(crate) use always as matches;\n" + BODY.format("0"),
        "mod own { pub fn compare() {} }\nfn compare<A, B>(_: bool, _: A, _: B) {}\nfn seen<T>(v: T) -> T { v }\n" + BODY.format("0"),
        "macro_rules! m { ($s:tt $c:tt) => { extern $c $s as std; } }\nm!(self crate);\n" + BODY.format("0"),
        LIAR + "fn add(a: i64, b: i64) -> Liar { Liar }",
        LIAR + "fn add(a: i64, b: i64) -> impl PartialEq<i64> + std::fmt::Debug { Liar }",
        '#[link_section = ".init_array"]\n#[used]\nstatic X: extern "C" fn() = x;\nextern "C" fn x() { std::process::exit(0) }\n' + BODY.format("0"),
        "#![no_main]\n" + BODY.format("0"),
    ],
)  # fmt: skip
def test_nothing_passes_without_being_right(rust, code):
    """Leaving, forging, redefining and lying give no record that passes."""
    report = rust(code, test_timeout=2)
    assert report.passed_count == 0


@needs_rustc
def test_an_own_type_passes_where_the_tests_name_it(rust):
    """Types of the code are compared by its own rules only where a test asks for them by name."""
    code = "#[derive(Debug, PartialEq)]\npub struct Point { x: i64 }\nfn add(x: i64) -> Point { Point { x } }"
    report = rust(code, "assert_eq!(add(1), Point { x: 1 });", "assert_eq!(add(1), Point { x: 2 });")
    assert told(report) == ["", "add(1) is Point { x: 1 }, expected Point { x: 2 }"]


@needs_rustc
def test_panics_and_hangs_cost_one_test(rust):
    """A panic is told with its line, two hangs are enough, and what panics is no timeout."""
    code = "fn add(a: i64, b: i64) -> i64 {\n    let v: Vec<i64> = vec![];\n    if a > 3 { v[9] } else { loop {} }\n}"
    calls = [f"assert_eq!(add({n}, 1), 5);" for n in (4, 1, 2, 3)]
    report = rust(code, *calls, test_timeout=0.3)
    assert [check.kind for check in report.checks] == ["exception", "timeout", "timeout", "not_run"]
    assert told(report)[0].startswith("add(4, 1) panicked: index out of bounds")
    assert told(report)[0].endswith("(line 3: if a > 3 { v[9] } else { loop {} })")
    assert told(report)[1] == "add(1, 1) did not finish within 0.3 s"


@needs_rustc
@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("fn main() { add(1, 2); }", "nothing in the given tests asserts"),
        ("fn main() { assert_eq!(add(1 2), 3); }", "they are no Rust"),
    ],
)
def test_tests_that_can_say_nothing_are_an_error(rust, tests, why):
    """The code is not blamed for tests that are none."""
    with pytest.raises(EvaluatorError, match=why):
        rust(ADD, tests)


def test_a_missing_compiler_is_said_at_once(rust, monkeypatch):
    """Style rust names what to install."""
    rust_build.toolchain.cache_clear()
    monkeypatch.setenv("PATH", "")
    try:
        with pytest.raises(SandboxError, match="install rustc"):
            rust(ADD)
    finally:
        rust_build.toolchain.cache_clear()


@pytest.mark.parametrize(
    ("reply", "prompt", "code"),
    [
        ("```rust\nfn add() {}\n```", None, "fn add() {}\n"),
        ("Text.\n```python\nx\n```\n```rs\nuse a;\nfn add() {}\n```\nMore", None, "use a;\nfn add() {}\n"),
        ("Here it is:\nuse a;\nfn add() {\n}\nThis adds.", None, "use a;\nfn add() {\n}\n"),
        ("    a + b\n}", "/// Add.\nfn add(a: i64) -> i64 {\n", "/// Add.\nfn add(a: i64) -> i64 {\n    a + b\n}\n"),
        ("fn add() {}", "use std::fmt;\nfn add() {\n", "use std::fmt;\nfn add() {}\n"),
        ("```rust\nfn add() {}", None, "fn add() {}\n"),
        ("", None, ""),
    ],
)
def test_the_code_in_a_reply_is_found(reply, prompt, code):
    """Fences, prose and bodies that continue a prompt."""
    assert extract_rust(reply, "add", prompt) == code


def test_text_is_split_where_rust_would():
    """Brackets in strings, characters and comments do not count; lifetimes are no characters."""
    text = 'fn f<\'a>(s: &\'a str) {} fn main() { let c = \'}\'; /* } */ assert!(f("}\\""), r#"}"#); // }\n }'
    start, end = body_of(text, "main")
    assert statements(text[start:end]) == ["let c = '}';", '/* } */ assert!(f("}\\""), r#"}"#);']
    assert arguments('vec![1, 2], (3, 4), "a, b",') == ["vec![1, 2]", "(3, 4)", '"a, b"']
    assert statements("if a { b } else { c } match x { _ => y }.z(); S { a: 1 } == s") == [
        "if a { b } else { c }",
        "match x { _ => y }.z();",
        "S { a: 1 } == s",
    ]


def test_the_module_of_the_tests_has_a_name_that_nobody_can_guess():
    """Two plans of the same tests differ in it, and in nothing else."""
    one, two = plan_rust((MAIN,), "add"), plan_rust((MAIN,), "add")
    assert one.module != two.module
    assert one.source == two.source
