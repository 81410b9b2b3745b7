"""A small terminal emulator for tests: what pyte cannot do, clusters, links and background erase.

It knows exactly the codes that the encoder may write and fails on any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.style import Pen, StyleTable, _parse_pen
from tui.screen.width import clusters

_TOKEN = re.compile(
    r"\x1b\[(?P<private>\??)(?P<parameters>[\d;]*)(?P<final>[A-Za-z])"
    r"|\x1b\]8;(?P<link>[^\x1b]*)\x1b\\"
    r"|(?P<control>[\r\n\b])|(?P<text>[^\x1b\r\n\b]+)"
)
_NO_SHOW = frozenset({1, 2, 3})


@dataclass(frozen=True)
class Shown:
    """One column as a user sees it."""

    grapheme: str
    pen: Pen
    link: str | None


GARBAGE = Shown("\N{REPLACEMENT CHARACTER}", Pen(frozenset({5})), None)


class CellEmulator:
    """A terminal of the given size, full of garbage at the start."""

    def __init__(
        self, width: int, height: int, *, fills_background: bool, homes_after_margins: bool
    ) -> None:
        self.width, self.height = width, height
        self.rows = [[GARBAGE] * width for _ in range(height)]
        self._fills_background = fills_background
        self._homes = homes_after_margins
        self._x = self._y = 0
        self._pen = Pen(frozenset({4}), "31")
        self._link: str | None = None
        self._top, self._bottom = 0, height - 1

    def feed(self, data: str) -> None:
        position = 0
        while position < len(data):
            token = _TOKEN.match(data, position)
            assert token is not None, f"unknown code {data[position : position + 12]!r}"
            position = token.end()
            if token["text"] is not None:
                self._write(token["text"])
            elif token["control"] is not None:
                self._control(token["control"])
            elif token["link"] is not None:
                self._link = token["link"].partition(";")[2] or None
            elif token["private"]:
                assert token["parameters"] in ("2026", "25")
            else:
                self._sequence(token["final"], token["parameters"])

    def _write(self, text: str) -> None:
        assert text.isprintable() or not text.isascii()
        for grapheme, width in clusters(text):
            assert self._x + width <= self.width, "written over the right edge"
            self._break_wide(self._y, self._x)
            self._break_wide(self._y, self._x + width)
            self.rows[self._y][self._x] = Shown(grapheme, self._pen, self._link)
            if width == 2:
                self.rows[self._y][self._x + 1] = Shown("", self._pen, self._link)
            self._x = min(self._x + width, self.width - 1)

    def _break_wide(self, y: int, x: int) -> None:
        """Blank both halves of a wide cluster that is about to lose one."""
        if 0 < x < self.width and self.rows[y][x].grapheme == "":
            self.rows[y][x - 1] = self.rows[y][x] = GARBAGE

    def _control(self, character: str) -> None:
        match character:
            case "\r":
                self._x = 0
            case "\b":
                assert self._x > 0
                self._x -= 1
            case _:
                # The terminal driver translates newlines; no scrolling is wanted ever.
                assert self._y < self.height - 1
                self._x, self._y = 0, self._y + 1

    def _sequence(self, final: str, parameters: str) -> None:
        numbers = [int(number) if number else 0 for number in parameters.split(";")]
        count = max(1, numbers[0])
        match final:
            case "H":
                self._y = count - 1
                self._x = max(1, numbers[1] if len(numbers) > 1 else 1) - 1
            case "G":
                self._x = count - 1
            case "A":
                self._y -= count
            case "B":
                self._y += count
            case "C":
                self._x += count
            case "D":
                self._x -= count
            case "m":
                self._style(parameters)
            case "K":
                self._erase(self.width - self._x)
            case "X":
                self._erase(count)
            case "r":
                self._top = count - 1
                self._bottom = (numbers[1] if len(numbers) > 1 else self.height) - 1
                if self._homes:
                    self._x = self._y = 0
            case "L" | "M":
                self._move_lines(final, count)
            case _:
                raise AssertionError(f"unknown code {final}")
        assert 0 <= self._x < self.width
        assert 0 <= self._y < self.height

    def _style(self, parameters: str) -> None:
        # The codes that switch off, then those that switch on, as a terminal would.
        codes = parameters.split(";") if parameters else ["0"]
        off = {"22": {1, 2}, "23": {3}, "24": {4, 21}, "25": {5, 6}, "27": {7}, "28": {8}}
        off |= {"29": {9}, "54": {51, 52}, "55": {53}}
        position = 0
        while position < len(codes):
            code = codes[position]
            length = {"2": 5, "5": 3}[codes[position + 1]] if code in ("38", "48") else 1
            text = ";".join(codes[position : position + length])
            position += length
            pen = self._pen
            if code in ("0", ""):
                self._pen = Pen()
            elif code in off:
                self._pen = Pen(pen.attributes - off[code], pen.foreground, pen.background)
            elif code == "39":
                self._pen = Pen(pen.attributes, "", pen.background)
            elif code == "49":
                self._pen = Pen(pen.attributes, pen.foreground, "")
            else:
                new = _parse_pen(text)
                self._pen = Pen(
                    pen.attributes | new.attributes,
                    new.foreground or pen.foreground,
                    new.background or pen.background,
                )

    def _erase(self, count: int) -> None:
        background = self._pen.background if self._fills_background else ""
        self._break_wide(self._y, self._x)
        self._break_wide(self._y, min(self.width - 1, self._x + count))
        for x in range(self._x, min(self.width, self._x + count)):
            self.rows[self._y][x] = Shown(" ", Pen(background=background), None)

    def _move_lines(self, final: str, count: int) -> None:
        assert self._top <= self._y <= self._bottom
        for _ in range(count):
            fresh = [GARBAGE] * self.width
            if final == "M":
                del self.rows[self._y]
                self.rows.insert(self._bottom, fresh)
            else:
                del self.rows[self._bottom]
                self.rows.insert(self._y, fresh)
        self._x = 0

    def picture(self) -> list[list[Shown]]:
        """What a user sees; differences that nobody can see are gone."""
        return [[_visible(cell) for cell in row] for row in self.rows]


def picture_of(buffer: ScreenBuffer, styles: StyleTable) -> list[list[Shown]]:
    """The picture that a buffer stands for."""
    picture: list[list[Shown]] = []
    for row in buffer.rows:
        shown: list[Shown] = []
        for cell in row:
            if cell.width == 0:
                shown.append(Shown("", shown[-1].pen, shown[-1].link))
            else:
                shown.append(Shown(cell.grapheme, styles.pen(cell.style_id), cell.link))
        picture.append([_visible(cell) for cell in shown])
    return picture


def _visible(cell: Shown) -> Shown:
    if cell.grapheme == " " and cell.pen.attributes <= _NO_SHOW:
        return Shown(" ", Pen(background=cell.pen.background), cell.link)
    return cell
