"""A provider on this machine that answers, refuses, hangs or hangs up as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRET = "sk-not-a-real-key-0123456789"
DONE = "[DONE]"
"""What a stream of the OpenAI protocol ends with."""


class LoopbackProvider:
    """Serves `answers` in order, the last one for ever: (status, headers, body), "hang" or "drop".

    A list is a reply in pieces, each sent by itself; one that does not end with `DONE` breaks off.
    """

    def __init__(self) -> None:
        self.answers: deque[Any] = deque()
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.asked = threading.Event()
        self.released = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                provider.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                provider.asked.set()
                answer = provider.answers.popleft() if len(provider.answers) > 1 else provider.answers[0]
                if answer == "hang":
                    provider.released.wait(10)
                if isinstance(answer, str):
                    self.close_connection = True
                    return
                if isinstance(answer, list):
                    self.stream(answer)
                    return
                status, headers, content = answer
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, pieces: list[Any]) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for piece in pieces:
                    line = piece if isinstance(piece, str) else json.dumps(piece)
                    data = f"data: {line}\n\n".encode()
                    self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    self.wfile.flush()
                self.close_connection = pieces[-1] != DONE
                self.wfile.write(b"" if self.close_connection else b"0\r\n\r\n")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def says(self, *answers: Any) -> LoopbackProvider:
        self.answers = deque(answers)
        return self

    def stop(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def chat(content: str | None = "hi", *, finish_reason: str = "stop", tool_calls: Any = None) -> Any:
    """A reply of the OpenAI chat-completions protocol."""
    message = {"role": "assistant", "content": content} | ({"tool_calls": tool_calls} if tool_calls else {})
    return (
        200,
        {},
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        },
    )


def piece(content: str | None = None, finish_reason: str | None = None, **delta: Any) -> Any:
    """One piece of a streamed reply of the same protocol."""
    delta |= {} if content is None else {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": finish_reason, "delta": delta}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def used(read: int, written: int) -> Any:
    """The piece that says what a streamed reply used."""
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return piece() | {"choices": [], "usage": usage}


def openai_error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Any:
    """A refusal of the OpenAI protocol."""
    return status, headers or {}, {"error": {"message": message, "type": "some_error", "code": code, "param": None}}
