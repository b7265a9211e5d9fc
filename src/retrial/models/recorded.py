"""Replies read back from a file: the same answers again, offline and free. Knows the file's form and no provider.

One JSON object a line: ``v`` (1), ``key``, ``digest``, ``role``, ``model``, ``request``, ``response``. No times and no
headers, so that two recordings of the same run differ only where the replies do.

A call is answered by the first of these that holds something:

1. replies recorded under its key and its request digest,
2. replies recorded for its request digest under any key.

Several replies in one place are given in the order recorded, and after the last one the last is repeated: so a second
run in the same process is answered, and one recording serves any number of samples. The two places keep count apart,
so that a call under its recorded key gets its own reply whatever was asked before.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from retrial.core.codec import decode, encode
from retrial.core.keys import digest
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.errors import ConfigError, NoRecordedReply
from retrial.models.nearest import nearest_request

__all__ = ["VERSION", "RecordedClient", "RecordedReply", "read_recording", "request_digest"]

VERSION = 1
"""The form of the lines that this module reads and ``recording`` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReply:
    """One line of a recording."""

    v: int
    """The form of the line: 1."""
    key: str
    """The call path that asked."""
    digest: str
    """SHA-256 of the request's canonical JSON."""
    role: str
    """The part that the model played."""
    model: str
    """The model that answered, as ``provider:name``."""
    request: ModelRequest
    """What was asked; kept so that a miss can name the nearest request."""
    response: ModelResponse
    """What was answered."""


@dataclass(slots=True)
class _Queue:
    """Replies in the order recorded; the last one is repeated."""

    replies: list[RecordedReply] = field(default_factory=list[RecordedReply])
    given: int = 0

    def take(self) -> ModelResponse:
        reply = self.replies[min(self.given, len(self.replies) - 1)]
        self.given += 1
        return reply.response


def request_digest(request: ModelRequest) -> str:
    """Return the digest that recordings know ``request`` by."""
    return digest(encode(request))


def read_recording(path: Path) -> tuple[tuple[RecordedReply, ...], str]:
    """Read a recording: its replies, and a warning where the last line was cut off while it was written.

    Raises:
        ConfigError: if the file is missing or empty, or another line than the last is broken.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"cannot read the recording {str(path)!r}: {reason}; make one with --record") from error
    torn = lines.pop()
    replies = tuple(_read_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip())
    if not replies:
        raise ConfigError(f"the recording {str(path)!r} holds no reply; make one with --record")
    warning = f"the last line of {str(path)!r} was cut off and is left out" if torn.strip() else ""
    return replies, warning


def _read_line(path: Path, number: int, line: bytes) -> RecordedReply:
    try:
        data: Any = json.loads(line)
        version = data["v"]
        if version == VERSION:
            return decode(RecordedReply, data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"line {number} of the recording {str(path)!r} is broken ({error})"
        raise ConfigError(f"{reason}; delete the line, or record again with --record") from error
    raise ConfigError(
        f"line {number} of the recording {str(path)!r} has form {version!r}, and this version of retrial reads "
        f"{VERSION}; record again with --record"
    )


class RecordedClient:
    """Answers from a recording, and raises NoRecordedReply for what it does not hold.

    Token counts and cost of a replayed reply are those of the recording, so that a replayed run adds up to the same
    numbers; nothing is paid.

    Raises:
        ConfigError: if the file is missing, empty or broken.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = f"recorded:{path}"
        replies, self.warning = read_recording(self.path)
        self._replies = replies
        self.models: tuple[str, ...] = tuple(sorted({reply.model for reply in replies if reply.model}))
        self._by_key: defaultdict[tuple[str, str], _Queue] = defaultdict(_Queue)
        self._by_digest: defaultdict[str, _Queue] = defaultdict(_Queue)
        for reply in replies:
            self._by_key[reply.key, reply.digest].replies.append(reply)
            self._by_digest[reply.digest].replies.append(reply)

    def __repr__(self) -> str:
        return f"RecordedClient({str(self.path)!r})"

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Look up the reply.

        Raises:
            NoRecordedReply: naming the nearest recorded request and where it differs.
        """
        asked = request_digest(request)
        queue = self._by_key.get((key, asked)) or self._by_digest.get(asked)
        if queue is not None:
            return queue.take()
        known = [(reply.key, reply.role, cast("dict[str, Any]", encode(reply.request))) for reply in self._replies]
        nearest = nearest_request(key, request.role, encode(request), known)
        raise NoRecordedReply(
            f"{str(self.path)!r} holds no reply for {key!r}; {nearest}; record again with --record to have one"
        )
