"""Sends messages, and answers to questions, to a session in the background.

The session reads lines of `stream-json` from a named pipe. It holds both ends itself, so that
writers can come and go; sent lines are also recorded in a file beside the pipe.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.base.files.private_file import exclusive, make_private_file

MAX_TAIL_BYTES: Final = 1_000_000
FLAGS: Final = ("--input-format", "stream-json", "--permission-prompt-tool", "stdio")
"""Options with which a session reads the pipe, and asks over its output."""


class OpenQuestion(Struct, frozen=True):
    """A call that waits for the user's permission."""

    request_id: str
    tool: str
    tool_input: Mapping[str, object]
    reason: str
    agent_id: str | None


class BackgroundInput:
    """The input of one run."""

    def __init__(self, directory: Path) -> None:
        """`directory` is the directory of the run."""
        self._pipe = directory / "input"
        self._sent_file = directory / "sent.jsonl"
        self._output = directory / "output.jsonl"

    def make(self) -> int:
        """Create the pipe and return its descriptor, for the run to inherit. Raises OSError."""
        os.mkfifo(self._pipe, 0o600)
        make_private_file(self._sent_file)
        return os.open(self._pipe, os.O_RDWR)

    def reading(self, argv: Sequence[str]) -> tuple[str, ...]:
        """Return the command with the pipe as its standard input."""
        return ("/bin/sh", "-c", 'exec "$@" 0<>"$0"', str(self._pipe), *argv)

    def say(self, text: str) -> bool:
        """Send a message; return False if the run no longer reads."""
        return self._send({"type": "user", "message": {"role": "user", "content": text}})

    def answer(self, question: OpenQuestion, *, allows: bool, comment: str = "") -> bool:
        """Answer a question; return False if the run no longer reads."""
        decision: dict[str, object] = {"behavior": "allow"}
        if not allows:
            decision = {"behavior": "deny", "message": comment, "interrupt": not comment}
        answer = {"subtype": "success", "request_id": question.request_id, "response": decision}
        return self._send({"type": "control_response", "response": answer})

    def questions(self) -> tuple[OpenQuestion, ...]:
        """Return the open questions, the oldest first."""
        open_questions: dict[str, OpenQuestion] = {}
        for line in _lines(self._output):
            request_id, request = str(line.get("request_id")), line.get("request")
            if line.get("type") == "control_cancel_request":
                open_questions.pop(request_id, None)
            elif isinstance(request, Mapping) and request.get("subtype") == "can_use_tool":
                open_questions[request_id] = _question(request_id, request)
        for line in _lines(self._sent_file) if open_questions else ():
            response = line.get("response")
            if isinstance(response, Mapping):
                open_questions.pop(str(response.get("request_id")), None)
        return tuple(open_questions.values())

    def _send(self, line: Mapping[str, object]) -> bool:
        data = json.dumps(line).encode() + b"\n"
        try:
            with exclusive(self._sent_file):
                pipe = os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
                try:
                    os.set_blocking(pipe, True)
                    while data:
                        data = data[os.write(pipe, data) :]
                finally:
                    os.close(pipe)
                with self._sent_file.open("a") as log:
                    log.write(json.dumps(line) + "\n")
        except OSError:
            return False
        return True


def _question(request_id: str, request: Mapping[str, object]) -> OpenQuestion:
    tool_input, agent_id = request.get("input"), request.get("agent_id")
    return OpenQuestion(
        request_id,
        str(request.get("tool_name")),
        tool_input if isinstance(tool_input, Mapping) else {},
        str(request.get("decision_reason") or ""),
        str(agent_id) if agent_id else None,
    )


def _lines(path: Path) -> Iterator[Mapping[str, object]]:
    """Yield the objects at the end of a file of JSON lines."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict):
                yield value
