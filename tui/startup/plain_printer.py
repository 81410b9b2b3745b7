"""Prints a conversation as plain lines, for output that is not a terminal."""

from __future__ import annotations

import difflib
from typing import Final, TextIO

from agent.display import CommandDisplay, DiffDisplay
from agent.events import (
    AgentEvent,
    ErrorEvent,
    MessageCommitted,
    Notice,
    PermissionResolved,
    Terminal,
    ToolDispatch,
    ToolResult,
)
from permissions.base.text.sanitize import sanitize

MAX_RESULT_LINES: Final = 12


class PlainPrinter:
    """Writes events as text for users, without control characters."""

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`, which is flushed after each line."""
        self._stream = stream

    def prompt(self, text: str) -> None:
        """Write the user's prompt."""
        self._write(f"> {text}\n")

    def event(self, event: AgentEvent) -> None:
        """Write an event; most have no output."""
        match event:
            case MessageCommitted() if event.message.role == "assistant" and event.message.text:
                self._write(f"{event.message.text.strip()}\n")
            case ToolDispatch():
                self._write(f"* {event.identifier}")
            case ToolResult():
                self._result(event)
            case PermissionResolved():
                self._write(f"  {event.decision.behavior}: {event.decision.message}")
            case Notice() | ErrorEvent():
                text = event.text if isinstance(event, Notice) else event.message
                self._write(f"! {text}")
            case Terminal(agent_id=None) if event.reason != "completed":
                self._write(f"! stopped: {event.reason} {event.detail}".rstrip())
            case _:
                pass

    def _result(self, event: ToolResult) -> None:
        display = event.display
        if isinstance(display, DiffDisplay):
            lines = list(
                difflib.unified_diff(
                    display.old.splitlines(),
                    display.new.splitlines(),
                    f"a/{display.path}",
                    f"b/{display.path}",
                    lineterm="",
                )
            )
        elif isinstance(display, CommandDisplay):
            lines = display.output.splitlines()
        elif event.is_error and event.outcome != "denied":
            lines = event.text.splitlines()
        else:
            # A denial was written with its decision; other results are for the model only.
            lines = []
        # A single extra line is shown: the note that it was left out would take a line as well.
        visible_lines = lines if len(lines) == MAX_RESULT_LINES + 1 else lines[:MAX_RESULT_LINES]
        for line in visible_lines:
            self._write(f"  {line}")
        if len(lines) > len(visible_lines):
            self._write(f"  … {len(lines) - len(visible_lines)} more lines")
        self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(sanitize(text) + "\n")
        self._stream.flush()
