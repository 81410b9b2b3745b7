"""The content of the transcript before the first message."""

from __future__ import annotations

from themes.theme import Role
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, row

_ABOUT = (
    "Ask for a change, a fix, or an explanation of this project.",
    "It asks before it writes or runs what you have not allowed.",
)
_ABOUT_DEMO = (
    "The demo: a scripted model, a real program, a copy of a small project.",
    "Try: The total of the basket is wrong. Find out why and fix it.",
)


def welcome_rows(version: str, directory: str, *, is_demo: bool = False) -> list[Row]:
    """Return name, version, folder, and the three things worth knowing."""
    name = "agent-tui" + (f" {version}" if version else "")
    return [
        BLANK,
        row(("   ", TEXT), (name, Ink(Role.HEADING, bold=True)), ("  " + directory, MUTED)),
        BLANK,
        *(row((f"   {line}", MUTED)) for line in (_ABOUT_DEMO if is_demo else _ABOUT)),
        row(("   shift+tab changes how much it asks, ? shows the keys.", MUTED)),
    ]
