"""One line to type: a question, a field, Enter and Esc."""

from __future__ import annotations

from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, Manners
from tui.screen.width import text_width
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, row
from tui.text.wrap import clip, wrap


class LineEntry(GivesAnswer[str | None]):
    """A dialog that is answered by what was typed; None when it was left."""

    def __init__(self, title: str, question: str, hint: str = "enter ask · esc back") -> None:
        """`question` explains what to type, with an example; `hint` what Enter does."""
        # The user opened it: nothing typed now is a left-over.
        self.manners = Manners(is_guarded=False)
        self._hint = hint
        self._title = title
        self._question = question
        self._text = ""
        super().__init__()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Take a key."""
        if key == "enter":
            self.give(self._text.strip() or None)
        elif key == "escape":
            self.give(None)
        elif key in {"backspace", "ctrl+h"}:
            self._text = self._text[:-1]
        elif key == "ctrl+u":
            self._text = ""
        elif text and text.isprintable():
            self._text += text

    def paste(self, text: str) -> None:
        """Add what was pasted, as one line."""
        self._text += " ".join(text.split())

    def choose(self, choice: int) -> None:
        """Nothing here can be clicked."""

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width; the end of a long line is what is seen of it."""
        width = max(1, width_cells - 6)
        visible_text = shown_line(self._text)
        while text_width(visible_text) > width - 1:
            visible_text = visible_text[1:]
        field = row(*clip([(" ❯ ", Ink(Role.ACCENT)), (visible_text, TEXT)], width_cells - 1))
        body = [row("   ", *line.runs) for line in wrap([(self._question, MUTED)], width)]
        foot = row(*clip([(f"   {self._hint}", MUTED)], width_cells - 1))
        return DialogView(
            ((self._title, Ink(Role.ACCENT, bold=True)),),
            body,
            [FooterRow(field, None, True, 3 + text_width(visible_text)), FooterRow(foot)],
        )
