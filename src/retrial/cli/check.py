"""``retrial check``: an evaluator proves itself, or judges an answer that is there already."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrial.cli.options import Amount, as_json, bench_options, jobs_option, verbose_option

if TYPE_CHECKING:
    from retrial.cli.bench import End
    from retrial.cli.screen import Screen
    from retrial.core.tasks import Task
    from retrial.engine.run import Algorithm

__all__ = ["check"]

SHOWN_WHOLE = 10
"""With more tasks than this, a sound evaluator is told in a line."""


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...", type=click.Path(path_type=Path))
@click.option("--output", metavar="FILE", help="Judge the answer in FILE (- for standard input) instead.")
@click.option("--good", multiple=True, metavar="FILE", help="An answer that must pass; may be given several times.")
@click.option("--bad", multiple=True, metavar="FILE", help="An answer that must fail; may be given several times.")
@click.option(
    "--mutants",
    type=click.IntRange(0, 1000),
    default=40,
    show_default=True,
    help="At most so many faults are put into a known-good answer, to see whether the tests notice.",
)
@click.option("--timeout", type=Amount(0, 3600, min_open=True), help="Seconds for all tests of one answer.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@jobs_option
@bench_options
@as_json
@verbose_option
def check(tasks: tuple[Path, ...], **options: Any) -> int:
    """Make the evaluators of tasks prove that they can fail, and that they can pass.

    Nothing, a banana, a stub and the task's known-bad answers must fail, its known-good ones must pass. Then faults are
    put into a known-good answer, and the tests ought to notice. Exit code 0: sound. 12: refused.

    TASK is a .toml file, a .jsonl file of HumanEval-shaped tasks, or a folder of both. Nothing is stored.
    """
    from retrial.cli.run import chosen_tasks
    from retrial.cli.screen import Screen

    chosen = chosen_tasks(tasks, options["timeout"], options["limit"])
    screen = Screen(as_json=options["as_json"])
    if options["output"] is not None:
        if len(chosen) != 1 or options["good"] or options["bad"]:
            raise click.UsageError("--output judges one answer to one task; leave other tasks, --good and --bad out.")
        return _judge(screen, chosen[0], _text(options["output"]), options)
    known = {name: {f"{file}": _text(file) for file in options[name]} for name in ("good", "bad")}
    return _prove(screen, [_with_known(task, known) for task in chosen], options)


def _with_known(task: Task, known: Mapping[str, Mapping[str, str]]) -> Task:
    """The task with more known outputs."""
    from dataclasses import replace

    good, bad = {**task.known_good, **known["good"]}, {**task.known_bad, **known["bad"]}
    return replace(task, known_good=good, known_bad=bad).identified()


def _text(file: str) -> str:
    """The text of a file, or of standard input."""
    from retrial.errors import ConfigError

    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot read {file!r}: {error.strerror}; check the name") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 (byte {error.start}); save it as UTF-8") from error


def _judge(screen: Screen, task: Task, output: str, options: Mapping[str, Any]) -> int:
    """Judge one answer, print the verdict and return the exit code."""
    from retrial.cli import exits
    from retrial.cli.bench import BROKEN, JUDGES, opened_bench
    from retrial.cli.verdicts import verdict_lines, verdict_record
    from retrial.cli.work import asynchronously
    from retrial.core.codec import decode, encode
    from retrial.core.tasks import Verdict
    from retrial.gating import judging_for

    algorithm = judging_for(task, JUDGES)

    async def session() -> End:
        async with opened_bench(options) as bench:
            bench.check(algorithm, task.id)
            return await bench.run(algorithm, {"task": encode(task.identified()), "output": output})

    end = asynchronously(session())
    if not end.result.status.final:
        code = exits.USAGE if end.error_type in BROKEN else exits.ENVIRONMENT
        raise exits.Stopped(f"error: task {task.id!r} could not be judged: {end.result.error}", code)
    verdict = decode(Verdict, end.result.value)
    if screen.as_json:
        screen.json(verdict_record(verdict))
    else:
        verdict_lines(screen, task.identified().id, verdict)
    return exits.SOLVED if verdict.passed else exits.NOT_SOLVED


def _prove(screen: Screen, tasks: Sequence[Task], options: Mapping[str, Any]) -> int:
    """Put the evaluators to the proof, print what came of each and return the exit code."""
    from retrial.cli.bar import Bar
    from retrial.cli.bench import JUDGES
    from retrial.cli.work import asynchronously
    from retrial.gating import gate_for

    gates = [(task, gate_for(task, JUDGES, mutants=options["mutants"])[0]) for task in tasks]
    ends: dict[str, End] = {}
    many = len(tasks) > SHOWN_WHOLE and not options["verbose"]

    async def session() -> None:
        async for task, end in _proofs(gates, options):
            ends[task.id] = end
            bar.advance(1, task.id)
            if not screen.as_json:
                _print(screen, task, end, brief=many, full=options["verbose"])

    with Bar(screen, len(tasks)) as bar:
        asynchronously(session())
    return _finish(screen, ends)


async def _proofs(
    gates: Sequence[tuple[Task, Algorithm]], options: Mapping[str, Any]
) -> AsyncGenerator[tuple[Task, End]]:
    """Run the proofs at once and yield how they ended, in the order of the tasks."""
    from retrial.cli.bench import opened_bench
    from retrial.cli.ordering import each, in_order
    from retrial.core.codec import encode

    async with opened_bench(options) as bench:
        for task, gate in gates:
            bench.check(gate, task.id)
        async for (task, _), end in in_order(
            each(gates), lambda pair: bench.run(pair[1], {"task": encode(pair[0])}), at_once=options["jobs"]
        ):
            yield task, end


def _print(screen: Screen, task: Task, end: End, *, brief: bool, full: bool) -> None:
    """Print what came of one proof; of many, the sound ones in a line."""
    from retrial.cli.render import short
    from retrial.cli.verdicts import gate_lines

    if not end.result.status.final:
        screen.line((short(task.id), "bold"), "  ", ("could not be put to the proof: ", "red"), end.result.error)
    elif brief and end.result.passed:
        value = end.result.value
        mutants = value["mutants"]
        noticed = f" · {mutants['killed']} of {mutants['total']} mutants noticed" if mutants else ""
        warned = f" · {len(value['warnings'])} warnings" if value["warnings"] else ""
        screen.line(("✓ ", "green"), (short(task.id), "bold"), f"  {len(value['rows'])} outputs{noticed}{warned}")
    else:
        gate_lines(screen, task.id, end.result.value, full=full)
        screen.line()


def _finish(screen: Screen, ends: Mapping[str, End]) -> int:
    """Print what all proofs come to and return the exit code."""
    from retrial.cli import exits
    from retrial.cli.bench import BROKEN

    broken = [end for end in ends.values() if not end.result.status.final]
    refused = [end for end in ends.values() if end.result.status.final and not end.result.passed]
    if screen.as_json:
        records = [_record(task_id, end) for task_id, end in ends.items()]
        screen.json({"ok": not broken and not refused, "tasks": records})
    elif len(ends) > 1:
        sound = len(ends) - len(broken) - len(refused)
        screen.line(f"{sound} of {len(ends)} evaluators are sound")
    if refused or any(end.error_type in BROKEN for end in broken):
        return exits.GATE
    return exits.ENVIRONMENT if broken else exits.SOLVED


def _record(task_id: str, end: End) -> dict[str, Any]:
    """What came of one proof, as JSON values."""
    from retrial.cli.verdicts import gate_record

    if not end.result.status.final:
        return {"task_id": task_id, "ok": False, "reason": end.result.error, "error": end.error_type}
    return {"task_id": task_id, **gate_record(end.result.value), "error": None}
