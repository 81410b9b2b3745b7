"""The documentation of keys, commands, settings and themes matches the program's tables."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner

from agent.settings.describe import DESCRIPTIONS, WITHOUT_EFFECT, setting_descriptions
from agent.settings.examples import EXAMPLES
from agent.settings.schema import SettingsFile, check
from benchmarks import manual
from benchmarks.reference import MANUAL, pages, put
from tests.repo.checkout import ROOT
from themes.registry import available_themes
from tui.command_line.command_line import run
from tui.command_line.subcommands.config_command import command
from tui.input.actions import ACTIONS


@pytest.mark.parametrize("where", pages())
def test_the_page_is_up_to_date(where: str) -> None:
    name, _, part = where.partition("#")
    page = (ROOT / "docs" / name).read_text("utf-8")
    assert put(page, part, pages()[where]) == page, "run: make docs"


def test_the_manual_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / MANUAL).read_text("utf-8") == manual.page(), "run: make docs"


def is_hidden(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.hidden


def test_the_manual_names_every_option_and_subcommand() -> None:
    text = manual.page().replace("\\-", "-")
    options = [name for parameter in run.params for name in parameter.opts if name[0] == "-"]
    missing = [name for name in options if name not in text]
    hidden = [name for parameter in run.params if is_hidden(parameter) for name in parameter.opts]
    assert missing == hidden, "what is hidden, and nothing else"
    for words in ("permissions check", "hooks run", "sessions repair", "config schema"):
        assert f"agent-tui {words}" in text


def test_every_action_is_documented() -> None:
    text = (ROOT / "docs" / "keys.md").read_text("utf-8")
    assert [action.id for action in ACTIONS if f"`{action.id}`" not in text] == []


def test_every_setting_is_described_once() -> None:
    assert set(DESCRIPTIONS) == set(SettingsFile.__struct_fields__)
    assert WITHOUT_EFFECT - set(SettingsFile.__struct_fields__) == set()
    assert all(each.form and each.text for each in setting_descriptions())


def test_settings_of_the_first_frame_are_not_for_projects() -> None:
    first = {"axScreenReader", "screen", "theme"}
    assert [
        each.key for each in setting_descriptions() if each.key in first and each.is_for_projects
    ] == []


def test_every_example_of_a_setting_can_be_used() -> None:
    model, problems = check(dict(EXAMPLES))
    assert problems == ()
    assert {key for key in EXAMPLES if getattr(model, key) is None} == set()
    plain = ("true or false", "`")
    wanted = {
        each.key
        for each in setting_descriptions()
        if each.has_effect and not each.form.startswith(plain)
    }
    assert wanted - set(EXAMPLES) == set()


@pytest.mark.parametrize("name", available_themes())
def test_every_theme_has_its_picture(name: str) -> None:
    picture = ROOT / "docs" / "images" / f"theme-{name}.svg"
    assert "Make this edit?" in picture.read_text("utf-8").replace("&#8203;", "")


def test_the_schema_can_be_printed_for_editors() -> None:
    result = CliRunner().invoke(command, ["schema"])
    schema = json.loads(result.output)
    assert result.exit_code == 0
    assert schema["properties"]["theme"]["description"].startswith("A theme's name")
