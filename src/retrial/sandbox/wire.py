"""How the library, its launcher and a run's keeper talk: JSON messages with a length before them, on a socket.

Knows nothing of what is said. Both ends are this library; generated code never holds such a socket.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

__all__ = ["receive", "send"]


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    """Send one message."""
    body = json.dumps(message).encode()
    sock.sendall(struct.pack("!I", len(body)) + body)


def receive(sock: socket.socket) -> dict[str, Any] | None:
    """Receive one message; None if the other end is gone."""
    head = _exactly(sock, 4)
    body = None if head is None else _exactly(sock, struct.unpack("!I", head)[0])
    return None if body is None else json.loads(body)


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        try:
            part = sock.recv(min(size, 1 << 20))
        except ConnectionError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
