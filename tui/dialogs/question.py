"""The question dialog: one or more questions with options; each also accepts a free answer.

Several questions are steps of a form: users move in both directions, and review their answers
before they are submitted. Next: `question_step`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from agent.tools.services import PartialAnswers, Question
from permissions.base.text.sanitize import reveal, sanitize
from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.dialogs.question_step import QuestionStep
from tui.input.actions import Context
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, FAINT, MUTED, TEXT, Ink, Row, Run, indent_rows, row
from tui.text.wrap import clip, wrap
from tui.transcript.markdown.markdown_rows import markdown_rows

_PAD: Final = (("   ", TEXT),)
_BOLD: Final = Ink(Role.ACCENT, bold=True)


class QuestionDialog(GivesAnswer[Mapping[str, str] | None]):
    """A form: Left and Right change the step, Enter answers it; the last step is a review.

    A single question is submitted with its answer. Gives answers by question text; None: declined.
    """

    key_handling = KeyHandling((Context.TABS, Context.CONFIRMATION))

    def __init__(self, questions: Sequence[Question], highlighter: Highlighter) -> None:
        """Open with the first question."""
        self._steps = [QuestionStep(question) for question in questions]
        self._highlighter = highlighter
        self._index = 0
        self._review = ChoiceList([Choice("Submit answers"), Choice("Decline to answer")])
        super().__init__()
        self._touched_s: float | None = None
        if not self._steps:
            self.give({})

    @property
    def touched_s(self) -> float:
        """When the user last pressed a key in the dialog, or it was first shown, by the loop's
        clock; the current time while it waits behind another dialog.
        """
        return _now_s() if self._touched_s is None else self._touched_s

    @property
    def _step(self) -> QuestionStep | None:
        """The current question; None in the review."""
        return self._steps[self._index] if self._index < len(self._steps) else None

    @property
    def _choices(self) -> ChoiceList:
        return self._step.choices if self._step is not None else self._review

    # Keys

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: answer, mark, move, or type a free answer."""
        self._touch()
        choices = self._choices
        if choices.is_commenting and self._press_in_field(key, text):
            return
        if key.isdigit() and 0 < int(key) <= len(choices.choices):
            choices.select(int(key) - 1)
            self._pick(choices.selected_index)
        elif text.strip() and text.isprintable() and self._open_own():
            choices.type(key, text)
        elif key in ("left", "right"):
            self._turn(1 if key == "right" else -1)
        else:
            self._run_action(key, action_id)

    def _run_action(self, key: str, action_id: str | None) -> None:
        choices = self._choices
        match action_id:
            case "confirm:yes" if key == "enter":
                self._enter(choices.selected_index)
            case "confirm:no" if key == "escape":
                self._go_back()
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case "confirm:toggle":
                self._pick(choices.selected_index)
            case "tabs:next" | "confirm:nextField":
                self._turn(1)
            case "tabs:previous" | "confirm:previousField":
                self._turn(-1)
            case _:
                pass

    def _open_own(self) -> bool:
        """Open the field of the free answer if that is selected; return whether it is open."""
        step = self._step
        if step is None or not step.is_free_answer(step.choices.selected_index):
            return False
        return step.choices.is_commenting or step.choices.open_comment()

    def _press_in_field(self, key: str, text: str) -> bool:
        choices = self._choices
        if key == "enter":
            self._take(choices.selected_index)
        elif key in ("escape", "tab"):
            choices.is_commenting = False
        elif key in ("up", "down"):
            return False
        else:
            choices.type(key, text)
        return True

    def paste(self, text: str) -> None:
        """Paste into the free answer."""
        self._touch()
        self._open_own()
        self._choices.paste(text)

    def choose(self, choice: int) -> None:
        """Handle a click: choose or mark an answer."""
        self._touch()
        self._choices.select(choice)
        self._pick(choice)

    def submit_unfinished(self) -> None:
        """Submit the answers so far, because the user is away."""
        chosen = {step.question.question: step.current_answer for step in self._steps}
        self.give(PartialAnswers({q: answer for q, answer in chosen.items() if answer}))

    def _touch(self) -> None:
        self._touched_s = _now_s()

    # Steps

    def _turn(self, step: int) -> None:
        """Go to another question, or to the review after the last one."""
        if self._step is not None:
            self._step.settle()
        count = len(self._steps)
        self._index = (self._index + step) % (count + 1 if count > 1 else count)

    def _go_back(self) -> None:
        """Decline; from the review go back to the questions instead."""
        if self._step is None:
            self._turn(-1)
        else:
            self.give(None)

    def _pick(self, index: int) -> None:
        step = self._step
        if step is None:
            self._finish(index)
        elif step.is_free_answer(index):
            step.choices.select(index)
            step.choices.open_comment()
        elif step.is_multiple:
            step.toggle(index)
        else:
            self._take(index)

    def _enter(self, index: int) -> None:
        step = self._step
        # On a free answer without text Enter opens its field.
        is_written = step is not None and not (step.is_free_answer(index) and not step.free_answer)
        if step is not None and step.is_multiple and is_written:
            self._take(index)
        else:
            self._pick(index)

    def _take(self, index: int) -> None:
        """Store the answer, and go to the next question without one, or to the review."""
        if self._step is None or not self._step.take(index):
            return
        if len(self._steps) == 1:
            self._finish(0)
            return
        open_steps = [i for i, step in enumerate(self._steps) if step.answer is None]
        self._index = next(
            (i for i in open_steps if i > self._index),
            open_steps[0] if open_steps else len(self._steps),
        )

    def _finish(self, index: int) -> None:
        if index:
            self.give(None)
        else:
            self.give({s.question.question: s.answer for s in self._steps if s.answer is not None})

    # Rows

    def _title(self) -> tuple[Run, ...]:
        if self._step is None:
            return (("Review", _BOLD), (" your answers", MUTED))
        count = len(self._steps)
        of = (f" {self._index + 1} of {count}", MUTED) if count > 1 else ("", MUTED)
        return (("Question", _BOLD), of)

    def view(self, width_cells: int) -> DialogView:
        """Return the current step at a width."""
        if self._touched_s is None:
            self._touch()
        body: list[Row] = []
        if len(self._steps) > 1:
            body += [Row(clip((_PAD[0], *self._tabs()), width_cells - 1)), BLANK]
        if self._step is None:
            return self._review_view(body, width_cells)
        step = self._step
        text = wrap([(reveal(step.question.question), Ink(bold=True))], max(1, width_cells - 4))
        body.extend(indent_rows(text, _PAD, _PAD))
        if step.preview:
            bar = (("   │ ", FAINT),)
            preview_rows = markdown_rows(sanitize(step.preview), width_cells - 6, self._highlighter)
            body += [BLANK, *indent_rows(preview_rows, bar, bar)]
        keys = "space mark · enter continue" if step.is_multiple else "enter choose"
        more = " · ←→ questions" if len(self._steps) > 1 else ""
        own = f", the number of {step.free_label} and then your own answer"
        instructions = f"Type a number{own if step.free_label else ''}, or esc to decline."
        if step.is_multiple:
            instructions = "Enter numbers to select, then “enter” to continue, or esc to decline."
        if len(self._steps) > 1:
            instructions += " Left and right go through the questions."
        return DialogView(
            self._title(),
            body,
            self._footer(f"↑↓ select · {keys}{more} · esc decline", width_cells),
            body_id=f"{self._index}:{step.choices.selected_index if step.preview else ''}",
            in_lines=instructions,
        )

    def _review_view(self, body: list[Row], width: int) -> DialogView:
        for step in self._steps:
            rows = wrap([(reveal(step.question.question), MUTED)], max(1, width - 4))
            body.extend(indent_rows(rows, _PAD, _PAD))
            answer: Run = (reveal(step.answer or ""), TEXT)
            if step.answer is None:
                answer = ("not answered", Ink(Role.WARNING))
            rows = wrap([answer], max(1, width - 6))
            body.extend(indent_rows(rows, (("   → ", MUTED),), (("     ", TEXT),)))
        hint = "↑↓ select · enter confirm · ← change an answer · esc back"
        instructions = "Type a number, or left to change an answer."
        footer = self._footer(hint, width)
        return DialogView(self._title(), body, footer, body_id="review", in_lines=instructions)

    def _footer(self, hint: str, width: int) -> list[FooterRow]:
        return [
            FooterRow(BLANK, is_optional=True),
            *self._choices.rows(width),
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(_PAD[0], (hint, MUTED)), is_optional=True),
        ]

    def _tabs(self) -> list[Run]:
        runs: list[Run] = []
        for index, step in enumerate(self._steps):
            label = reveal(step.question.header) or f"{index + 1}"
            sign: Run = ("✓ ", Ink(Role.SUCCESS)) if step.answer is not None else ("· ", MUTED)
            ink = _BOLD if index == self._index else MUTED
            runs += [sign, (label, ink), ("   ", MUTED)]
        ink = _BOLD if self._step is None else MUTED
        return [*runs, ("Review", ink)]


def _now_s() -> float:
    return asyncio.get_running_loop().time()
