"""A shell command that the user ran with `!`: how it is presented to the model, and to users.

Next: `tui.prompt.bang_command` (runs it), `agent.session.archive.transcript_export` (writes it for
readers).
"""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

OPENING: Final = "<bash-input>"
"""What the model's text of such a command begins with."""
NOTE: Final = compile_late(
    r"<bash-input>(?P<command>.*?)</bash-input>\s*<bash-output>(?P<output>.*)</bash-output>"
    r"(?:<bash-exit>(?P<exit>.*)</bash-exit>)?",
    re.DOTALL,
)


def note_of(command: str, output: str, exit_code: int | None) -> str:
    """Return command and output as the model receives them; the exit status unless it is 0."""
    status = "" if exit_code == 0 else f"<bash-exit>{exit_code}</bash-exit>"
    return f"{OPENING}{command}</bash-input>\n<bash-output>{output}</bash-output>{status}"


def as_typed(text: str) -> str:
    """Return a user's message as it was typed: `!command` for the note of a command."""
    note = NOTE.fullmatch(text.strip())
    return f"!{note['command']}" if note else text
