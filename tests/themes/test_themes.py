"""Shipped themes are complete and readable; user themes inherit, and say what they got wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from themes.registry import available_themes, load_theme
from themes.theme import Role, ThemeError, contrast, parse_color

READ_ROLES = (
    Role.TEXT,
    Role.MUTED,
    Role.ACCENT,
    Role.SUCCESS,
    Role.WARNING,
    Role.ERROR,
    Role.SHELL,
    Role.HEADING,
    Role.CODE,
    Role.QUOTE,
    Role.LINK,
    Role.MODE_DEFAULT,
    Role.MODE_ACCEPT_EDITS,
    Role.MODE_PLAN,
    Role.MODE_BYPASS,
    Role.SYNTAX_COMMENT,
    Role.SYNTAX_STRING,
)
TRUE_COLOUR = [name for name in available_themes() if not load_theme(name)[0].uses_terminal_palette]


@pytest.mark.parametrize("name", available_themes())
def test_shipped_theme_loads_without_warnings(name: str) -> None:
    theme, warnings = load_theme(name)
    assert (set(theme.roles), warnings) == (set(Role), ())


@pytest.mark.parametrize("name", TRUE_COLOUR)
def test_text_roles_are_readable_on_the_grounds_they_appear_on(name: str) -> None:
    theme, _ = load_theme(name)
    for ground in (Role.BACKGROUND, Role.SURFACE):
        low = {r: contrast(theme.roles[r], theme.roles[ground]) for r in READ_ROLES}
        assert {r: c for r, c in low.items() if c < 4.5} == {}


@pytest.mark.parametrize("name", TRUE_COLOUR)
def test_code_stays_readable_on_diff_grounds(name: str) -> None:
    theme, _ = load_theme(name)
    for ground in (
        Role.DIFF_ADDED,
        Role.DIFF_REMOVED,
        Role.DIFF_ADDED_WORD,
        Role.DIFF_REMOVED_WORD,
    ):
        assert contrast(theme.roles[Role.TEXT], theme.roles[ground]) >= 4.5


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("#ABC", "#aabbcc"),
        ("rgb(1, 2, 255)", "#0102ff"),
        ("ansi256(200)", "ansi256(200)"),
        ("ansi:bright-blue", "ansi:bright_blue"),
        ("default", "default"),
    ],
)
def test_colour_forms(text: str, canonical: str) -> None:
    assert parse_color(text) == canonical


@pytest.mark.parametrize("text", ["", "red", "#12", "rgb(300,0,0)", "ansi256(256)", "ansi:pink"])
def test_what_is_no_colour(text: str) -> None:
    with pytest.raises(ThemeError, match="is not a colour"):
        parse_color(text)


def test_user_theme_inherits_and_reports_what_it_ignored(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'base = "light"\n[roles]\naccent = "#f0f"\nnonsense = "#fff"\nerror = "reddish"\n'
    )
    theme, warnings = load_theme("mine", user_dir=tmp_path)
    assert theme.roles[Role.ACCENT] == "#ff00ff"
    assert theme.roles[Role.ERROR] == load_theme("light")[0].roles[Role.ERROR]
    assert theme.dark is False
    assert len(warnings) == 2


def test_user_theme_that_names_itself_as_base_ends(tmp_path: Path) -> None:
    (tmp_path / "loop.toml").write_text('base = "loop"\n')
    with pytest.raises(ThemeError, match="no theme is called 'loop'"):
        load_theme("loop", user_dir=tmp_path)


def test_a_theme_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("")
    inner = tmp_path / "themes"
    inner.mkdir()
    with pytest.raises(ThemeError):
        load_theme("../secret", user_dir=inner)
