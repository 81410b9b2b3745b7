"""A list of numbered answers, each with an optional comment; shared by several dialogs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct, field

from themes.theme import Role
from tui.dialogs.dialog import FooterRow
from tui.editing.edit_keys import EDIT_KEYS
from tui.editing.text_buffer import TextBuffer
from tui.screen.width import text_width
from tui.text.styled_rows import FAINT, MUTED, TEXT, Ink, Row, Run, indent_rows
from tui.text.wrap import runs_width, wrap

_INDENT: Final = 6


class Choice(Struct, frozen=True):
    """One answer."""

    label: str
    detail: str = ""
    """A further effect of the answer; may be empty."""
    code: str = ""
    """The rules that it would store, shown as code before the detail."""
    comment_hint: str | None = None
    """Placeholder of its comment field; None: it accepts no comment."""
    needs_comment: bool = False
    """Whether it requires a comment: choosing it opens the field."""
    is_marked: bool | None = None
    """Whether it is marked, in lists that allow several answers; None: no checkbox."""


class Chosen(Struct, frozen=True):
    """The index of the chosen answer, and its comment."""

    index: int
    comment: str


class ChoiceList(Struct):
    """The state of the list: the selected answer, and the comments typed so far."""

    choices: Sequence[Choice]
    selected_index: int = 0
    is_commenting: bool = False
    _comments: dict[int, TextBuffer] = field(default_factory=dict)

    def comment(self, index: int) -> str:
        """Return the comment typed for an answer; "" without one."""
        buffer = self._comments.get(index)
        return buffer.draft.expanded_text.strip() if buffer else ""

    def take_comments(self, other: ChoiceList) -> None:
        """Copy the comments of the first and last answer from the list that this one replaces."""
        for ours, theirs in ((0, 0), (len(self.choices) - 1, len(other.choices) - 1)):
            if theirs in other._comments and self.choices[ours].comment_hint is not None:
                self._comments[ours] = other._comments[theirs]

    def move(self, step: int) -> None:
        """Move the selection; it wraps around at both ends."""
        self.is_commenting = False
        self.selected_index = (self.selected_index + step) % len(self.choices)

    def select(self, index: int) -> None:
        """Select an answer."""
        if index != self.selected_index:
            self.is_commenting = False
        self.selected_index = index

    def open_comment(self) -> bool:
        """Open or close the comment of the selected answer; False if it accepts none."""
        if self.choices[self.selected_index].comment_hint is None:
            return False
        self.is_commenting = not self.is_commenting
        self._comments.setdefault(self.selected_index, TextBuffer())
        return True

    def type(self, key: str, text: str) -> bool:
        """Edit the open comment; False if the key is not an edit."""
        buffer = self._comments[self.selected_index]
        edit = EDIT_KEYS.get(key)
        if edit is not None:
            edit(buffer)
        elif text:
            buffer.insert(text)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Paste into the open comment."""
        if self.is_commenting:
            self._comments[self.selected_index].insert(text)

    @property
    def waits_for_comment(self) -> bool:
        """Whether the selected answer still lacks the comment that it needs."""
        return self.choices[self.selected_index].needs_comment and not self.comment(
            self.selected_index
        )

    def chosen(self, index: int | None = None) -> Chosen:
        """Return the selected answer, or the one at `index`, with its comment."""
        index = self.selected_index if index is None else index
        return Chosen(index, self.comment(index))

    def rows(self, width_cells: int) -> list[FooterRow]:
        """Return the answers, each with its detail and its comment below."""
        rows: list[FooterRow] = []
        width = max(1, width_cells - _INDENT - 1)
        column = _detail_column(self.choices, width)
        for index, choice in enumerate(self.choices):
            is_selected = index == self.selected_index
            lines, label_rows = _label_rows(index, choice, is_selected, width, column)
            rows.extend(
                FooterRow(line, index, is_selected, is_detail=not is_selected and i >= label_rows)
                for i, line in enumerate(lines)
            )
            buffer = self._comments.get(index)
            is_open = is_selected and self.is_commenting
            if buffer is not None and (is_open or not buffer.is_empty):
                rows.append(_comment_row(choice, buffer, is_open, width, index))
        return rows


def _detail_column(choices: Sequence[Choice], width: int) -> int:
    """Return the column of the details of short answers, in cells; 0: each on its own row."""
    plain = [choice for choice in choices if choice.detail and not choice.code]
    longest = max((runs_width(_label_runs(choice, TEXT)) for choice in plain), default=0)
    return longest + 2 if len(plain) > 1 and longest <= width // 3 else 0


def _label_runs(choice: Choice, ink: Ink) -> list[Run]:
    boxes: dict[bool | None, list[Run]] = {
        None: [], True: [("☑ ", Ink(Role.SUCCESS))], False: [("☐ ", MUTED)]
    }  # fmt: skip
    return [*boxes[choice.is_marked], (choice.label, ink)]


def _label_rows(
    index: int, choice: Choice, is_selected: bool, width: int, column: int
) -> tuple[list[Row], int]:
    """Return the rows of an answer, and how many of them contain its label."""
    sign: Run = (" ❯ ", Ink(Role.ACCENT, bold=True)) if is_selected else ("   ", TEXT)
    number: Run = (f"{index + 1}. ", Ink(Role.ACCENT) if is_selected else MUTED)
    label = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
    runs = _label_runs(choice, label)
    more: list[Run] = [(choice.code, Ink(Role.CODE))] if choice.code else []
    if choice.detail:
        more.append((f"{'  ' if more else ''}{choice.detail}", MUTED))
    if column and choice.detail and not choice.code:
        gap: Run = (" " * (column - runs_width(runs)), TEXT)
        first, *others = wrap(more, width - column)
        margin: Run = (" " * column, TEXT)
        rows = [Row((*runs, gap, *first.runs)), *indent_rows(others, (margin,), (margin,))]
        label_rows = 1
    elif more and runs_width(runs) + runs_width(more) + 2 <= width:
        rows = wrap([*runs, ("  ", TEXT), *more], width)
        label_rows = len(rows)
    else:
        rows = wrap(runs, width)
        label_rows = len(rows)
        if more:
            rows.extend(wrap(more, width))
    pad: Run = (" " * _INDENT, TEXT)
    return indent_rows(rows, (sign, number), (pad,)), label_rows


def _comment_row(
    choice: Choice, buffer: TextBuffer, is_open: bool, width: int, index: int
) -> FooterRow:
    text, cursor = buffer.text.replace("\n", "⏎"), buffer.cursor
    head: tuple[Run, ...] = ((" " * _INDENT, TEXT), ("│ ", Ink(Role.ACCENT) if is_open else FAINT))
    room = max(1, width - 3)
    text_before = text[:cursor]
    # The end of the typed text stays visible.
    start = 0
    while text_width(text_before[start:]) > room:
        start += 1
    in_sight = text[start:]
    while text_width(in_sight) > room:
        in_sight = in_sight[:-1]
    runs: tuple[Run, ...] = ((in_sight, TEXT),) if text else ((choice.comment_hint or "", MUTED),)
    caret = _INDENT + 2 + text_width(text_before[start:]) if is_open else None
    return FooterRow(Row((*head, *runs)), index, is_open, caret)
