"""The subcommands for users and CI, each in a module that is imported when it is called."""

from __future__ import annotations

import importlib
from typing import Final

import click

from tui.command_line import WORKER

_MODULES: Final = {
    "permissions": "tui.command_line.subcommands.permissions_command",
    "hooks": "tui.command_line.subcommands.hooks_command",
    "sessions": "tui.command_line.subcommands.sessions",
    "doctor": "tui.command_line.subcommands.doctor_command",
    "sandbox": "tui.command_line.subcommands.sandbox_command",
    "agents": "tui.command_line.subcommands.agents_command",
    "mcp": "tui.command_line.subcommands.mcp_command",
    "workflow": "tui.command_line.subcommands.workflow.workflow_command",
    "config": "tui.command_line.subcommands.config_command",
    "update": "tui.command_line.subcommands.update_command",
    "completion": "tui.command_line.subcommands.completion",
    WORKER: "tui.command_line.subcommands.worker_command",
}


class _LazyGroup(click.Group):
    """A group that imports only the command that is called, so that `permissions check` starts
    quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in _MODULES if name != WORKER]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _MODULES.get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return command


def commands() -> click.Command:
    """Return the group of all subcommands."""
    return _LazyGroup("agent-tui", context_settings={"help_option_names": ["-h", "--help"]})
