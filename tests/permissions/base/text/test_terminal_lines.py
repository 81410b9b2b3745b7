"""Messages on a terminal."""

from __future__ import annotations

import io
import os
import pty
import termios

from permissions.base.text.terminal_lines import write_message


def test_a_message_on_a_terminal_breaks_between_words() -> None:
    reader, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 40))
    with os.fdopen(terminal, "w") as stream, os.fdopen(reader, "rb", buffering=0) as shown:
        write_message(
            stream, "agent-tui: No model is configured. Set ANTHROPIC_API_KEY, or read\n  on."
        )
        stream.flush()
        assert shown.read(1_000).decode().splitlines() == [
            "agent-tui: No model is configured. Set",
            "ANTHROPIC_API_KEY, or read",
            "  on.",
        ]


def test_a_message_elsewhere_stays_one_line() -> None:
    stream = io.StringIO()
    write_message(stream, "agent-tui: " + "word " * 40)
    assert stream.getvalue().count("\n") == 1
