"""Tests in Rust, turned into a module that runs one of them and tells what came of it.

The tests are the text of ``fn main() { let candidate = f; assert_eq!(candidate(1), 2); }``, of functions marked
``#[test]``, or single statements. Every assert becomes a test of its own, after the statements before it that assert
nothing. The module stands before the code in the same crate, so that no macro of the code replaces one of the tests.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from retrial.testbench.plan import Given
from retrial.testbench.rust_text import arguments, body_of, closing, code_spans, replaced, statements

__all__ = ["RustPlan", "plan_rust"]

_ASSERT = re.compile(r"(?:::std::)?(assert|assert_eq|assert_ne)\s*!\s*[(\[{]")
_MACROS = re.compile(
    r"(?<![\w:.])(?:std::|core::)?"
    r"(assert|assert_eq|assert_ne|vec|format|panic|matches|println|print|eprintln|write|writeln|unreachable|todo)\s*!(?=\s*[(\[{])"
)
_TEST_FUNCTION = re.compile(r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?fn\s+(\w+)\s*\(\s*\)")
_COMPARE = re.compile(r"(?<![=!<>+\-*/%^&|])(==|!=)(?!=)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RustPlan:
    """What is to be checked of Rust code."""

    given: tuple[Given, ...]
    """The tests, in order; the subject of one is what it compares."""
    module: str
    """The name of the module, which nobody can guess."""
    source: str
    """The module: its function ``run`` runs the test whose number is the program's first argument."""
    words: frozenset[str]
    """Every name in the tests: types of the code that they name may be compared."""


def plan_rust(tests: tuple[str, ...], entry_point: str | None) -> RustPlan:
    """Read tests; ``entry_point`` is what they may also call ``candidate``."""
    module = f"judge_{secrets.token_hex(8)}"
    items, steps = _steps("\n".join(tests))
    functions = {"candidate"} | ({entry_point} if entry_point else set[str]())
    given: list[Given] = []
    bodies: list[str] = []
    before: list[str] = []
    for step in steps:
        if not _asserts(step):
            before.append(_prepared(step, functions))
            continue
        kind, subject, code = _check(step, functions)
        name = " ".join(_uncommented(step).split()).removesuffix(";")
        given.append(Given(name=name, subject=subject, subject_is_call=kind == "equal"))
        bodies.append("\n".join([*before, code]))
    if entry_point and not any(re.search(r"\blet\s+candidate\b", step) for step in steps):
        bodies = [f"#[allow(unused)] let candidate = {entry_point};\n{body}" for body in bodies]
    arms = "\n".join(f"fn t{number}() {{ {body} }}" for number, body in enumerate(bodies))
    calls = " ".join(f"{number} => t{number}()," for number in range(len(bodies)))
    source = _MODULE.replace("@ITEMS@", _prepared(items, functions)).replace("@TESTS@", arms).replace("@CALLS@", calls)
    words = functions.union(re.findall(r"\w+", " ".join(tests)))
    return RustPlan(given=tuple(given), module=module, source=source, words=frozenset(words))


def _steps(text: str) -> tuple[str, list[str]]:
    """The items beside the tests, and the statements that are run in order."""
    place = body_of(text, "main")
    if place is not None:
        start = text.rfind("fn", 0, place[0])
        return text[:start].removesuffix("pub ") + text[place[1] + 1 :], statements(text[place[0] : place[1]])
    functions = _TEST_FUNCTION.findall(replaced(text, re.compile(r"^"), ""))
    if functions:
        return text.replace("#[test]", ""), [f"{name}(); // assert" for name in functions]
    found = statements(text)
    items = [part for part in found if re.match(r"(?:pub\s+)?(?:fn|use|struct|enum|impl|const|static|trait)\b", part)]
    return "\n".join(items), [part for part in found if part not in items]


def _asserts(step: str) -> bool:
    return "assert" in step or re.search(r"\bpanic\s*!", step) is not None


def _uncommented(step: str) -> str:
    """A step without the comments around it."""
    lines = [line for line in step.split("\n") if not line.strip().startswith("//")]
    return "\n".join(lines).strip().removesuffix("// assert").strip()


def _check(step: str, functions: set[str]) -> tuple[str, str, str]:
    """What a step is (equal, truth or other), what it compares, and its code."""
    step = _uncommented(step)
    match = _ASSERT.match(step)
    end = closing(step, match.end() - 1) if match else 0
    if match is None or step[end + 1 :].strip() not in ("", ";"):
        return "other", step, f"{_prepared(step, functions)}\n; hold();"
    parts = arguments(step[match.end() : end])
    op = "==" if match[1] == "assert_eq" else "!="
    if match[1] == "assert" and parts:
        split = _comparison(parts[0])
        if split is None:
            return "truth", parts[0], f"let held: bool = {_prepared(parts[0], functions)}; truth(held);"
        left, op, right = split
        parts = [left, right]
    if len(parts) < 2:
        return "other", step, f"{_prepared(step, functions)}\n; hold();"
    left, right = (_prepared(part, functions) for part in parts[:2])
    return (
        "equal" if op == "==" else "unequal",
        parts[0],
        f"match (&({left}), &({right})) {{ (l, r) => compare(*l {op} *r, l, r) }}",
    )


