"""Dark or light as the terminal says, and themes that are read again when they are saved."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.tui.app.test_app_keys import send, settled, transcript_of
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, make_app
from themes.indexed import color_number
from themes.registry import load_theme
from themes.theme import Role, Theme
from tui.terminal.background import (
    color_count,
    dark_from_environment,
    dark_from_reply,
    is_color_change,
)
from tui.theme.theme_choice import ThemeChoice, load_for_terminal, theme_for
from tui.theme.theme_files import (
    follow_themes,
    known_background,
    named_theme,
    remember_background,
)


@pytest.mark.parametrize(
    ("reply", "dark"),
    [
        ("\x1b]11;rgb:1111/1111/1111\x1b\\", True),
        ("\x1b]11;rgb:ffff/fbfb/f7f7\x07", False),
        ("\x1b]11;rgb:00/2b/36\x1b\\", True),
        ("\x1b]11;rgba:fd/f6/e3/ff\x1b\\", False),
        ("\x1b]11;rgb:0/0/f\x07", True),
        ("\x1b]10;rgb:ffff/ffff/ffff\x1b\\", None),
        ("\x1b]11;?\x1b\\", None),
        ("\x1b]11;rgb:zz/00/00\x1b\\", None),
    ],
)
def test_what_an_answer_says(reply: str, dark: bool | None) -> None:
    assert dark_from_reply(reply) is dark


def test_a_change_of_colors_is_noticed() -> None:
    assert is_color_change("\x1b[?997;1n")
    assert not is_color_change("\x1b[?62;22c")


@pytest.mark.parametrize(
    ("value", "dark"), [("15;0", True), ("0;15", False), ("12;default;0", True), ("", None)]
)
def test_what_the_variable_says(value: str, dark: bool | None) -> None:
    assert dark_from_environment({"COLORFGBG": value}) is dark


def choice(
    wanted: str, themes_dir: tuple[Path, ...] = ()
) -> tuple[ThemeChoice, list[Theme], list[str]]:
    used: list[Theme] = []
    told: list[str] = []
    made = ThemeChoice(
        wanted,
        load_theme("dark")[0],
        themes_dir=themes_dir,
        use=used.append,
        notify=told.append,
    )
    return made, used, told


@pytest.mark.parametrize("term", ["xterm", "linux", "xterm-256color", "xterm-kitty", "screen"])
@pytest.mark.parametrize("colorterm", ["", "truecolor"])
def test_few_colors_are_those_that_rich_sees(term: str, colorterm: str) -> None:
    env = {"TERM": term, "COLORTERM": colorterm}
    console = Console(force_terminal=True, _environ=env)
    counts = {"standard": 16, "256": 256, "truecolor": 2**24}
    assert color_count(env) == counts[console.color_system or ""]


@pytest.mark.parametrize(
    ("is_dark", "name"), [(None, "ansi16"), (True, "ansi16"), (False, "ansi16-light")]
)
def test_auto_takes_the_terminals_own_where_it_has_few_colors(
    is_dark: bool | None, name: str
) -> None:
    assert theme_for("auto", is_dark, has_few_colors=True) == name


@pytest.mark.parametrize(
    ("choice", "shown"),
    [("high-contrast", "ansi16"), ("light", "ansi16-light"), ("ansi16", "ansi16")],
)
def test_a_chosen_theme_of_more_colors_is_replaced_where_there_are_sixteen(
    choice: str, shown: str
) -> None:
    assert load_for_terminal(choice, None, color_count=16, user_dir=None)[0].name == shown
    assert load_for_terminal(choice, None, color_count=2**24, user_dir=None)[0].name == choice


def test_a_chosen_theme_takes_colors_that_the_terminal_has() -> None:
    theme = load_for_terminal("light", None, color_count=256, user_dir=None)[0]
    assert theme.name == "light"
    assert all(color_number(value) for value in theme.roles.values())


def test_auto_follows_the_background() -> None:
    themes, used, _ = choice("auto")
    themes.background(False)
    themes.background(False)
    themes.background(True)
    assert [theme.name for theme in used] == ["light", "dark"]


def test_a_chosen_theme_stays_whatever_the_background() -> None:
    themes, used, _ = choice("high-contrast")
    themes.background(False)
    assert used == []
    themes.choose("auto")
    assert [theme.name for theme in used] == ["light"]


def test_a_theme_that_breaks_leaves_the_last_one(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[roles]\naccent = "#ff0000"\n')
    themes, used, told = choice("mine", (tmp_path,))
    themes.reload()
    file.write_text("[roles\n")
    themes.reload()
    file.write_text('[roles]\naccent = "#00ff00"\nno_such_role = "#fff"\n')
    themes.reload()
    assert [theme.roles[Role.ACCENT] for theme in used] == ["#ff0000", "#00ff00"]
    assert len(told) == 2
    assert "mine.toml" in told[0]
    assert "no_such_role" in told[1]


def test_what_a_theme_warns_of_is_reported_when_it_is_chosen_and_not_again(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text('[roles]\nno_such_role = "#fff"\n')
    themes, used, told = choice("dark", (tmp_path,))
    themes.choose("odd")
    themes.choose("odd")
    assert [theme.name for theme in used] == ["odd", "odd"]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [('[roles]\nno_such_role = "#fff"\n', "no_such_role"), ("[roles\n", "odd.toml")],
)
async def test_the_theme_panel_tells_what_is_wrong_once(
    tmp_path: Path, content: str, said: str
) -> None:
    (tmp_path / "odd.toml").write_text(content)
    app = make_app(RecordedConversation([]), themes_dir=(tmp_path,))
    async with app.run_test(size=(90, 40)) as pilot:
        await settled(pilot)
        await send(pilot, "/theme odd")
        await settled(pilot)
        assert transcript_of(app).count(said) == 1


async def test_a_saved_theme_and_a_changed_setting_are_noticed(tmp_path: Path) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    themes_dir = tmp_path / "themes"
    following = asyncio.ensure_future(
        follow_themes(
            tmp_path,
            (themes_dir,),
            reload=lambda: heard.put_nowait("reload"),
            choose=heard.put_nowait,
        )
    )
    try:
        # The watch begins at some moment: touched until it is heard.
        async def heard_after(write: object) -> str:
            while True:
                write()  # type: ignore[operator]
                try:
                    return await asyncio.wait_for(heard.get(), 1)
                except TimeoutError:
                    continue

        def name_one() -> None:
            (tmp_path / "settings.json").write_text(json.dumps({"theme": "light"}))

        def save_one() -> None:
            themes_dir.mkdir(exist_ok=True)
            (themes_dir / "mine.toml").write_text("[roles]\n")

        def name_another() -> None:
            (tmp_path / "settings.json").write_text(json.dumps({"theme": "dark"}))

        assert await heard_after(save_one) == "reload"
        name_one()
        found = ""
        while found != "dark":
            found = await heard_after(name_another)
        assert named_theme(tmp_path) == "dark"
    finally:
        following.cancel()
        await asyncio.wait({following})


@pytest.mark.parametrize("text", ["", "[]", '{"theme": 3}', '{"theme": ""}', "{"])
def test_settings_that_name_no_theme(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    assert named_theme(tmp_path) is None


def test_the_background_is_known_at_the_next_start(tmp_path: Path) -> None:
    assert known_background(tmp_path) is None
    remember_background(tmp_path, False)
    assert known_background(tmp_path) is False
    remember_background(tmp_path, True)
    assert known_background(tmp_path) is True
    (tmp_path / "cache" / "background").write_bytes(b"\xff")
    assert known_background(tmp_path) is None
    remember_background(tmp_path / "none", True)
    assert not (tmp_path / "none").exists()


async def test_the_panel_shows_a_theme_of_claude_code_as_the_one_in_use(tmp_path: Path) -> None:
    (tmp_path / "dusk.json").write_text('{"name": "Dusk", "base": "dark", "overrides": {}}')
    app = make_app(themes_dir=(tmp_path,))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.parts.appearance.choose_theme("custom:dusk")
        assert "❯ ● dusk" in await opened(pilot, "/theme")
        await pilot.press("up", "escape")
        await settled(pilot)
        assert app.parts.appearance.themes.theme_name == "dusk"
        assert app.palette.theme.label == "Dusk"
