"""The program of the process that holds statements or a check function.

Knows the tests and the order in which they run. The tests may be written by a model, so it runs in the sandbox as well,
and what it reports is checked.
"""

from __future__ import annotations

# The values here are a stranger's, so that their types are unknown by nature.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import posix
import sys

from retrial.testbench.recorder import Pipe, Recorder, namespace, open_link
from retrial.testbench.wire import decode_frame, encode_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["run"]


def run(fd: int) -> None:
    """Run the tests that arrive on the connection and report on it."""
    pipe = Pipe(fd)
    pipe.send(b"H", b"")
    job: dict[str, Any] = decode_frame(pipe.receive()[1])[0]
    recorder = Recorder(pipe, job["nonce"], job["asserts"])
    link = open_link(job, recorder)
    space: dict[str, Any] | None = None
    for index, source in job["programs"]:
        recorder.begin(index)
        try:
            if space is None:
                space = namespace(link, recorder, job["mentioned"], job["entry"])
            exec(compile(source, "<test>", "exec", dont_inherit=True), space)  # noqa: S102 - what this process is for
            if job["inside"] and not recorder.entered:
                space["check"](link.export(job["entry"]))
        except BaseException as error:  # noqa: BLE001 - every end of a test is data
            recorder.caught(index, error)
        else:
            if not job["inside"]:
                recorder.passed(index)
            elif (lost := recorder.lost()) is not None:
                recorder.caught(index, lost)
    pipe.send(b"E", encode_frame(job["nonce"]))
    vars(posix)["_exit"](0)


if __name__ == "__main__":
    run(int(sys.argv.pop()))
