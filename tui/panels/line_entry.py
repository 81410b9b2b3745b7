"""A dialog for one line of text: a question, a field, Enter and Esc."""

from __future__ import annotations

from collections.abc import Callable

from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.editing.draft import Draft
from tui.editing.edit_keys import EDIT_KEYS
from tui.editing.text_buffer import TextBuffer
from tui.screen.width import text_width
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Run, row
from tui.text.wrap import clip, wrap


class LineEntry(GivesAnswer[str | None]):
    """A dialog whose answer is the typed line; None for Esc."""

    def __init__(
        self,
        title: str,
        question: str,
        hint: str = "enter ask · esc back",
        text: str = "",
        *,
        address: str = "",
        copy: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`question` explains what to type, with an example; `hint` what Enter does.

        `text` is the initial content of the field. `address` is a part of the question: it is shown
        as a link, and Tab passes it to `copy`.
        """
        # The user opened it, so keys typed now are meant for it.
        self.key_handling = KeyHandling(is_guarded=False)
        self._hint = hint
        self._title = title
        self._question = question
        self._address = address
        self._copy = copy
        self._buffer = TextBuffer(Draft.of_text(text))
        super().__init__()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: edit the line, Enter or Esc."""
        if key == "enter":
            self.give(self._buffer.draft.expanded_text.strip() or None)
        elif key == "escape":
            self.give(None)
        elif key == "tab" and self._address:
            self._copy(self._address)
        elif (edit := EDIT_KEYS.get(key)) is not None:
            edit(self._buffer)
        elif text and text.isprintable():
            self._buffer.insert(text)

    def paste(self, text: str) -> None:
        """Insert pasted text, as one line."""
        self._buffer.insert(" ".join(text.split()))

    def choose(self, choice: int) -> None:
        """Ignore clicks: there are no choices."""

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width; of a long line only the part around the cursor is shown."""
        width = max(1, width_cells - 6)
        visible_text, cursor_cells = self._visible(width - 1)
        field = row(*clip([(" ❯ ", Ink(Role.ACCENT)), (visible_text, TEXT)], width_cells - 1))
        head, address, tail = self._question.partition(self._address or "\0")
        link = Ink(Role.LINK, link=self._address or None)
        question: list[Run] = [(head, MUTED), (address, link), (tail, MUTED)]
        body = [row("   ", *line.runs) for line in wrap(question, width)]
        foot = row(*clip([(f"   {self._hint}", MUTED)], width_cells - 1))
        return DialogView(
            ((self._title, Ink(Role.ACCENT, bold=True)),),
            body,
            [FooterRow(field, None, True, 3 + cursor_cells), FooterRow(foot)],
        )

    def _visible(self, width: int) -> tuple[str, int]:
        """Return the visible part of the line, and the width before the cursor in cells."""
        draft = self._buffer.draft
        head, tail = (
            shown_line("".join(draft.chips[c].label if c in draft.chips else c for c in part))
            for part in (draft.text[: draft.cursor], draft.text[draft.cursor :])
        )
        head = head[-width:]
        while text_width(head) > width:
            head = head[1:]
        return head + tail, text_width(head)
