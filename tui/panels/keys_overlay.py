"""`?` on an empty prompt: an overview of the main keys; the next key closes it and is typed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.input.keymap import Keymap
from tui.ports.command_screen import CommandScreen
from tui.screen.width import text_width
from tui.text.styled_rows import ACCENT, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip

_TWO_COLUMNS_CELLS: Final = 76
_SIGNS: Final = (("/", "commands"), ("@", "files and folders"), ("!", "run a shell command"))
_ACTIONS: Final = (
    ("chat:cycleMode", "permission mode"),
    ("chat:cancel", "interrupt"),
    ("chat:rewind", "clear, or rewind"),
    ("app:toggleTranscript", "transcript"),
    ("app:commandPalette", "command palette"),
    ("history:search", "search prompts"),
    ("history:previous", "previous prompt"),
    ("app:toggleTodos", "task list"),
    ("task:background", "to the background"),
    ("chat:newline", "line break"),
    ("chat:undo", "undo"),
    ("chat:stash", "stash or restore draft"),
    ("chat:externalEditor", "edit in $EDITOR"),
    ("chat:imagePaste", "paste an image"),
    ("chat:modelPicker", "model and effort"),
    ("app:interrupt", "interrupt (twice: quit)"),
    ("app:suspend", "suspend"),
)
"""The most important actions first, with descriptions that are short enough for two columns."""


class KeysOverlay(GivesAnswer[str]):
    """A table of keys; its answer is the text of the key or paste that closes it."""

    key_handling = KeyHandling((), is_guarded=False)

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        """`pairs` are keys with their descriptions."""
        self._pairs = pairs
        super().__init__()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Close; the answer is the typed text, or "" for a second `?`."""
        self.give(text if text.isprintable() and text != "?" else "")

    def paste(self, text: str) -> None:
        """Close, and pass the text to the prompt."""
        self.give(text)

    def choose(self, choice: int) -> None:
        """Ignore clicks: there are no choices."""

    def view(self, width_cells: int) -> DialogView:
        """Return the table, in two columns if they fit."""
        title = (("Keys", Ink(Role.ACCENT, bold=True)),)
        hint = "any key closes · /help for all shortcuts"
        foot = FooterRow(row("   ", (hint, MUTED)), is_optional=True)
        if width_cells < _TWO_COLUMNS_CELLS:
            return DialogView(
                title, [self._row([pair], width_cells) for pair in self._pairs], [foot]
            )
        half = (len(self._pairs) + 1) // 2
        both = zip_longest(self._pairs[:half], self._pairs[half:])
        rows = [self._row([pair for pair in pairs if pair], width_cells) for pairs in both]
        return DialogView(title, rows, [foot])

    def _row(self, pairs: Sequence[tuple[str, str]], width: int) -> Row:
        keys = max(text_width(key) for key, _ in self._pairs) + 2
        column = width - 4 if width < _TWO_COLUMNS_CELLS else (width - 4) // 2
        runs: list[Run] = [("   ", TEXT)]
        for key, what in pairs:
            cell = clip(
                [(key, ACCENT), (" " * (keys - text_width(key)), TEXT), (what, MUTED)], column - 2
            )
            cell_width = sum(text_width(text) for text, _ in cell)
            runs += [*cell, (" " * (column - cell_width), TEXT)]
        return row(*clip(runs, width - 1), is_copied=False)


async def open_keys(screen: CommandScreen) -> None:
    """Show the keys until the next one is pressed, whose text is inserted into the prompt."""
    text = await screen.show_dialog(KeysOverlay(main_keys(screen.keys.keymap)))
    if text:
        screen.composer.edit(lambda buffer: buffer.insert(text))


def main_keys(keymap: Keymap) -> list[tuple[str, str]]:
    """Return the current main keys with their descriptions; unbound actions are left out."""
    bindings = [
        (keymap.display(action_id), what)
        for action_id, what in _ACTIONS
        if keymap.display(action_id)
    ]
    return [*_SIGNS, *bindings]
