"""The question dialog: one or several questions, their options, always a free answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from agent.sanitize import reveal
from agent.tools.services import Question
from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList
from tui.dialogs.dialog import Answered, DialogView, FooterRow, Manners
from tui.input.actions import Context
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, Run, indented, row
from tui.text.wrap import clip, wrap

_OTHER: Final = "Other"


class QuestionDialog:
    """A form: Left and Right change the question, Enter answers it and goes on."""

    manners = Manners((Context.TABS, Context.CONFIRMATION))

    def __init__(self, questions: Sequence[Question]) -> None:
        """Open with the first question."""
        self._questions = tuple(questions)
        self._lists = [ChoiceList(_choices(question)) for question in self._questions]
        self._marked: list[set[int]] = [set() for _ in self._questions]
        self._answers: list[str | None] = [None for _ in self._questions]
        self._at = 0
        self._answered: Answered[Mapping[str, str] | None] = Answered()
        if not self._questions:
            self._answered.give({})

    @property
    def is_done(self) -> bool:
        """Whether the form was sent or declined."""
        return self._answered.is_done

    async def wait(self) -> Mapping[str, str] | None:
        """Return answers by question text; None when the person declined."""
        return await self._answered.wait()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Answer, mark, move, or write an answer of one's own."""
        choices = self._lists[self._at]
        if choices.is_commenting:
            if key == "enter":
                if choices.comment(choices.selected):
                    self._take(choices.selected)
                return
            if key in ("escape", "tab"):
                choices.is_commenting = False
                return
            if key not in ("up", "down"):
                choices.type(key, text)
                return
        if key.isdigit() and 0 < int(key) <= len(choices.choices):
            choices.select(int(key) - 1)
            self._pick(choices.selected)
            return
        if key in ("left", "right"):
            self._turn(1 if key == "right" else -1)
            return
        match action_id:
            case "confirm:yes" if key == "enter":
                self._enter(choices.selected)
            case "confirm:no" if key == "escape":
                self._answered.give(None)
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case "confirm:toggle":
                self._pick(choices.selected)
            case "tabs:next" | "confirm:nextField":
                self._turn(1)
            case "tabs:previous" | "confirm:previousField":
                self._turn(-1)
            case _:
                pass

    def _turn(self, step: int) -> None:
        """Go to another question."""
        self._at = (self._at + step) % len(self._questions)

    def paste(self, text: str) -> None:
        """Paste into the free answer."""
        self._lists[self._at].paste(text)

    def choose(self, choice: int) -> None:
        """A click picks."""
        self._lists[self._at].select(choice)
        self._pick(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the current question at a width."""
        question = self._questions[self._at]
        pad = (("   ", TEXT),)
        body: list[Row] = []
        if len(self._questions) > 1:
            body.append(Row(clip((pad[0], *self._tabs()), width_cells - 1)))
            body.append(BLANK)
        text = wrap([(reveal(question.question), Ink(bold=True))], max(1, width_cells - 4))
        body.extend(indented(text, pad, pad))
        keys = "space mark · enter continue" if question.multi_select else "enter choose"
        more = " · ←→ questions" if len(self._questions) > 1 else ""
        footer = [
            FooterRow(BLANK, is_optional=True),
            *self._lists[self._at].rows(width_cells),
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(pad[0], (f"↑↓ · {keys}{more} · esc decline", MUTED)), is_optional=True),
        ]
        return DialogView((("Question", Ink(Role.ACCENT, bold=True)),), body, footer)

    def _tabs(self) -> list[Run]:
        runs: list[Run] = []
        for index, question in enumerate(self._questions):
            is_done = self._answers[index] is not None
            label = f"{'✓' if is_done else '·'} {reveal(question.header)}"
            ink = Ink(Role.ACCENT, bold=True) if index == self._at else MUTED
            runs.extend([(label, ink), ("   ", TEXT)])
        return runs

    def _pick(self, index: int) -> None:
        if self._is_other(index):
            self._lists[self._at].select(index)
            self._lists[self._at].open_comment()
        elif self._questions[self._at].multi_select:
            self._marked[self._at] ^= {index}
            self._show_marks()
        else:
            self._take(index)

    def _enter(self, index: int) -> None:
        if self._questions[self._at].multi_select and not self._is_other(index):
            if not self._marked[self._at]:
                self._marked[self._at].add(index)
            self._take(index)
        else:
            self._pick(index)

    def _take(self, index: int) -> None:
        """Keep the answer to this question; the last one sends the form."""
        question = self._questions[self._at]
        labels = [question.options[i].label for i in sorted(self._marked[self._at])]
        if self._is_other(index):
            labels.append(self._lists[self._at].comment(index))
        elif not question.multi_select:
            labels = [question.options[index].label]
        self._answers[self._at] = ", ".join(labels)
        self._lists[self._at].is_commenting = False
        left = [i for i, answer in enumerate(self._answers) if answer is None]
        if left:
            self._at = next((i for i in left if i > self._at), left[0])
            return
        pairs = zip(self._questions, self._answers, strict=True)
        self._answered.give({q.question: answer or "" for q, answer in pairs})

    def _is_other(self, index: int) -> bool:
        return index == len(self._questions[self._at].options)

    def _show_marks(self) -> None:
        choices = self._lists[self._at]
        count = len(self._questions[self._at].options)
        choices.choices = [
            replace(choice, is_marked=index in self._marked[self._at]) if index < count else choice
            for index, choice in enumerate(choices.choices)
        ]


def _choices(question: Question) -> list[Choice]:
    mark = False if question.multi_select else None
    options = [
        Choice(reveal(option.label), reveal(option.description), is_marked=mark)
        for option in question.options
    ]
    return [*options, Choice(_OTHER, comment_hint="your own answer…")]
