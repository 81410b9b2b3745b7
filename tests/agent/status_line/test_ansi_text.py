"""Colors of a status line: what means something, and that nothing else gets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.prompt.git_remote import Remote, parse_remote
from agent.status_line.ansi_text import Color, Piece, pieces
from permissions.base.text.sanitize import sanitize


def test_colors_and_weight_are_kept_and_end() -> None:
    assert pieces("a \x1b[1;31mred\x1b[0m \x1b[4mline\x1b[24m") == (
        Piece("a "),
        Piece("red", "red", bold=True),
        Piece(" "),
        Piece("line", underline=True),
    )


@pytest.mark.parametrize(
    ("code", "color"),
    [
        ("32", "green"),
        ("93", "yellow"),
        ("90", "black"),
        ("38;5;196", "red"),
        ("38;5;240", "black"),
        ("38;5;250", "white"),
        ("38;2;80;250;123", "green"),
        ("38;2;139;233;253", "cyan"),
        ("38:2:255:184:108", "yellow"),
        ("38;5;999", None),
        ("38", None),
        ("99", None),
    ],
)
def test_shades_have_a_name(code: str, color: Color | None) -> None:
    (piece,) = pieces(f"\x1b[{code}mx")
    assert piece.color == color


def test_what_follows_a_mixed_color_still_counts() -> None:
    assert pieces("\x1b[38;5;196;1mx") == (Piece("x", "red", bold=True),)
    assert pieces("\x1b[48;2;1;2;3;4mx") == (Piece("x", underline=True),)


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
def test_links_are_kept_over_a_change_of_color(end: str) -> None:
    line = f"a \x1b]8;id=1;https://x.org/b{end}in \x1b[31mred\x1b[0m on\x1b]8;;{end} c"
    link = "https://x.org/b"
    assert pieces(line) == (
        Piece("a "),
        Piece("in ", link=link),
        Piece("red", "red", link=link),
        Piece(" on", link=link),
        Piece(" c"),
    )


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "vscode://x", "https://x org", "https://", "h\u200bttps://x"]
)
def test_an_address_that_is_none_is_no_link(address: str) -> None:
    line = f"\x1b]8;;{address}\x07text\x1b]8;;\x07"
    assert [(piece.text, piece.link) for piece in pieces(line)] == [("text", None)]


@given(st.text(alphabet="a \x1b[]0;31mHJ\x07\\\x9b8?:/htps", max_size=60))
def test_nothing_but_text_comes_out(line: str) -> None:
    text = "".join(piece.text for piece in pieces(line))
    assert "\x1b" not in text
    assert text == sanitize(text)


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("https://github.com/ada/slugs.git", Remote("github.com", "ada", "slugs")),
        ("https://t:x@git.test/team/sub/slugs", Remote("git.test", "team/sub", "slugs")),
        ("git@github.com:ada/slugs.git", Remote("github.com", "ada", "slugs")),
        ("ssh://git@host:2222/ada/slugs", Remote("host", "ada", "slugs")),
        ("/srv/git/slugs.git", None),
        ("../slugs", None),
        ("https://host/", None),
    ],
)  # fmt: skip
def test_where_a_repository_comes_from(url: str, remote: Remote | None) -> None:
    assert parse_remote(url) == remote
