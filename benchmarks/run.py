"""Runs all benchmarks, one after the other: ``python benchmarks/run.py --quick`` takes about three minutes."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from rich.console import Console

BENCHMARKS = ("startup", "judge", "overhead", "store", "lessons", "insights", "peers")


def main() -> int:
    """Run them; the exit code is 1 if one of them broke. A goal that is not met breaks nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small numbers, and no results are written")
    parser.add_argument("--only", nargs="*", choices=BENCHMARKS, default=BENCHMARKS)
    given = parser.parse_args()
    console, broken = Console(), 0
    for name in given.only:
        console.rule(name)
        script = str(Path(__file__).with_name(f"{name}.py"))
        broken |= bool(subprocess.run([sys.executable, script, *["--quick"] * given.quick], check=False).returncode)
    return broken


if __name__ == "__main__":
    sys.exit(main())
