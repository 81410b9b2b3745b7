"""A dialog with one question and a few answers, without text input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, indent_rows, row
from tui.text.wrap import wrap

AnswerT = TypeVar("AnswerT")

_PAD: Final = (("   ", TEXT),)
_INDENT: Final = 4
_HINT: Final = "↑↓ select · enter confirm · esc "


class ChoiceDialog(GivesAnswer[AnswerT]):
    """Shows a text and a question; Esc gives the last answer."""

    def __init__(
        self,
        title: str,
        body: Callable[[int], Sequence[Row]],
        question: str,
        answers: Sequence[tuple[Choice, AnswerT]],
        *,
        grants_trust: bool = False,
    ) -> None:
        """Open with the first answer selected; `body` takes a width in cells.

        With `grants_trust`, the first answer lets something run that the user has not reviewed, so
        the last one is selected: Enter alone never trusts.
        """
        self.ignored_keys = 0
        self._title = title
        self._body = body
        self._question = question
        self._answers = [answer for _, answer in answers]
        self._choices = ChoiceList(
            [choice for choice, _ in answers],
            selected_index=len(answers) - 1 if grants_trust else 0,
        )
        super().__init__()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Choose an answer or move the selection."""
        if key.isdigit() and 0 < int(key) <= len(self._answers):
            self._decide(int(key) - 1)
            return
        match action_id:
            case "confirm:yes":
                self._decide(0 if key == "y" else self._choices.selected_index)
            case "confirm:no":
                self._decide(len(self._answers) - 1)
            case "confirm:previous":
                self._choices.move(-1)
            case "confirm:next":
                self._choices.move(1)
            case _:
                self.ignored_keys += 1

    def paste(self, _text: str) -> None:
        """Ignore pasted text: there is no field."""
        self.ignored_keys += 1

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected_index == choice:
            self._decide(choice)
        else:
            self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        width = max(1, width_cells - _INDENT)
        question = wrap([(self._question, Ink(bold=True))], width)
        last = self._choices.choices[-1].label.lower()
        footer = [
            FooterRow(BLANK, is_optional=True),
            *(FooterRow(line) for line in indent_rows(question, _PAD, _PAD)),
            *self._choices.rows(width_cells),
            FooterRow(row(_PAD[0], (f"{_HINT}{last}", MUTED)), is_optional=True),
        ]
        title = ((self._title, Ink(Role.ACCENT, bold=True)),)
        return DialogView(title, indent_rows(list(self._body(width)), _PAD, _PAD), footer)

    def _decide(self, index: int) -> None:
        self.give(self._answers[index])
