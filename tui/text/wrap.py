"""Wraps styled text into rows by width in cells: at spaces, wide characters, or within words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from tui.screen.width import clusters, text_width
from tui.text.styled_rows import Ink, Row, Run

TAB_CELLS: Final = 4
_PIECES: Final = compile_late(r"[ \u3000]+|[^ \u3000]+")


def expand_tabs(text: str) -> str:
    """Return one line with tabs replaced by spaces up to the next tab stop."""
    if "\t" not in text:
        return text
    parts = text.split("\t")
    line = parts[0]
    for part in parts[1:]:
        line += " " * (TAB_CELLS - text_width(line) % TAB_CELLS) + part
    return line


def logical_lines(runs: Iterable[Run]) -> list[list[Run]]:
    """Return the runs split at line breaks; at least one line."""
    lines: list[list[Run]] = [[]]
    for text, ink in runs:
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, ink))
        for other in others:
            lines.append([(other, ink)] if other else [])
    return lines


def wrap(runs: Sequence[Run], width_cells: int) -> list[Row]:
    """Return the rows of one or more lines; long words are split, spaces at a break are dropped."""
    width = max(1, width_cells)
    rows: list[Row] = []
    for line in logical_lines(runs):
        rows.extend(_wrap_line(line, width))
    return rows


def hard_wrap(runs: Sequence[Run], width_cells: int) -> list[Row]:
    """Return rows for preformatted text: split exactly at the width, with all spaces."""
    width = max(1, width_cells)
    rows: list[Row] = []
    for line in logical_lines(runs):
        runs_without_tabs = [(expand_tabs(text), ink) for text, ink in line]
        if sum(text_width(text) for text, _ in runs_without_tabs) <= width:
            rows.append(Row(tuple(runs_without_tabs)))
            continue
        filler = _Filler(width)
        for text, ink in runs_without_tabs:
            filler.hard_wrap(text, ink)
        rows.extend(filler.finish())
    return rows


def clip(runs: Sequence[Run], width_cells: int) -> tuple[Run, ...]:
    """Return the runs cut off at a width, with an ellipsis if anything is missing."""
    if runs_width(runs) <= width_cells:
        return tuple(runs)
    if width_cells <= 0:
        return ()
    room = width_cells - 1
    cut_runs: list[Run] = []
    for text, ink in runs:
        size = text_width(text)
        if size <= room:
            cut_runs.append((text, ink))
            room -= size
            continue
        piece = ""
        for grapheme, cells in clusters(text):
            if cells > room:
                break
            piece += grapheme
            room -= cells
        cut_runs.append((piece + "…", ink))
        break
    return tuple(cut_runs)


def runs_width(runs: Iterable[Run]) -> int:
    """Return the width of the runs in cells."""
    return sum([text_width(text) for text, _ in runs])


def spread(left: Sequence[Run], right: Sequence[Run], width_cells: int) -> tuple[Run, ...]:
    """Return one row's runs with `right` flush right; without enough room `right` is left out."""
    right_width = runs_width(right)
    if right_width + 2 > width_cells:
        return clip(left, width_cells)
    visible_left = clip(left, width_cells - right_width - 1)
    gap = width_cells - right_width - runs_width(visible_left)
    return (*visible_left, (" " * gap, Ink()), *right)


class _Word(Struct):
    runs: list[Run]
    width: int


def _wrap_line(line: Sequence[Run], width: int) -> list[Row]:
    plain_width = sum(text_width(text) for text, _ in line)
    if plain_width <= width and not any("\t" in text for text, _ in line):
        return [Row(tuple(line))]
    filler = _Filler(width)
    for is_space, word in _words(line):
        if is_space:
            filler.space(word)
        else:
            filler.word(word)
    return filler.finish()


def _words(line: Sequence[Run]) -> Iterable[tuple[bool, _Word]]:
    """Yield spaces and words; a word may span several inks, a wide character is a word."""
    word = _Word([], 0)
    for text, ink in line:
        for match in _PIECES.finditer(expand_tabs(text)):
            piece = match.group()
            if piece[0] in " \u3000":
                if word.runs:
                    yield False, word
                    word = _Word([], 0)
                yield True, _Word([(piece, ink)], text_width(piece))
            elif piece.isascii():
                word.runs.append((piece, ink))
                word.width += len(piece)
            else:
                for grapheme, cells in clusters(piece):
                    if cells == 2 and word.runs:
                        yield False, word
                        word = _Word([], 0)
                    word.runs.append((grapheme, ink))
                    word.width += cells
                    if cells == 2:
                        yield False, word
                        word = _Word([], 0)
    if word.runs:
        yield False, word


class _Filler:
    """Fills rows from left to right."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: list[Row] = []
        self._runs: list[Run] = []
        self._column = 0
        self._joint: str | None = None
        self._space: _Word | None = None

    def space(self, space: _Word) -> None:
        if self._space is not None:
            self._space.runs.extend(space.runs)
            self._space.width += space.width
        else:
            self._space = space

    def word(self, word: _Word) -> None:
        gap = self._space.width if self._space else 0
        if self._column + gap + word.width <= self._width:
            self._take_space()
            self._add(word.runs, word.width)
            return
        if self._column and word.width <= self._width:
            self._break(self._space_text())
            self._add(word.runs, word.width)
            return
        # Wider than a whole row: start it on this row and split it.
        if self._column and self._column + gap >= self._width:
            self._break(self._space_text())
        else:
            self._take_space()
        for text, ink in word.runs:
            self.hard_wrap(text, ink)

    def hard_wrap(self, text: str, ink: Ink) -> None:
        """Add text, split exactly at the width."""
        piece: list[str] = []
        column = self._column
        for grapheme, cells in clusters(text):
            if column + cells > self._width and (piece or column):
                if piece:
                    self._add([("".join(piece), ink)], column - self._column)
                    piece = []
                self._break("")
                column = 0
            piece.append(grapheme)
            column += cells
        if piece:
            self._add([("".join(piece), ink)], column - self._column)

    def finish(self) -> list[Row]:
        if self._runs or not self._rows:
            self._break(None)
        return self._rows

    def _add(self, runs: Iterable[Run], width: int) -> None:
        for text, ink in runs:
            if self._runs and self._runs[-1][1] == ink:
                self._runs[-1] = (self._runs[-1][0] + text, ink)
            else:
                self._runs.append((text, ink))
        self._column += width

    def _take_space(self) -> None:
        if self._space is not None:
            space, self._space = self._space, None
            if self._column + space.width <= self._width:
                self._add(space.runs, space.width)
            else:
                for text, ink in space.runs:
                    self.hard_wrap(text, ink)

    def _space_text(self) -> str:
        text = "".join(text for text, _ in self._space.runs) if self._space else ""
        self._space = None
        return text

    def _break(self, joint: str | None) -> None:
        self._rows.append(Row(tuple(self._runs), joint=self._joint))
        self._runs = []
        self._column = 0
        self._joint = joint
