"""Shipped themes are complete and readable; user themes inherit, and say what they got wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from themes.readable import LEAST, contrast, luminance
from themes.registry import available_themes, load_theme
from themes.theme import ANSI_NAMES, Role, ThemeError, parse_color

TRUE_COLOR = [name for name in available_themes() if not load_theme(name)[0].uses_terminal_palette]


@pytest.mark.parametrize("name", available_themes())
def test_shipped_theme_loads_without_warnings(name: str) -> None:
    theme, warnings = load_theme(name)
    assert (set(theme.roles), warnings) == (set(Role), ())


@pytest.mark.parametrize("name", TRUE_COLOR)
def test_what_is_read_has_contrast(name: str) -> None:
    roles = load_theme(name)[0].roles
    assert {
        (role, ground): round(ratio, 2)
        for role, grounds in LEAST.items()
        for ground, least in grounds.items()
        if (ratio := contrast(luminance(roles[role]), luminance(roles[ground]))) < least
    } == {}


XTERM = (
    "#000000 #cd0000 #00cd00 #cdcd00 #0000ee #cd00cd #00cdcd #e5e5e5 "
    "#7f7f7f #ff0000 #00ff00 #ffff00 #5c5cff #ff00ff #00ffff #ffffff"
).split()
LINUX = (
    "#000000 #aa0000 #00aa00 #aa5500 #0000aa #aa00aa #00aaaa #aaaaaa "
    "#555555 #ff5555 #55ff55 #ffff55 #5555ff #ff55ff #55ffff #ffffff"
).split()


@pytest.mark.parametrize("palette", [XTERM, LINUX], ids=["xterm", "linux"])
@pytest.mark.parametrize(
    ("name", "text", "ground", "greens"),
    # No green of these palettes is readable on white; a user's palette for white has darker ones.
    [("ansi16", 7, 0, set()), ("ansi16-light", 0, 15, {"ansi:green"})],
)
def test_colors_of_the_terminal_are_readable_with_common_palettes(
    name: str, text: int, ground: int, greens: set[str], palette: list[str]
) -> None:
    names = {f"ansi:{one}": color for one, color in zip(ANSI_NAMES, palette, strict=True)}
    roles = load_theme(name)[0].roles
    low = {
        (role, on): round(ratio, 2)
        for role, grounds in LEAST.items()
        for on in grounds
        if roles[role] not in greens and on is not Role.SELECTION
        if (
            ratio := contrast(
                luminance(names.get(roles[role], palette[text])),
                luminance(names.get(roles[on], palette[ground])),
            )
        )
        < 3.7
    }
    assert low == {}


# Viénot, Brettel and Mollon 1999, for linear light: what red and green cones, where one kind is
# missing, make of a color.
PROTANOPIA = ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0))
DEUTERANOPIA = ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0))


@pytest.mark.parametrize("name", ["dark-daltonized", "light-daltonized"])
@pytest.mark.parametrize("eyes", [PROTANOPIA, DEUTERANOPIA], ids=["protanopia", "deuteranopia"])
@pytest.mark.parametrize(
    ("added", "removed"),
    [
        (Role.DIFF_ADDED, Role.DIFF_REMOVED),
        (Role.DIFF_ADDED_WORD, Role.DIFF_REMOVED_WORD),
        (Role.DIFF_ADDED_SIGN, Role.DIFF_REMOVED_SIGN),
        (Role.SUCCESS, Role.ERROR),
    ],
)
def test_added_and_removed_differ_for_eyes_without_red_or_green(
    name: str, eyes: tuple[tuple[float, ...], ...], added: Role, removed: Role
) -> None:
    theme, _ = load_theme(name)
    assert distance(*(seen(theme.roles[role], eyes) for role in (added, removed))) > 25


def seen(color: str, eyes: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """Return a color as such eyes see it, in 0 to 255."""
    light = [(int(color[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
    mixed = (sum(w * c for w, c in zip(row, light, strict=True)) for row in eyes)
    return tuple(255 * max(0.0, value) ** (1 / 2.2) for value in mixed)


def distance(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    return math.dist(first, second)


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
def test_color_forms(text: str, canonical: str) -> None:
    assert parse_color(text) == canonical


@pytest.mark.parametrize("text", ["", "red", "#12", "rgb(300,0,0)", "ansi256(256)", "ansi:pink"])
def test_what_is_no_color(text: str) -> None:
    with pytest.raises(ThemeError, match="is not a color"):
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
    with pytest.raises(ThemeError, match="its own base"):
        load_theme("loop", user_dir=tmp_path)


def test_a_theme_name_cannot_leave_the_directory(tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("")
    inner = tmp_path / "themes"
    inner.mkdir()
    with pytest.raises(ThemeError):
        load_theme("../secret", user_dir=inner)


def test_user_themes_that_inherit_from_each_other_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('base = "b"\n')
    (tmp_path / "b.toml").write_text('base = "a"\n')
    with pytest.raises(ThemeError, match="theme 'a' is its own base \\(a → b → a\\)"):
        load_theme("a", user_dir=tmp_path)


def test_a_base_that_does_not_exist_is_named_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "gone"\n')
    with pytest.raises(ThemeError, match=r"mine\.toml: there is no theme 'gone', its base"):
        load_theme("mine", user_dir=tmp_path)


def test_a_theme_inherits_over_several_files_and_from_other_programs_names(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('base = "custom:b"\n[roles]\naccent = "#111111"\n')
    (tmp_path / "b.toml").write_text('base = "light-ansi"\n[roles]\nerror = "#222222"\n')
    theme, warnings = load_theme("custom:a", user_dir=tmp_path)
    assert (theme.roles[Role.ACCENT], theme.roles[Role.ERROR]) == ("#111111", "#222222")
    assert theme.roles[Role.TEXT] == load_theme("ansi16-light")[0].roles[Role.TEXT]
    assert warnings == ()


def test_a_file_named_as_a_shipped_theme_changes_that_theme(tmp_path: Path) -> None:
    (tmp_path / "light.toml").write_text('[roles]\naccent = "#123456"\n')
    theme, _ = load_theme("light", user_dir=tmp_path)
    assert theme.roles[Role.ACCENT] == "#123456"
    assert theme.dark is False


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"[roles", b"roles = 3\n", b"x = " + b"[" * 5000, b"#" * 70_000]
)
def test_what_is_no_theme_is_reported_with_its_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.toml").write_bytes(content)
    with pytest.raises(ThemeError, match="mine"):
        load_theme("mine", user_dir=tmp_path)