def _comparison(text: str) -> tuple[str, str, str] | None:
    """A condition as one comparison, if it is one."""
    found: list[tuple[int, str]] = []
    depth = 0
    for begin, end in code_spans(text):
        for place in range(begin, end):
            depth += (text[place] in "([{") - (text[place] in ")]}")
            match = _COMPARE.match(text, place, end)
            if depth == 0 and match:
                found.append((place, match[1]))
            if depth == 0 and (text.startswith(("&&", "||"), place) or text[place] == "{"):
                return None
    if len(found) != 1:
        return None
    place, op = found[0]
    return text[:place].strip(), op, text[place + 2 :].strip()


def _prepared(text: str, functions: set[str]) -> str:
    """Text of a test whose macros are the library's own and whose calls of the code tell the type of what they gave."""
    text = replaced(text, _MACROS, r"::std::\1!")
    pattern = re.compile(rf"(?<![\w.:])(?<!fn )({'|'.join(map(re.escape, sorted(functions)))})\s*\(")
    place = 0
    while True:
        match = next(
            (m for a, b in code_spans(text) if (m := pattern.search(text, max(a, place), max(b, place)))), None
        )
        if match is None:
            return text
        end = closing(text, match.end() - 1)
        text = f"{text[: match.start()]}seen({text[match.start() : end + 1]}){text[end + 1 :]}"
        place = match.end() + len("seen(")


_MODULE = """\
#![allow(warnings)]
use super::*;
mod own {
    use ::std::{cell::RefCell, fmt::Debug, fs::File, io::{Read, Write}, os::fd::FromRawFd, string::String, vec::Vec};
    ::std::thread_local! {
        static CONNECTION: RefCell<Option<(File, [u8; 32])>> = const { RefCell::new(None) };
        static TYPES: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }
    unsafe extern "C" { fn prctl(what: i32, a: u64, b: u64, c: u64, d: u64) -> i32; }
    pub(super) fn open() -> usize {
        let mut args = ::std::env::args().skip(1);
        let fd: i32 = args.next().unwrap().parse().unwrap();
        let number: usize = args.next().unwrap().parse().unwrap();
        // Nothing in this process may read its memory through /proc.
        unsafe { prctl(4, 0, 0, 0, 0); }
        let mut file = unsafe { File::from_raw_fd(fd) };
        let mut nonce = [0u8; 32];
        file.read_exact(&mut nonce).unwrap();
        CONNECTION.with(|place| *place.borrow_mut() = Some((file, nonce)));
        number
    }
    pub(super) fn seen<T>(value: T) -> T {
        TYPES.with(|types| types.borrow_mut().push(::std::any::type_name::<T>()));
        value
    }
    fn hex(text: &str) -> String {
        let mut out = String::new();
        for byte in text.bytes().take(4000) {
            for part in [byte >> 4, byte & 15] { out.push(char::from(b"0123456789abcdef"[part as usize])); }
        }
        out
    }
    pub(super) fn tell(held: bool, left: &str, right: &str) {
        let types = TYPES.with(|types| types.borrow().join("\\n"));
        let (mut file, nonce) = CONNECTION.with(|place| place.borrow_mut().take()).unwrap();
        let mut record = Vec::from(nonce);
        record.push(if held { b'P' } else { b'F' });
        for text in [types.as_str(), left, right] { record.push(b' '); record.extend(hex(text).bytes()); }
        record.push(b'.');
        file.write_all(&record).unwrap();
        ::std::process::exit(0);
    }
    pub(super) fn compare<L: Debug + ?Sized, R: Debug + ?Sized>(held: bool, left: &L, right: &R) {
        TYPES.with(|types| types.borrow_mut().extend([::std::any::type_name::<L>(), ::std::any::type_name::<R>()]));
        if held { tell(true, "", "") } else { tell(false, &::std::format!("{left:?}"), &::std::format!("{right:?}")) }
    }
    pub(super) fn truth(held: bool) { tell(held, if held { "true" } else { "false" }, "true") }
    pub(super) fn hold() { tell(true, "", "") }
}
use own::{compare, hold, seen, truth};
@ITEMS@
@TESTS@
pub fn run() { match own::open() { @CALLS@ _ => (), } }
"""
