"""Rust code made into a program, inside the sandbox, or the reasons why it is none.

Knows the compiler and its messages; no test. What the compiler reads at compile time (``include_str!``, ``env!``) is
what the sandbox lets it see.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from retrial.errors import SandboxError
from retrial.sandbox.program import Limits, Program
from retrial.testbench.session import Session
from retrial.testbench.wording import clipped

__all__ = ["Built", "build", "toolchain"]

_FLAGS = "--edition 2021 -C debuginfo=0 -C codegen-units=1 --error-format=json -A warnings"
_MEMORY = 2 << 30
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A program, or why there is none."""

    error: str = ""
    """What is wrong with the code; empty if there is a program."""
    test_error: str = ""
    """What is wrong with the text of the tests, whatever the code is."""
    fd: int = -1
    """An open, sealed file with the program, to be closed by whoever asked; -1 if there is none."""


@cache
def toolchain() -> str:
    """The folder of the Rust toolchain in use.

    Raises:
        SandboxError: if there is no compiler.
    """
    found = shutil.which("rustc")
    if found is None:
        raise SandboxError("style 'rust' needs the Rust compiler: install rustc (https://rustup.rs), or put it on PATH")
    try:
        # A shim that picks the compiler costs time in every run, and its home cannot be seen from the sandbox.
        done = subprocess.run([found, "--print", "sysroot"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - the user's own compiler
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"style 'rust' needs a working rustc; `rustc --print sysroot` failed: {error}") from None
    return done.stdout.strip()


def build(code: str, module: str, tests: str, session: Session) -> Built:
    """Check ``code`` alone, then build it with the tests in ``module`` before it.

    Raises:
        SandboxError: if there is no compiler, or the sandbox fails.
    """
    root = toolchain()
    code = _without_inner_attributes(code)
    fd = os.memfd_create("program", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        rustc = f"{root}/bin/rustc {_FLAGS}"
        check = "--crate-type lib --crate-name solution -F unsafe_code --emit metadata -o code.rmeta"
        script = (
            f"{rustc} {check} code.rs || exit 90\n"
            f"{rustc} --crate-name program -o program main.rs || exit 91\n"
            f"cat program > /proc/self/fd/{fd} || exit 92"
        )
        program = Program(
            argv=("/bin/sh", "-c", script),
            files={
                "code.rs": _bytes(code),
                "main.rs": _bytes(f"mod {module}; fn main() {{ {module}::run() }} {code}"),
                f"{module}.rs": _bytes(tests),
            },
            fds=(fd,),
            paths=(root,),
        )
        seconds = session.rules.timeout
        limits = Limits(
            seconds=seconds, memory_bytes=_MEMORY, file_bytes=64 << 20, open_files=256, output_bytes=1 << 20, fork=True
        )
        ended = session.end_child(session.begin_child(program, limits))
        if ended.exit_code == 0:
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            kept, fd = fd, -1
            return Built(fd=kept)
        if ended.timed_out or ended.exit_code is None:
            return Built(error=f"compiling did not finish within {seconds:g} s")
        return _refused(ended.exit_code, ended.output, module)
    finally:
        if fd >= 0:
            os.close(fd)


def _refused(exit_code: int, output: str, module: str) -> Built:
    """Why the compiler made no program."""
    errors = _errors(output)
    if exit_code == 90 and errors:
        return Built(error="; ".join(_told(error) for error in errors[:_SHOWN]))
    if exit_code == 91 and errors:
        own = [error for error in errors if _file(error) == "main.rs"]
        if any(error["code"] == "E0428" and "`main`" in error["message"] for error in errors):
            return Built(error="the code defines `main`, which the tests bring: leave it out")
        if not own and all(error["code"] is None for error in errors) and any(_file(error) for error in errors):
            return Built(test_error=errors[0]["message"])
        told = "; ".join(_told(error) for error in (own or errors)[:_SHOWN])
        return Built(error=told if own else f"the tests do not fit the code: {told}")
    if "linker" in output and "not found" in output:
        raise SandboxError("style 'rust' needs a linker: install a C compiler that is called as `cc`")
    if exit_code in (90, 91):
        return Built(error=f"the compiler gave up: {clipped(_last_line(output).replace(module, 'tests'))}")
    raise SandboxError(f"the Rust compiler could not be run in the sandbox: {clipped(_last_line(output), 500)!r}")


def _last_line(output: str) -> str:
    lines = [line for line in output.split("\n") if line.strip() and not line.startswith("{")]
    return lines[-1] if lines else "it said nothing"


def _errors(output: str) -> list[dict[str, Any]]:
    """The errors among the compiler's messages: message, code, and the lines that they are about."""
    found: list[dict[str, Any]] = []
    for line in output.split("\n"):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            item = cast("dict[str, Any]", json.loads(line))
            message = str(item["message"])
            if item["level"] == "error" and not message.startswith("aborting due to"):
                code = cast("dict[str, Any] | None", item["code"])
                spans = [span for span in item["spans"] if span["is_primary"]]
                found.append({"message": message, "code": code["code"] if code else None, "spans": spans})
    return found


def _file(error: dict[str, Any]) -> str:
    return str(error["spans"][0]["file_name"]) if error["spans"] else ""


def _told(error: dict[str, Any]) -> str:
    """An error in a line: what, and on which line of the code."""
    code = f"[{error['code']}]" if error["code"] and str(error["code"]).startswith("E") else ""
    text = f"error{code}: {clipped(str(error['message']).split(chr(10))[0], 500)}"
    if not error["spans"]:
        return text
    span = error["spans"][0]
    label = f": {clipped(str(span['label']), 200)}" if span.get("label") else ""
    source = str(span["text"][0]["text"]).strip() if span.get("text") else ""
    if _file(error) in ("code.rs", "main.rs"):
        return f"{text}{label} (line {span['line_start']}: {clipped(source, 200)})"
    return f"{text}{label}"


def _without_inner_attributes(code: str) -> str:
    """The code without the attributes that only a file's beginning may hold; every line keeps its number."""
    lines = code.split("\n")
    for number, line in enumerate(lines):
        text = line.strip()
        if text.startswith("#![") and text.endswith("]"):
            lines[number] = ""
        elif text and not text.startswith("//"):
            break
    return "\n".join(lines)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
