"""Text of strangers is read in time that grows with its length: what once took minutes or hours, read to its end.

Every text here made a pattern try all ways to divide it. A process of its own reads them all, which a deadline ends
if one of them hangs again; it is a hundred times what they take.
"""

from __future__ import annotations

import subprocess
import sys

DEADLINE = 60

PROGRAM = """
import contextlib
from retrial.core.tasks import Task
from retrial.evaluate.reply import read_reply
from retrial.evaluate.result_sets import orders_rows
from retrial.evaluate.rubric import Rubric
from retrial.memory.operations import read_operations
from retrial.memory.quality import faults
from retrial.testbench.extract import extract_code
from retrial.workbench.paths import Refused
from retrial.workbench.reply import changes_in
from retrial.workbench.words import steady

N = 60_000
GAPS = ["\\n" * N, " " * N, " \\n" * N]
for gap in GAPS:
    faults(f"a{gap}b`")
    steady(f"{gap}!")
    read_reply(f"```{gap}!```x")
    read_operations(f"EDIT{gap}x 1{gap}2", 3)
    with contextlib.suppress(Refused):
        changes_in(f"```\\n# a{gap}b\\n```\\n~~~{gap}`", {}, "a")
for run in ("~" * N + "`", "`" * N + "a`", "~~~" + " " * N + "`"):
    extract_code(run)
    with contextlib.suppress(Refused):
        changes_in(f"x\\n{run}", {}, "a")
steady("." * N)
for sign in ("(", "[", "'", '"', "`", "/*", "()"):
    orders_rows("select " + sign * N)
rubric = Rubric(max_sentences=3)
list(rubric._checks(Task(id="t", prompt="p"), "." * N + "`"))
with contextlib.suppress(Refused):
    changes_in("a\\n```\\n" + "x\\n" * N + "```\\n```diff\\n--- a/a\\n+++ b/a\\n@@ -1 +1 @@\\n" + " x\\n" * (N // 2) + "-y\\n```", {"a": b""})
print("read")
"""


def test_no_text_of_a_stranger_makes_a_pattern_hang():
    """Gaps, runs of marks, unclosed quotes and dots without an end, 60,000 characters of each."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert done.stdout == "read\n", done.stderr
