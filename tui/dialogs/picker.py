"""A list to pick one thing from: a message to go back to, a theme, a model."""

from __future__ import annotations

from collections.abc import Sequence

from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import Answered, DialogView, FooterRow
from tui.text.ink import BLANK, MUTED, TEXT, Ink, indented, row
from tui.text.wrap import wrap


class PickerDialog:
    """Asks for one of several things."""

    def __init__(
        self, title: str, question: str, choices: Sequence[Choice], *, selected: int = 0
    ) -> None:
        """Open with one selected; there must be at least one."""
        self._title = title
        self._question = question
        self._choices = ChoiceList(choices, selected)
        self._answered: Answered[int | None] = Answered()

    @property
    def is_done(self) -> bool:
        """Whether something was picked, or nothing."""
        return self._answered.is_done

    async def wait(self) -> int | None:
        """Return the index of what was picked; None when the person closed the list."""
        return await self._answered.wait()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Move, pick or close."""
        choices = self._choices
        if key.isdigit() and 0 < int(key) <= len(choices.choices):
            self._answered.give(int(key) - 1)
            return
        match action_id:
            case "confirm:yes" if key == "enter":
                self._answered.give(choices.selected)
            case "confirm:no" if key == "escape":
                self._answered.give(None)
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case _:
                pass

    def paste(self, text: str) -> None:
        """Ignore pastes: there is nothing to type."""

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected one picks it."""
        if self._choices.selected == choice:
            self._answered.give(choice)
        else:
            self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        pad = (("   ", TEXT),)
        lines = wrap([(self._question, TEXT)], max(1, width_cells - 4))
        footer = [
            FooterRow(BLANK, is_optional=True),
            *self._choices.rows(width_cells),
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(pad[0], ("↑↓ enter · esc close", MUTED)), is_optional=True),
        ]
        title = ((self._title, Ink(Role.ACCENT, bold=True)),)
        return DialogView(title, indented(lines, pad, pad), footer)
