"""Theme files written for Claude Code work as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from themes.registry import available_themes, load_theme
from themes.theme import Role, ThemeError


def write(directory: Path, stem: str, **data: object) -> None:
    directory.mkdir(exist_ok=True)
    (directory / f"{stem}.json").write_text(json.dumps(data))


def test_tokens_become_roles_over_their_base(tmp_path: Path) -> None:
    overrides = {
        "claude": "#f0f",
        "diffAdded": "rgb(1,2,3)",
        "inactive": "ansi:blackBright",
        "claudeShimmer": "#fff",
        "rate_limit_fill": "#fff",
        "red_FOR_SUBAGENTS_ONLY": "#fff",
    }
    write(tmp_path, "dusk", name="Dusk", base="light-daltonized", overrides=overrides)
    theme, warnings = load_theme("custom:dusk", user_dir=tmp_path)
    base, _ = load_theme("light-daltonized")
    assert (theme.label, theme.dark, warnings) == ("Dusk", False, ())
    assert theme.roles[Role.ACCENT] == "#ff00ff"
    assert theme.roles[Role.DIFF_ADDED] == "#010203"
    assert theme.roles[Role.MUTED] == "ansi:bright_black"
    assert theme.roles[Role.ERROR] == base.roles[Role.ERROR]


def test_what_no_one_knows_is_left_out_and_reported(tmp_path: Path) -> None:
    write(tmp_path, "odd", overrides={"nonsense": "#fff", "error": "reddish", "text": 7})
    theme, warnings = load_theme("odd", user_dir=tmp_path)
    assert theme.roles == {**load_theme("dark")[0].roles}
    assert any("nonsense" in warning for warning in warnings)
    assert any("reddish" in warning for warning in warnings)


@pytest.mark.parametrize("text", ["[]", "{", '{"overrides": 3}', '{"base": "gone"}', "3"])
def test_what_is_no_theme_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ThemeError, match="bad"):
        load_theme("bad", user_dir=tmp_path)


def test_own_files_come_before_those_of_claude_code(tmp_path: Path) -> None:
    own, theirs = tmp_path / "own", tmp_path / "theirs"
    write(theirs, "both", overrides={"error": "#111111"})
    write(theirs, "only", base="both", overrides={"warning": "#222222"})
    own.mkdir()
    (own / "both.toml").write_text('[roles]\nerror = "#333333"\n')
    directories = (own, theirs)
    assert set(available_themes(directories)) - set(available_themes()) == {"both", "only"}
    assert load_theme("both", user_dir=directories)[0].roles[Role.ERROR] == "#333333"
    only = load_theme("only", user_dir=directories)[0]
    assert (only.roles[Role.ERROR], only.roles[Role.WARNING]) == ("#333333", "#222222")
