"""Rows become strips of exactly the asked width, in the theme's colors or in none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from themes.registry import available_themes, load_theme
from themes.theme import Role
from tui.screen.width import text_width
from tui.text.styled_rows import TEXT, Ink, Row
from tui.theme.theme_palette import Palette, textual_theme

DARK = load_theme("dark")[0]


@given(st.lists(st.sampled_from(["ab", "漢字", "🎉", "é", " "]), max_size=20), st.integers(1, 30))
def test_a_strip_is_exactly_as_wide_as_asked(parts: list[str], width: int) -> None:
    strip = Palette(DARK).strip(Row(tuple((part, TEXT) for part in parts)), width)
    assert sum(text_width(segment.text) for segment in strip) == width


def test_nothing_in_a_strip_talks_to_the_terminal() -> None:
    row = Row((("model\x1b]0;title\x07", TEXT), ("\u202e\x9b2J", TEXT)))
    assert Palette(DARK).strip(row, 20).text == "model]0;title2J     "


def test_without_color_only_attributes_remain() -> None:
    palette = Palette(DARK, no_color=True)
    for role in Role:
        style = palette.style(Ink(role, role, bold=True))
        assert style.color is None
        assert style.bgcolor is None
    assert palette.style(Ink(Role.MUTED)).dim
    assert palette.style(Ink(Role.TEXT, Role.SELECTION)).reverse


@pytest.mark.parametrize("name", available_themes())
def test_every_theme_reaches_textual(name: str) -> None:
    theme = load_theme(name)[0]
    made = textual_theme(theme)
    assert made.name == f"agent-{name}"
    assert made.ansi == theme.uses_terminal_palette
    assert made.to_color_system().generate()
