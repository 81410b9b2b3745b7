"""Attaches the terminal to a background session: prints its transcript, sends typed lines."""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Final

import click

from agent.errors import SessionError
from agent.session.archive.transcript_export import export
from agent.session.background_input import BackgroundInput, OpenQuestion
from agent.session.background_runs import BackgroundRun, BackgroundRuns
from permissions.base.text.sanitize import reveal, sanitize

POLL_S: Final = 0.5
"""How often the transcript is checked for changes."""
_HELP: Final = "y: allow it once · n: deny it and stop · n TEXT: deny it and say why"

_SENT: Final = "Sent as a message: the session reads it with its next results."


class AttachedSession:
    """Follows a session until it ends."""

    def __init__(self, runs: BackgroundRuns, run: BackgroundRun, transcript: Path) -> None:
        """`transcript` is the session's file; nothing is printed before `follow`."""
        self._runs = runs
        self._run = run
        self._transcript = transcript
        self._input: BackgroundInput = runs.input_of(run)
        self._stdin_fd: int | None = _standard_input()
        self._line = b""
        self._printed_length = 0
        self._size = -1
        self._question: OpenQuestion | None = None
        self._messages: list[str] = []

    def follow(self) -> None:
        """Print what happens and send typed lines; return when the session has ended."""
        while self._runs.is_alive(self._run):
            self._print_news()
            self._print_question()
            self._read_for(POLL_S)
        self._print_news()
        transcript_words = " ".join(self._text().split())
        for message in self._messages:
            if " ".join(sanitize(message).split()) not in transcript_words:
                click.echo(f"\nIt ended before reading: {sanitize(message)}", nl=False)
        state = self._runs.state(self._run)
        click.echo(
            f"\n{self._run.id} has ended ({state}). Continue: agent-tui -r {self._run.session_id}"
        )

    def _print_news(self) -> None:
        try:
            size = self._transcript.stat().st_size
        except OSError:
            return
        if size == self._size:
            return
        self._size, text = size, self._text()
        if len(text) > self._printed_length:
            click.echo(text[self._printed_length :], nl=False)
            self._printed_length = len(text)

    def _text(self) -> str:
        return transcript_text(self._transcript)

    def _print_question(self) -> None:
        waiting = self._input.questions()
        question = waiting[0] if waiting else None
        previous, self._question = self._question, question
        if question is None or question == previous:
            return
        click.echo(f"\n{question_text(question)}\n({_HELP})")

    def _read_for(self, seconds: float) -> None:
        """Read what is typed within this many seconds."""
        stdin_fds = [] if self._stdin_fd is None else [self._stdin_fd]
        is_readable = bool(select.select(stdin_fds, [], [], seconds)[0])
        if self._stdin_fd is None or not is_readable:
            return
        piece = os.read(self._stdin_fd, 65536)
        if not piece:
            self._stdin_fd = None
        *lines, self._line = (self._line + piece).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if text:
                self._handle_line(text)

    def _handle_line(self, text: str) -> None:
        word, _, comment = text.partition(" ")
        answer = word.lower().rstrip(",:")
        question = self._question
        if (
            question is None
            or answer not in {"y", "yes", "n", "no"}
            or (comment and answer[0] == "y")
        ):
            self._messages.append(text)
            is_delivered = self._input.say(text)
            if is_delivered:
                click.echo(_SENT if question is None else f"{_SENT} The question waits: {_HELP}")
        else:
            allows = answer[0] == "y"
            is_delivered = self._input.answer(question, allows=allows, comment=comment.strip())
        if not is_delivered:
            click.echo("It no longer reads messages: nothing was sent.", err=True)


def question_text(question: OpenQuestion) -> str:
    """Return what a session asks; hidden characters are shown, since the answer is about them."""
    who = f"The agent {question.agent_id}" if question.agent_id else "The session"
    call_text = json.dumps(question.tool_input, ensure_ascii=False, indent=2)
    command = question.tool_input.get("command")
    if isinstance(command, str) and question.tool_input.keys() <= {"command", "description"}:
        description = question.tool_input.get("description")
        call_text = f"{command}\n“{description}”" if description else command
    return reveal(f"{who} asks: {question.tool}\n{call_text}\n{question.reason}")


def transcript_text(path: Path) -> str:
    """Return a session's transcript as text; "" if there is none yet."""
    try:
        return sanitize(export(path, "markdown"))
    except SessionError:
        return ""


def _standard_input() -> int | None:
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):
        return None
