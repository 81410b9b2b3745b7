"""The commands of one conversation, for the screen and headless runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Protocol, cast

from msgspec import Struct

from agent.commands.command_context import CommandContext
from agent.commands.command_registry import CommandRegistry
from agent.commands.command_results import CommandResult
from agent.commands.sources.command_files import CustomCommands
from agent.commands.spec import LocalCommand
from agent.files.file_index import FileIndex


class LocalModule(Protocol):
    """The interface of a local command's module."""

    async def call(self, arguments: str, context: CommandContext) -> CommandResult:
        """Run the command. Raises AgentError, with a text for the user."""
        ...


async def _no_wait() -> None:
    return


class CommandService(Struct, frozen=True):
    """Registry, command files and file index; runs local commands."""

    registry: CommandRegistry
    custom: CustomCommands
    context: CommandContext
    files: FileIndex
    ready: Callable[[], Awaitable[None]] = _no_wait
    """Returns once command files have been read; before that a name may be unknown."""

    async def run_local(self, command: LocalCommand, arguments: str) -> CommandResult:
        """Import and run a local command, and return its result.

        Raises:
            AgentError: the command failed; the text is for the user.
        """
        module = cast(LocalModule, import_module(command.module))
        return await module.call(arguments, self.context)
