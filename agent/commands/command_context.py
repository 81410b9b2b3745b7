"""What a local command may use of the conversation and its environment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from agent.advisor.consultation import AdvisorChoice
from agent.commands.command_registry import CommandRegistry
from agent.commands.sources.command_files import CustomCommands
from agent.conversation_facts import ConversationStatus, SessionFacts
from agent.memory.context_breakdown import ContextBreakdown
from agent.model.client import Effort
from agent.observe.ledger import Costs
from agent.orchestration.orchestration_mode import OrchestrationMode
from agent.orchestration.workflows import Workflows
from agent.prompt.instruction_files import InstructionFile
from agent.sandbox.sandbox import Sandbox
from agent.settings.load import Settings
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor
from agent.tools.shell.shells import ShellRegistry
from hooks.runner import HookRunner
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.gate import PermissionGate

if TYPE_CHECKING:
    from agent.mcp.live.live_servers import LiveServers


class CommandSession(SessionFacts, Protocol):
    """The session as commands see it; implemented in `agent.conversation.conversation_view`."""

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        ...


class SessionChanges(Protocol):
    """What commands change; implemented by `agent.conversation.controls.ConversationControls`."""

    async def set_model(self, model: str) -> str:
        """Use another model for the next request; return what it cannot read of the history."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort."""
        ...

    async def rename(self, title: str) -> None:
        """Give the session a name."""
        ...


class LedTeam(Protocol):
    """The team that the session leads; implemented in `agent.teams.leader`."""

    def lines(self) -> Sequence[str]:
        """Return the members, those that wait for permission, and the tasks."""
        ...

    def rows(self) -> Sequence[RunningAgent]:
        """Return the workers with their activity and usage."""
        ...

    def follow(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every activity of a worker."""
        ...

    async def tell(self, name: str, text: str) -> str:
        """Send a worker a message; return a text about it. Raises TeamError and OSError."""
        ...

    async def dismiss(self, name: str) -> str:
        """Stop a worker; return a text about it. Raises TeamError and OSError."""
        ...


class CommandContext(Struct, frozen=True, kw_only=True):
    """What commands may use; created by the assembly, once per conversation."""

    session: CommandSession
    status: ConversationStatus
    costs: Costs | None
    """Costs by model and of all sessions; None if they are not recorded."""
    context_breakdown: Callable[[], ContextBreakdown]
    """Returns the usage of the model's window by part."""
    changes: SessionChanges
    registry: CommandRegistry
    custom: CustomCommands
    settings: Callable[[], Settings]
    gate: PermissionGate
    sandbox: Sandbox
    hooks: HookRunner
    shells: ShellRegistry
    agents: AgentSupervisor
    orchestration: OrchestrationMode
    workflows: Workflows
    instructions: Callable[[], Sequence[InstructionFile]]
    on_directory: Callable[[Path], None]
    """Receives a working directory that was added."""
    env: Mapping[str, str]
    reading: ReadingPrograms
    """Starts git, confined to reading."""
    home: Path
    agent_home: Path
    version: str
    endpoint: Callable[[], str]
    """Returns the address that requests are sent to, for users."""
    list_models: Callable[[], Awaitable[Sequence[str]]]
    """Asks the endpoint. Raises ModelError."""
    team: Callable[[], LedTeam | None]
    """Returns the team that the session leads, or None."""
    may_lead: Callable[[str], None]
    """Takes the name of a team. Raises AgentError if no session can begin to lead it."""
    advisor: AdvisorChoice
    """The model that the working model may consult."""
    follow_model: Callable[[Callable[[], None]], None]
    """Takes a listener, called whenever the endpoint has reported the model's capabilities."""
    model_problem: Callable[[str], str | None]
    """Returns why a model cannot be used, and what to do; None if no problem is known."""
    ask_side_question: Callable[[str], Awaitable[str]]
    """Asks the model a side question, which the history does not contain. Raises ModelError."""
    servers: Callable[[], LiveServers | None]
    """Returns the MCP servers; None if none is configured, or before they are loaded."""
    servers_made: Callable[[], Awaitable[None]]
    """Returns once they are loaded, or at once if none is configured."""
    reload_settings: Callable[[], Awaitable[None]]
    """Reads settings and trust again; what changed applies at once. Raises ConfigError."""
