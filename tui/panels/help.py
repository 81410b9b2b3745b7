"""`/help`: the current keys and all commands, generated from their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tui.input.actions import ACTIONS, Context
from tui.input.keymap import Keymap
from tui.panels.text_panel import TextPanel
from tui.ports.command_screen import CommandScreen
from tui.screen.width import text_width
from tui.text.styled_rows import BLANK, BOLD, MUTED, TEXT, Row, Run, row
from tui.text.wrap import clip

_SHOWN: Final = (Context.GLOBAL, Context.CHAT, Context.TASK, Context.SCROLL)
_ELSEWHERE: Final = {
    Context.TRANSCRIPT: "In the transcript",
    Context.CONFIRMATION: "In a question",
    Context.HISTORY_SEARCH: "In history search",
    Context.AUTOCOMPLETE: "In suggestions",
}
_TWICE: Final = frozenset({"confirm:toggleExplanation"})
"""Actions with the same effect as another one, which is listed."""
_SIGNS: Final = (
    ("/", "commands"),
    ("@", "attach a file or folder"),
    ("!", "run a shell command; the model sees the output"),
    ("\\ enter", "a line break anywhere"),
)


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the help until it is closed."""
    keymap = screen.keys.keymap
    keys = [
        (key, action.description)
        for action in ACTIONS
        if action.context in _SHOWN
        and action.id in screen.keys.action_ids
        and (key := keymap.display(action.id))
    ]
    # In the screen reader mode keys do nothing, so none are listed.
    elsewhere = _ELSEWHERE if screen.keys.action_ids else {}
    others = [(title, _keys_of(keymap, context)) for context, title in elsewhere.items()]
    registry = screen.session.registry
    commands = [
        (f"/{c.meta.name} {c.meta.argument_hint}".rstrip(), c.meta.description)
        for c in registry.list_commands()
    ]

    def rows(width: int) -> Sequence[Row]:
        return [
            *_table("At the start of a prompt", _SIGNS, width),
            *_table("Keys", keys, width),
            *_table("Commands", commands, width),
            *(row for title, pairs in others for row in _table(title, pairs, width)),
        ]

    await screen.show_dialog(TextPanel("Help", rows))


def _keys_of(keymap: Keymap, context: Context) -> list[tuple[str, str]]:
    return [
        (key, action.description)
        for action in ACTIONS
        if action.context is context
        and action.id not in _TWICE
        and (key := keymap.display(action.id))
    ]


def _table(title: str, pairs: Sequence[tuple[str, str]], width: int) -> list[Row]:
    if not pairs:
        return []
    column = min(max((text_width(left) for left, _ in pairs), default=0) + 2, 34)
    rows = [row(("   " + title, BOLD))]
    for left, right in pairs:
        gap = " " * max(2, column - text_width(left))
        runs: list[Run] = [("   ", TEXT), (left, TEXT), (gap, MUTED), (right, MUTED)]
        rows.append(row(*clip(runs, width - 1)))
    return [*rows, BLANK]
