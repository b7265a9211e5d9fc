"""Whether a runner of tests said that it ran none, although it ended well. Pure functions of texts.

unittest before Python 3.12, cargo, go and node end with exit code 0 where no test was found or all were skipped. Only
runners that the command names themselves are looked for: what else prints such words may have other evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

__all__ = ["ran_nothing"]

_UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK(?: \(.*?\bskipped=(\d+))?|NO TESTS RAN)", re.MULTILINE)
_PASSED = {
    "cargo": re.compile(r"^test result: ok\. (\d+) passed", re.MULTILINE),
    "node": re.compile(r"^\W{1,4}pass (\d+)$", re.MULTILINE),
}


def ran_nothing(argv: Sequence[str], output: str) -> bool:
    r"""Tell whether the runner that ``argv`` names says that it passed no test at all.

    >>> ran_nothing(["python", "-m", "unittest"], "\nRan 2 tests in some time\n\nOK (skipped=2)\n")
    True
    >>> ran_nothing(["cargo", "test"], "test result: ok. 2 passed; 0 failed\ntest result: ok. 0 passed; 0 failed\n")
    False
    """
    program, words = PurePosixPath(argv[0]).name, set(argv[1:])
    if program.startswith("python") and "unittest" in words:
        found = _UNITTEST.findall(output)
        return bool(found) and all(int(ran) <= int(skipped or 0) for ran, skipped in found)
    if program in ("npm", "pnpm", "yarn"):
        program = "node"  # Where a package's script runs another runner, nothing of node's is found.
    elif ("--test" if program == "node" else "test") not in words:
        return False
    if program == "go":
        lines = [line for line in output.split("\n") if line.startswith("ok ")]
        return "[no test" in output and all("[no tests to run]" in line for line in lines)
    counts = _PASSED[program].findall(output) if program in _PASSED else []
    return bool(counts) and not any(int(count) for count in counts)
