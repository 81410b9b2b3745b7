"""What a user is told who types the name of a command that is not here."""

from __future__ import annotations

import re

import pytest

from agent.commands import advice
from agent.commands.advice import advice_on
from agent.commands.command_registry import CommandRegistry
from agent.commands.spec import Surface
from agent.commands.table import BUILTIN_COMMANDS

SCREEN = CommandRegistry([lambda: BUILTIN_COMMANDS], Surface.SCREEN)
HEADLESS = CommandRegistry([lambda: BUILTIN_COMMANDS], Surface.HEADLESS)
NAMES = {name for c in BUILTIN_COMMANDS for name in (c.meta.name, *c.meta.aliases)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/models", "/model chooses it"),
        ("/LOGIN", "ANTHROPIC_API_KEY"),
        ("/commit the parser", "~/.agent/commands/commit.md"),
        ("/statsu", "Did you mean /status?"),
        ("/renmae new name", "Did you mean /rename?"),
        ("/frobnicate", "start with a space"),
        ("/frobnicate the parser", "Unknown command /frobnicate."),
    ],
)
def test_a_name_from_elsewhere_is_answered(text: str, expected: str) -> None:
    said = advice_on(text, SCREEN)
    assert said is not None
    assert expected in said


@pytest.mark.parametrize(
    "text", ["/usr/bin is missing", "/etc is full", "/ a", "/", "hello", "/cost"]
)
def test_what_is_no_command_is_sent(text: str) -> None:
    assert advice_on(text, SCREEN) is None


def test_no_menu_is_named_where_there_is_none() -> None:
    said = advice_on("/frobnicate", HEADLESS)
    assert said == "Unknown command /frobnicate. Start with a space to send it as text."


def test_a_command_that_waits_for_trust_is_reported() -> None:
    said = advice_on("/deploy now", SCREEN, ["deploy"])
    assert said == "/deploy of this project has no effect before /trust (or --trust)."


def test_without_a_screen_a_command_for_it_is_reported() -> None:
    said = advice_on("/color red", HEADLESS)
    assert said == "/color is only available on the screen: start agent-tui without -p."
    said = advice_on("/settings", HEADLESS)
    assert said is not None
    assert said.startswith(
        "/settings is only available on the screen: agent-tui config shows the settings"
    )
    assert set(advice._FROM_A_SHELL) <= NAMES


def test_no_advice_hides_a_command() -> None:
    assert NAMES.isdisjoint(advice._ADVICE)


def test_advice_names_commands_that_exist() -> None:
    texts = " ".join(advice._ADVICE.values())
    assert set(re.findall(r"(?<![\w.~/])/([a-z][a-z-]*)", texts)) <= NAMES
