"""One question of the form: its options, marked options, and answer; without key handling."""

from __future__ import annotations

from typing import Final

from agent.tools.services import Question
from permissions.base.text.sanitize import reveal
from tui.dialogs.choices import Choice, ChoiceList

OTHER: Final = "Other"
_ONLY: Final = "Answer"
_OTHER_HINT: Final = "your own answer…"
_ANSWERED: Final = " ✓"


class QuestionStep:
    """A question and the state of its answer."""

    def __init__(self, question: Question) -> None:
        """Start unanswered, with the first answer selected."""
        self.question = question
        self.answer: str | None = None
        """The answer as the model receives it; None until the question is answered."""
        self._marked_indexes: set[int] = set()
        self._taken_index: int | None = None
        self.choices = ChoiceList(self._make_choices())

    @property
    def is_multiple(self) -> bool:
        """Whether several answers may be marked."""
        return self.question.multi_select

    @property
    def preview(self) -> str:
        """The preview of the selected option; may be empty."""
        index = self.choices.selected_index
        return "" if self.is_free_answer(index) else self.question.options[index].preview

    @property
    def free_answer(self) -> str:
        """The user's free answer; "" without one."""
        return self.choices.comment(len(self.question.options))

    @property
    def current_answer(self) -> str:
        """The answer, or what is marked and typed so far."""
        return self._marked_answer if self.answer is None else self.answer

    @property
    def _marked_answer(self) -> str:
        """The labels of marked options and the free answer, joined with commas."""
        labels = [self.question.options[i].label for i in sorted(self._marked_indexes)]
        return ", ".join([*labels, *([self.free_answer] if self.free_answer else [])])

    def is_free_answer(self, index: int) -> bool:
        """Whether an index is that of the free answer."""
        return not self.question.is_closed and index == len(self.question.options)

    @property
    def free_label(self) -> str:
        """The label of the free answer; "" if only the options are answers."""
        return "" if self.question.is_closed else OTHER if self.question.options else _ONLY

    def toggle(self, index: int) -> None:
        """Mark or unmark an option."""
        self._marked_indexes ^= {index}
        self.choices.choices = self._make_choices()

    def take(self, index: int) -> bool:
        """Store the answer; False if a free answer has no text yet."""
        if self.is_multiple:
            if not self._marked_indexes and not self.free_answer and not self.is_free_answer(index):
                self._marked_indexes.add(index)
            answer = self._marked_answer
        else:
            answer = (
                self.free_answer
                if self.is_free_answer(index)
                else self.question.options[index].label
            )
        if not answer:
            return False
        self.answer = answer
        self._taken_index = index
        self.choices.is_commenting = False
        self.choices.choices = self._make_choices()
        return True

    def settle(self) -> None:
        """Store what is marked or typed, when the user moves to another question."""
        if self.is_multiple:
            self.answer = self._marked_answer or None
        elif self.answer is None and self.free_answer:
            self.take(len(self.question.options))

    def _make_choices(self) -> list[Choice]:
        options = [
            Choice(
                reveal(option.label) + self._sign(index),
                reveal(option.description),
                is_marked=index in self._marked_indexes if self.is_multiple else None,
            )
            for index, option in enumerate(self.question.options)
        ]
        if not self.free_label:
            return options
        free = Choice(self.free_label + self._sign(len(options)), comment_hint=_OTHER_HINT)
        return [*options, free]

    def _sign(self, index: int) -> str:
        return _ANSWERED if not self.is_multiple and self._taken_index == index else ""
