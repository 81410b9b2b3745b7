"""The question whether tools that a server has changed may be used, with a word diff."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.display import DiffDisplay
from agent.mcp.configuration.tool_pins import ToolChange
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, MUTED, Ink, Row
from tui.text.wrap import wrap
from tui.transcript.diff.change_rows import diff_rows


def changed_tools(server: str, changes: Sequence[ToolChange]) -> ChoiceDialog[bool]:
    """Return the question about all changes of one server."""
    return ChoiceDialog(
        f"MCP server {reveal(server)}: changed since you approved it",
        _body(changes),
        "Use them as they are now?",
        [
            (Choice("Yes", "until they change again"), True),
            (Choice("No", "they stay withheld"), False),
        ],
        grants_trust=True,
    )


def _body(changes: Sequence[ToolChange]) -> Callable[[int], Sequence[Row]]:
    def rows(width: int) -> list[Row]:
        body: list[Row] = []
        for change in changes:
            name = reveal(change.name) or "instructions"
            what = "new" if change.old_text is None else "changed"
            body += wrap([(name, Ink(Role.CODE, bold=True)), (f"  {what}", MUTED)], width)
            display = DiffDisplay("", _readable(change.old_text or ""), _readable(change.now))
            body += diff_rows(display, width, highlighter=Highlighter(), indent=0)
            body.append(BLANK)
        return body[:-1]

    return rows


def _readable(text: str) -> str:
    """Return a pinned text with its escaped line breaks restored."""
    return reveal(text.replace("\\n", "\n"))
