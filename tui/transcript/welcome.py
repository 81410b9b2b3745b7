"""The content of the transcript before the first message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from permissions.mode import Mode
from themes.theme import Role
from tui.text.styled_rows import ACCENT, BLANK, FAINT, MUTED, TEXT, Ink, Row, row
from tui.text.wrap import clip

RECENT_SESSIONS: Final = 3
_TITLE_CELLS: Final = 60
_ABOUT: Final[Mapping[Mode, str]] = {
    Mode.DEFAULT: "It asks before changing files or running commands.",
    Mode.ACCEPT_EDITS: "It changes files of the project without asking.",
    Mode.PLAN: "It reads and makes a plan, and changes nothing before you approve.",
    Mode.AUTO: "It asks only about calls that a classifier does not allow.",
    Mode.DONT_ASK: "It does not ask. Calls that no rule allows are denied.",
    Mode.BYPASS: "It changes files and runs commands without asking.",
}
_ABOUT_DEMO = (
    "The demo: a scripted model, a real program, a copy of a small project.",
    "Try: The total of the basket is wrong. Find out why and fix it.",
)
_TIPS: Final = (
    "Ctrl+O reads and searches the conversation.",
    "Esc Esc rewinds the conversation and the files.",
    "Ctrl+Y in a permission dialog says why it asks.",
    "!command runs in the shell; the model sees it.",
    "@ adds a file, Ctrl+R finds an earlier prompt.",
    "Ctrl+B moves a running command to the background.",
    "Ctrl+X C copies the last code block, /copy any answer.",
    "/permissions advise proposes rules to be asked less.",
    "/btw asks a question beside the conversation.",
)


class RecentSession(Struct, frozen=True):
    """One of the project's latest sessions."""

    title: str
    when: str


def welcome_rows(
    version: str,
    directory: str,
    *,
    mode: Mode = Mode.DEFAULT,
    is_demo: bool = False,
    recent: Sequence[RecentSession] = (),
    tip: str = "",
) -> list[Row]:
    """Return the header's rows: name, version, directory, hints, and the latest sessions."""
    name = "agent-tui" + (f" {version}" if version else "")
    rows = [
        BLANK,
        row(("   ◆ ", ACCENT), (name, Ink(Role.HEADING, bold=True)), (f"  {directory}", MUTED)),
        BLANK,
        *(row((f"     {line}", MUTED)) for line in (_ABOUT_DEMO if is_demo else (_ABOUT[mode],))),
        row(("     shift+tab: permission mode · ?: shortcuts", MUTED)),
    ]
    if recent:
        rows += [BLANK, row(("     Recent conversations", Ink(bold=True)), ("  /resume", MUTED))]
        for session in recent:
            title = clip([(session.title, TEXT)], _TITLE_CELLS)
            rows.append(row(("     · ", FAINT), *title, (f"  {session.when}", MUTED)))
    if tip:
        rows += [BLANK, row(("     Tip: ", ACCENT), (tip, MUTED))]
    return rows


def tip_for(number: int) -> str:
    """Return a tip; consecutive numbers have different tips."""
    return _TIPS[number % len(_TIPS)]
