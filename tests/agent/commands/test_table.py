"""The built-in commands as a table: every row leads somewhere, and listing them loads nothing."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from agent.commands.spec import Command, InteractiveCommand, LocalCommand, PromptCommand
from agent.commands.table import BUILTIN_COMMANDS
from tui.panels import PANELS

FIRST_RELEASE = (
    "add-dir agents branch btw clear reset new color focus compact config settings context copy "
    "cost usage stats debug diff doctor effort exit quit export help hooks init keybindings "
    "memory model permissions plan recap rename resume continue rewind checkpoint undo "
    "skills reload-skills status statusline tasks bashes terminal-setup theme vim"
).split()


@pytest.mark.parametrize("command", BUILTIN_COMMANDS, ids=lambda command: command.meta.name)
def test_every_command_leads_to_its_module(command: Command) -> None:
    match command:
        case LocalCommand():
            assert inspect.iscoroutinefunction(import_module(command.module).call)
        case InteractiveCommand():
            assert inspect.iscoroutinefunction(import_module(PANELS[command.panel]).open_panel)
        case PromptCommand():
            assert command.load().body


def test_users_find_the_commands_they_know() -> None:
    names = {
        name for command in BUILTIN_COMMANDS for name in (command.meta.name, *command.meta.aliases)
    }
    assert set(FIRST_RELEASE) - names == set()


def test_no_name_means_two_things() -> None:
    names = [
        name for command in BUILTIN_COMMANDS for name in (command.meta.name, *command.meta.aliases)
    ]
    assert len(names) == len(set(names))


def test_listing_commands_imports_none_of_them() -> None:
    code = (
        "import sys, agent.commands.table;"
        "print(*[m for m in sys.modules if m.startswith('agent.commands.builtin.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_description_is_cut_in_a_menu_of_80_columns() -> None:
    assert [c.meta.name for c in BUILTIN_COMMANDS if len(c.meta.description) > 45] == []
