"""Everything about commands of one conversation, for the screen."""

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
    """What a module of a local command has."""

    async def call(self, arguments: str, context: CommandContext) -> CommandResult:
        """Do it. Raises AgentError for what users can mend."""
        ...


async def _at_once() -> None:
    return


class CommandService(Struct, frozen=True):
    """Registry, command files, the file list, and the way to run a local command."""

    registry: CommandRegistry
    custom: CustomCommands
    context: CommandContext
    files: FileIndex
    ready: Callable[[], Awaitable[None]] = _at_once
    """Returns once command files have been read: before it a name may be unknown."""

    async def run_local(self, command: LocalCommand, arguments: str) -> CommandResult:
        """Import a local command, run it and return what it asks for.

        Raises:
            AgentError: it cannot be done; the text is for the user.
        """
        module = cast(LocalModule, import_module(command.module))
        return await module.call(arguments, self.context)
