"""Writes a recording while a run goes on. Knows the file's form (from ``recorded``) and no provider.

Recording appends: a run that is resumed goes on in the same file. To record afresh, delete the file first; otherwise
the older replies to the same requests are the first ones to be replayed. Failed calls are not recorded.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

from retrial.core.codec import encode
from retrial.core.messages import ModelRequest, ModelResponse
from retrial.errors import ConfigError
from retrial.models.client import ModelClient, Wrapper
from retrial.models.recorded import VERSION, RecordedReply, read_recording, request_digest

__all__ = ["RecordingClient"]


class RecordingClient(Wrapper):
    """Passes every request on to ``client`` and appends the reply to ``path`` before it is used.

    Safe for any number of asyncio tasks, and for several processes on one local file: a line is one write. A last
    line that an earlier process could not finish is cut off first.

    Raises:
        ConfigError: if the file cannot be written, or holds something else than a recording.
    """

    def __init__(self, client: ModelClient, path: str | Path) -> None:
        super().__init__(client)
        self._stopped = False
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab"):
                pass
            if self.path.stat().st_size:
                _cut_torn_line(self.path)
        except OSError as error:
            raise ConfigError(f"cannot record to {str(path)!r}: {error.strerror or error}") from error

    def __repr__(self) -> str:
        return f"RecordingClient({self.client!r}, {str(self.path)!r})"

    async def complete(self, request: ModelRequest, key: str) -> ModelResponse:
        """Ask the client, and make the reply durable."""
        response = await self.client.complete(request, key)
        reply = RecordedReply(
            v=VERSION,
            key=key,
            digest=request_digest(request),
            role=request.role,
            model=response.model or self.client.name,
            request=request,
            response=response,
        )
        if not self._stopped:
            try:
                _append(self.path, json.dumps(encode(reply), ensure_ascii=False))
            except OSError as error:
                # The reply is paid for and goes on to the journal; half a line would spoil the recording.
                self._stopped = True
                warnings.warn(f"replies are no longer recorded in {self.path}: {error.strerror}", UserWarning, 2)
        return response


def _append(path: Path, line: str) -> None:
    """Write one line in one piece and wait until it is on disk.

    A lone surrogate is no UTF-8 but legal JSON when escaped, and backslashreplace writes just that escape.
    """
    data = (line + "\n").encode("utf-8", "backslashreplace")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cut_torn_line(path: Path) -> None:
    """Make sure that ``path`` is a recording that ends with a whole line."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole:
        read_recording(path)
    elif not data.startswith(b'{"v"'):
        raise ConfigError(f"{str(path)!r} is no recording; name another file for --record")
    if whole < len(data):
        os.truncate(path, whole)
