"""``retrial evaluate``: a verdict for each output of a file, for other programs to read."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from retrial.cli.options import Amount, as_json, bench_options

if TYPE_CHECKING:
    from retrial.casefile import Line
    from retrial.cli.bench import Bench
    from retrial.cli.screen import Screen

__all__ = ["evaluate"]

CASE, ENVIRONMENT = "case", "environment"
"""What is at fault where there is no verdict: the line, or the world."""


@click.command()
@click.argument("cases", metavar="CASES")
@click.option("--out", metavar="FILE", help="Write the verdicts to FILE; standard output is left to the summary.")
@click.option("--jobs", type=click.IntRange(min=1), help="Outputs judged at once.  [default: the number of processors]")
@click.option(
    "--timeout",
    type=Amount(0, 3600, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds for all tests of one output, where its line does not say.",
)
@bench_options
@as_json
def evaluate(cases: str, **options: Any) -> int:
    """Judge outputs that are there already: a JSON object a line in, a verdict a line out, in the same order.

    CASES is a .jsonl file, or - for standard input. A line holds id, output and tests (with style, entry_point, prompt,
    timeout and modules), or an evaluator and an answer. A line that is wrong gets an error in its place. Exit code 0:
    all passed, 1: some not, 4: some lines are wrong, 11: the environment failed some.
    """
    from retrial.cli.bar import Bar
    from retrial.cli.screen import Screen
    from retrial.cli.work import asynchronously

    screen = Screen(as_json=options["as_json"])
    counts: Counter[str] = Counter()
    with _written(options["out"], cases) as target:
        file, size = _opened(cases)

        async def session() -> None:
            async with contextlib.aclosing(_records(file, options)) as records:
                async for line, record in records:
                    target.write(json.dumps(record) + "\n")
                    target.flush()
                    counts[record["error"]["fault"] if record["error"] else str(record["passed"])] += 1
                    bar.advance(line.size, f"{counts['True']:,} of {counts.total():,} passed")

        with Bar(screen, size, beside=target.isatty()) as bar:
            asynchronously(session())
    return _finish(screen, counts, cases, options)


async def _records(file: BinaryIO, options: Mapping[str, Any]) -> AsyncGenerator[tuple[Line, dict[str, Any]]]:
    """Yield each line with the record of its verdict, in the order of the lines."""
    from retrial.cli.bench import opened_bench
    from retrial.cli.ordering import InThread, in_order

    lines = InThread(_lines(file))
    try:
        async with opened_bench(options) as bench:
            found = in_order(
                lines,
                lambda line: _record(bench, line, options["timeout"]),
                at_once=options["jobs"] or os.cpu_count() or 2,
            )
            async with contextlib.aclosing(found):
                async for line, record in found:
                    yield line, record
    finally:
        lines.stop()


async def _record(bench: Bench, line: Line, timeout: float) -> dict[str, Any]:  # noqa: ASYNC109 - the tests' time
    """The verdict on one line, or why there is none, as JSON values."""
    from retrial.casefile import case_of
    from retrial.cli.bench import BROKEN, JUDGES
    from retrial.cli.verdicts import verdict_record
    from retrial.core.codec import decode, encode
    from retrial.core.tasks import Verdict
    from retrial.errors import ConfigError
    from retrial.gating import judging_for

    try:
        case = case_of(line, timeout=timeout)
        algorithm = judging_for(case.task, JUDGES)
        bench.check(algorithm, case.id)
        end = await bench.run(algorithm, {"task": encode(case.task), "output": case.output})
    except ConfigError as error:
        return _without(line, CASE, str(error))
    if not end.result.status.final:
        return _without(line, CASE if end.error_type in BROKEN else ENVIRONMENT, end.result.error)
    verdict = decode(Verdict, end.result.value)
    seconds = round(end.result.usage.seconds, 3)
    return {"id": case.id, "line": line.number, **verdict_record(verdict), "seconds": seconds, "error": None}


def _without(line: Line, fault: str, message: str) -> dict[str, Any]:
    """The record of a line that has no verdict."""
    from retrial.casefile import name_of

    place = f"line {line.number}"
    words = message if message.startswith(f"{place}:") else f"{place}: {message}"
    error = {"fault": fault, "message": words}
    return {"id": name_of(line), "line": line.number, "passed": None, "score": None, "reason": words, "error": error}


def _finish(screen: Screen, counts: Counter[str], cases: str, options: Mapping[str, Any]) -> int:
    """Say what all verdicts come to and return the exit code."""
    from retrial.cli import exits
    from retrial.cli.render import plural

    if not counts:
        raise exits.Stopped(f"nothing to judge: {cases} holds no line", exits.NOTHING)
    told = {"cases": counts.total(), "passed": counts["True"], "not_passed": counts["False"]}
    told |= {"wrong_lines": counts[CASE], "environment": counts[ENVIRONMENT]}
    if screen.as_json and options["out"]:
        screen.json(told)
    words = [f"{told['passed']:,} of {told['cases']:,} passed"]
    words += [f"{plural(counts[CASE], 'line')} {'is' if counts[CASE] == 1 else 'are'} wrong"] if counts[CASE] else []
    words += [f"the environment failed {counts[ENVIRONMENT]:,}"] if counts[ENVIRONMENT] else []
    screen.remark(" · ".join(words))
    if counts[ENVIRONMENT]:
        return exits.ENVIRONMENT
    if counts[CASE]:
        return exits.USAGE
    return exits.NOT_SOLVED if counts["False"] else exits.SOLVED


def _opened(cases: str) -> tuple[BinaryIO, int | None]:
    """Open the cases, with how many bytes there are where that is known."""
    if cases == "-":
        # Not sys.stdin, which is closed at the end and would wait for a thread that still reads it.
        return open(0, "rb", closefd=False), None
    file = Path(cases).open("rb")  # noqa: SIM115 - whoever reads it closes it
    return file, os.fstat(file.fileno()).st_size or None


def _lines(file: BinaryIO) -> Generator[Line]:
    """Yield the lines of a file, and close it."""
    from retrial.casefile import lines_of

    with file:
        yield from lines_of(file)


@contextlib.contextmanager
def _written(out: str | None, cases: str) -> Generator[TextIO]:
    """Open what the verdicts are written to.

    Raises:
        ConfigError: if it is the file that is read.
    """
    from retrial.errors import ConfigError

    if out is None:
        yield sys.stdout
        return
    if cases != "-" and Path(out).exists() and Path(out).samefile(cases):
        raise ConfigError(f"--out {out} is the file that is read; write to another one")
    with Path(out).open("w", encoding="utf-8") as file:
        yield file
