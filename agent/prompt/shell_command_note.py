"""The note for the model about a shell command that the user ran with `!`, and its display.

Next: `tui.prompt.bang_command` (runs it), `agent.session.archive.transcript_export` (writes it for
readers).
"""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

OPENING: Final = "<bash-input>"
"""First characters of such a note."""
NOTE: Final = compile_late(
    r"<bash-input>(?P<command>.*?)</bash-input>\s*<bash-output>(?P<output>.*)</bash-output>"
    r"(?:<bash-exit>(?P<exit>.*)</bash-exit>)?",
    re.DOTALL,
)


def note_of(command: str, output: str, exit_code: int | None) -> str:
    """Return the note with command, output, and the exit status unless it is 0."""
    status = "" if exit_code == 0 else f"<bash-exit>{exit_code}</bash-exit>"
    return f"{OPENING}{command}</bash-input>\n<bash-output>{output}</bash-output>{status}"


def as_typed(text: str) -> str:
    """Return a user's message as typed: `!command` if it is the note about a command."""
    note = NOTE.fullmatch(text.strip())
    return f"!{note['command']}" if note else text
