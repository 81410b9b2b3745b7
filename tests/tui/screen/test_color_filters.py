"""Rows that Textual's filters of colors would leave as they are do not go through them."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from textual.color import Color
from textual.filter import ANSIToTruecolor, DimFilter
from textual.strip import Strip

from tui.screen.direct_rows import _are_plain

BACKGROUND = Color(10, 20, 30)


@pytest.mark.parametrize(
    ("style", "is_plain"),
    [
        (None, True),
        (Style(), True),
        (Style(bold=True, color="#112233", bgcolor="#445566", link="file:///a"), True),
        (Style(color="red"), False),
        (Style(bgcolor="color(200)"), False),
        (Style(color="default"), False),
        (Style(color="#112233", dim=True), False),
        (Style(dim=True), False),
    ],
)
def test_only_what_no_filter_changes_is_left_out(style: Style | None, is_plain: bool) -> None:
    strip = Strip([Segment("a", Style(color="#ffffff")), Segment("b", style)])
    assert _are_plain(strip) is is_plain
    if is_plain:
        for each in (ANSIToTruecolor(DEFAULT_TERMINAL_THEME), DimFilter()):
            assert strip.apply_filter(each, BACKGROUND) == strip
