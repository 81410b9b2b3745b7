"""A selection in the transcript: a range of positions, highlighted, and copied as logical lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from themes.theme import Role
from tui.editing.draft_selection import click_kind
from tui.screen.width import clusters, text_width
from tui.text.styled_rows import Row, Run
from tui.transcript.viewport import RowPosition, Viewport

Step = Literal["left", "right", "up", "down", "line_start", "line_end"]


class TranscriptSelection(Struct, frozen=True):
    """From the anchor, where it was started, to the head; columns in cells."""

    anchor: RowPosition
    anchor_x: int
    head: RowPosition
    head_x: int
    is_open: bool = False
    """Whether the button is still pressed."""

    @property
    def is_empty(self) -> bool:
        """Whether anchor and head are equal."""
        return (self.anchor, self.anchor_x) == (self.head, self.head_x)

    @property
    def edges(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Start and end as (block, line, column), in reading order; the end is exclusive."""
        first = (self.anchor.block, self.anchor.line, self.anchor_x)
        second = (self.head.block, self.head.line, self.head_x)
        return (first, second) if first <= second else (second, first)

    def extend_to(self, place: RowPosition, x: int) -> TranscriptSelection:
        """Return the selection with another head."""
        return replace(self, head=place, head_x=x)

    def step(
        self, step: Step, rows: Sequence[tuple[RowPosition, Row]]
    ) -> TranscriptSelection | None:
        """Return the selection with its head moved by a cell or row; None if not visible."""
        numbers = {place: number for number, (place, _) in enumerate(rows)}
        number = numbers.get(self.head)
        if number is None:
            return None
        x = self.head_x
        match step:
            case "left":
                x = max(0, x - 1)
            case "right":
                x += 1
            case "up" | "down":
                number += 1 if step == "down" else -1
            case "line_start":
                x = 0
            case "line_end":
                x = text_width(rows[number][1].text)
        return self.extend_to(rows[number][0], x) if 0 <= number < len(rows) else None

    def release(self) -> TranscriptSelection:
        """Return the selection after the button was released."""
        return replace(self, is_open=False)

    def is_within(self, count: int) -> bool:
        """Whether both ends are in the first `count` blocks."""
        return max(self.anchor.block, self.head.block) < count

    def columns(self, place: RowPosition) -> tuple[int, int | None] | None:
        """Return the selected columns of a row as start and end (None: to the end of the row).

        None if no part of the row is selected.
        """
        (first_block, first_line, first_x), (last_block, last_line, last_x) = self.edges
        position = (place.block, place.line)
        if not (first_block, first_line) <= position <= (last_block, last_line):
            return None
        start = first_x if position == (first_block, first_line) else 0
        end = last_x if position == (last_block, last_line) else None
        return start, end


def word_at(line: Row, x: int) -> tuple[int, int]:
    """Return the columns of the word at a cell of a row; between words, of one character."""
    column, start = 0, 0
    kind: str | None = None
    for grapheme, width in clusters(line.text):
        own = click_kind(grapheme)
        if own != kind:
            if column > x:
                break
            start, kind = column, own
        column += width
    return start, column


def line_around(viewport: Viewport, place: RowPosition) -> tuple[RowPosition, RowPosition]:
    """Return the first and the last row of the logical line that contains a row."""

    def continues(line: int) -> bool:
        return viewport.row(RowPosition(place.block, line)).joint is not None

    first = last = place.line
    while first > 0 and continues(first):
        first -= 1
    height = viewport.height_of(place.block)
    while last + 1 < height and continues(last + 1):
        last += 1
    return RowPosition(place.block, first), RowPosition(place.block, last)


def marked_row(line: Row, place: RowPosition, mark: TranscriptSelection) -> Row:
    """Return the row with its selected part highlighted; the same row if none is selected."""
    columns = mark.columns(place)
    if columns is None or mark.is_empty or not line.is_copied:
        return line
    start, end = columns
    runs: list[Run] = []
    x = chars = 0
    for text, ink in line.runs:
        pieces: list[tuple[str, bool]] = []
        for grapheme, width in clusters(text):
            is_in = start <= x and (end is None or x < end) and chars >= line.gutter_chars
            if pieces and pieces[-1][1] == is_in:
                pieces[-1] = (pieces[-1][0] + grapheme, is_in)
            else:
                pieces.append((grapheme, is_in))
            x += width
            chars += len(grapheme)
        for piece, is_in in pieces:
            runs.append((piece, replace(ink, ground=Role.SELECTION) if is_in else ink))
    return replace(line, runs=tuple(runs))


def _positions(viewport: Viewport, mark: TranscriptSelection) -> Iterator[RowPosition]:
    (first_block, first_line, _), (last_block, last_line, _) = mark.edges
    for block in range(first_block, min(last_block + 1, len(viewport.entries))):
        start = first_line if block == first_block else 0
        height = viewport.height_of(block)
        end = min(last_line + 1, height) if block == last_block else height
        yield from (RowPosition(block, line) for line in range(start, end))


def marked_text(viewport: Viewport, mark: TranscriptSelection) -> str:
    """Return the selected text: logical lines, without gutters, padding, soft wraps and hints.

    Lines of a change include their signs, as a patch, if different kinds are selected; lines of a
    single kind are copied as code.
    """
    if mark.is_empty:
        return ""
    lines: list[str] = []
    signs: list[str] = []
    for place in _positions(viewport, mark):
        line = viewport.row(place)
        columns = mark.columns(place)
        if columns is None or not line.is_copied:
            continue
        part = _cut(line, *columns)
        if line.joint is not None and lines:
            lines[-1] += line.joint + part
        else:
            lines.append(part)
            signs.append(line.patch_sign)
    if len({sign for sign in signs if sign}) > 1:
        lines = [sign + line for sign, line in zip(signs, lines, strict=True)]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _cut(line: Row, start: int, end: int | None) -> str:
    x = chars = 0
    visible = ""
    for text, _ in line.runs:
        for grapheme, width in clusters(text):
            if chars >= line.gutter_chars and x >= start and (end is None or x < end):
                visible += grapheme
            x += width
            chars += len(grapheme)
    return visible
