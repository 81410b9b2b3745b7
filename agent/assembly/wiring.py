"""State that the parts of a conversation share, and references to parts that are built later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from agent.assembly.late import Late
from agent.commands.service import CommandService
from agent.commands.sources.command_files import CustomCommands
from agent.conversation.conversation import Conversation
from agent.display import Display
from agent.hook_events.file_events import HookSources
from agent.loop.loop_ports import LoopPorts
from agent.prompt.shell_command_note import as_typed
from agent.stream import EventStream
from agent.subagents.definition import AgentDefinition
from agent.teams.seat import TeamSeat
from agent.tools.services import ToolServices
from agent.tools.shell.shells import ShellRegistry
from agent.user_prompt import Prompt
from permissions.base.process.background_tasks import BackgroundTasks
from permissions.gate import PermissionGate

if TYPE_CHECKING:
    from agent.mcp.live.agent_servers import OpenServers
    from agent.mcp.live.live_servers import LiveServers

OpenAgentServers = Callable[[AgentDefinition], Awaitable["OpenServers"]]
"""Connects to the servers that a definition configures."""
AskAboutServers = Callable[[AgentDefinition], Awaitable[Sequence[str]]]
"""Asks the user about them; returns why some are not started."""


class LateParts(Struct, frozen=True):
    """The parts that others refer to before they are built, each bound once by its builder."""

    gate: Late[PermissionGate] = field(default_factory=lambda: Late("permission gate"))
    custom: Late[CustomCommands] = field(default_factory=lambda: Late("command files"))
    services: Late[ToolServices] = field(default_factory=lambda: Late("tool services"))
    sources: Late[HookSources] = field(default_factory=lambda: Late("sources of hook events"))
    ports: Late[LoopPorts] = field(default_factory=lambda: Late("loop's ports"))
    conversation: Late[Conversation] = field(default_factory=lambda: Late("conversation"))
    commands: Late[CommandService] = field(default_factory=lambda: Late("command service"))
    seat: Late[TeamSeat | None] = field(default_factory=lambda: Late("place in a team"))

    mcp: Late[LiveServers] = field(default_factory=lambda: Late("MCP servers"))
    """Bound once a server is configured."""

    making_servers: Late[asyncio.Task[None]] = field(default_factory=lambda: Late("start of MCP"))
    """Bound when loading begins; `mcp` is bound at its end."""

    open_servers: Late[OpenAgentServers] = field(default_factory=lambda: Late("servers of agents"))
    ask_about_servers: Late[AskAboutServers] = field(
        default_factory=lambda: Late("questions about servers of agents")
    )

    async def servers_made(self) -> None:
        """Return once the MCP servers are loaded, or at once if none are configured."""
        if self.making_servers.is_bound:
            await asyncio.wait({self.making_servers()})

    def servers_or_none(self) -> LiveServers | None:
        """Return the MCP servers; None if none are loaded."""
        return self.mcp() if self.mcp.is_bound else None

    def cwd(self) -> Path:
        """Return the shell's current directory."""
        return self.services().cwd

    def places(self) -> tuple[str, str]:
        """Return the shell's current directory and the user's home."""
        services = self.services()
        return str(services.cwd), str(services.home)

    def mode(self) -> str:
        """Return the permission mode in force."""
        return str(self.gate().mode)

    def turn_id(self) -> str:
        """Return the turn in progress, or the last one."""
        return self.conversation().view.turn_id

    def user_messages(self) -> list[str]:
        """Return what the user typed, oldest first, without the output of `!` commands."""
        return [as_typed(message.text) for message in self.conversation().view.prompts]


class SharedState(Struct, frozen=True):
    """The state that several parts of one conversation read and change."""

    queue: list[Prompt] = field(default_factory=list)
    """Prompts that wait for a running turn."""
    previews: dict[str, Display | None] = field(default_factory=dict)
    """By the identifier of a call that waits for permission."""
    env_files: list[Path] = field(default_factory=list)
    """Shell files that hooks wrote."""
    stream: EventStream = field(default_factory=EventStream)
    shells: ShellRegistry = field(default_factory=ShellRegistry)
    background: BackgroundTasks = field(default_factory=BackgroundTasks)
