"""Themes in the 256 fixed colors are as readable as in true color."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from tests.themes.test_themes import TRUE_COLOR
from themes.indexed import color_number, with_indexed_colors
from themes.readable import DIFF_LINES, GROUNDS, LEAST, contrast, luminance
from themes.registry import load_theme
from themes.theme import Role
from tui.screen.style import StyleTable

MINE = """
base = "light"
[roles]
background = "ansi:white"
text = "#777777"
muted = "ansi256(200)"
"""


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_what_is_read_has_contrast(name: str) -> None:
    roles = with_indexed_colors(load_theme(name)[0]).roles
    low = {
        (role, ground): round(ratio, 2)
        for role, grounds in LEAST.items()
        for ground, least in grounds.items()
        if (ratio := contrast(luminance(roles[role]), luminance(roles[ground]))) < least
        and not (role is Role.MUTED and ground in DIFF_LINES and ratio >= 3.0)
    }
    assert low == {}


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_marked_backgrounds_differ_from_each_other(name: str) -> None:
    roles = with_indexed_colors(load_theme(name)[0]).roles
    marked = [one for one in GROUNDS if one not in (Role.SURFACE, Role.CODE_BACKGROUND)]
    assert [
        pair for pair in combinations(marked, 2) if len({roles[one] for one in pair}) == 1
    ] == []


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_the_terminal_is_sent_exactly_these_colors(name: str) -> None:
    table = StyleTable(ColorSystem.EIGHT_BIT)
    for value in with_indexed_colors(load_theme(name)[0]).roles.values():
        number = color_number(value)
        assert number is not None
        style = Style(color=Color.parse(value), bgcolor=Color.parse(value), bold=True)
        assert table.pen(table.look_up(style)[0]).foreground == f"38;5;{number}"
        assert table.pen(table.look_up(style)[0]).background == f"48;5;{number}"


def test_the_numbers_are_those_of_xterm() -> None:
    assert [color_number(color) for color in ("#000000", "#005f87", "#ffffff")] == [16, 24, 231]
    assert [color_number(color) for color in ("#080808", "#eeeeee", "#123456")] == [232, 255, None]
    grays = [color_number(f"#{level:02x}{level:02x}{level:02x}") for level in range(8, 239, 10)]
    assert all(second == first + 1 for first, second in pairwise(grays) if first and second)


def test_what_a_theme_takes_from_the_terminal_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    roles = with_indexed_colors(load_theme("mine", user_dir=tmp_path)[0]).roles
    assert roles[Role.BACKGROUND] == "ansi:white"
    assert roles[Role.MUTED] == "ansi256(200)"
    # No background can be readable with this text: the nearest is taken.
    assert color_number(roles[Role.TEXT]) is not None
