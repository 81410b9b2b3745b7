"""Style numbers and the codes between them."""

from __future__ import annotations

import pytest
from rich.color import ColorSystem
from rich.style import Style

from tui.screen.style import StyleTable


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("", "1", "\x1b[1m"),
        ("1", "", "\x1b[m"),
        ("1;2;31", "1;31", "\x1b[22;1m"),
        ("38;2;1;2;3", "38;2;1;2;3;7", "\x1b[7m"),
        ("38;2;1;2;3;7", "38;2;1;2;3", "\x1b[27m"),
        ("38;2;1;2;3;48;5;9", "38;2;1;2;3", "\x1b[49m"),
        ("31;1;4;9;53", "32", "\x1b[0;32m"),
        ("4;31;45", "21;31;45", "\x1b[24;21m"),
    ],
)
def test_transitions_are_short(before: str, after: str, code: str) -> None:
    table = StyleTable(ColorSystem.TRUECOLOR)
    assert table.transition(table.id_of(before), table.id_of(after)) == code


def test_an_unknown_pen_is_reset_first() -> None:
    table = StyleTable(ColorSystem.TRUECOLOR)
    assert table.transition(None, table.id_of("31")) == "\x1b[0;31m"


def test_styles_that_look_the_same_share_a_number() -> None:
    table = StyleTable(ColorSystem.TRUECOLOR)
    plain = table.look_up(Style(color="#010203", bold=True))
    assert table.look_up(Style(color="#010203", bold=True, meta={"offset": 3})) == plain
    assert table.look_up(Style(color="#010203", bold=True, italic=False)) == plain


def test_the_link_comes_apart_from_the_look() -> None:
    table = StyleTable(ColorSystem.TRUECOLOR)
    assert table.look_up(Style(link="https://x.org")) == (0, "https://x.org")


def test_colors_are_downgraded() -> None:
    table = StyleTable(ColorSystem.EIGHT_BIT)
    style_id, _ = table.look_up(Style(color="#ff0000"))
    assert table.pen(style_id).foreground == "38;5;196"
