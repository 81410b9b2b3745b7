"""What stands in the transcript before the first message."""

from __future__ import annotations

from themes.theme import Role
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, row


def welcome_rows(version: str, folder: str) -> list[Row]:
    """Return name, version, folder, and the three things worth knowing."""
    name = "agent-tui" + (f" {version}" if version else "")
    return [
        BLANK,
        row(("   ", TEXT), (name, Ink(Role.HEADING, bold=True)), ("  " + folder, MUTED)),
        BLANK,
        row(("   Ask for a change, a fix, or an explanation of this project.", MUTED)),
        row(("   It asks before it writes or runs what you have not allowed.", MUTED)),
        row(("   shift+tab changes how much it asks, ? shows the keys.", MUTED)),
    ]
