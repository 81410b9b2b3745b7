"""What a local command may use: the conversation as it sees it, and the places around it."""

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
    """The session, as commands read it; `agent.conversation.conversation_view` has it."""

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether a prompt is being worked on."""
        ...


class SessionChanges(Protocol):
    """What commands change; `agent.conversation.controls.ConversationControls` has it."""

    async def set_model(self, model: str) -> str:
        """Use another model from the next request on; return what of the history it cannot read."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort."""
        ...

    async def rename(self, title: str) -> None:
        """Give the session a name."""
        ...


class LedTeam(Protocol):
    """The team that the session leads; `agent.teams.leader` has it."""

    def lines(self) -> Sequence[str]:
        """Return the members, who waits for permission, and the tasks."""
        ...

    def rows(self) -> Sequence[RunningAgent]:
        """Return the workers with what they do and have used."""
        ...

    def follow(self, listener: Callable[[], None]) -> None:
        """Call this when a worker did something."""
        ...

    async def tell(self, name: str, text: str) -> str:
        """Send a worker a message; return what became of it. Raises TeamError and OSError."""
        ...

    async def dismiss(self, name: str) -> str:
        """Stop a worker for the user. Raises TeamError and OSError."""
        ...


class CommandContext(Struct, frozen=True, kw_only=True):
    """Made by the composition root, once per conversation."""

    session: CommandSession
    status: ConversationStatus
    costs: Costs | None
    """What was paid, by model and in all sessions; None where it is not added up."""
    context_breakdown: Callable[[], ContextBreakdown]
    """Returns what fills the model's window, part by part."""
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
    """Starts git."""
    home: Path
    agent_home: Path
    version: str
    endpoint: Callable[[], str]
    """Where requests go now, for users."""
    list_models: Callable[[], Awaitable[Sequence[str]]]
    """Asks the endpoint. Raises ModelError."""
    team: Callable[[], LedTeam | None]
    """Returns the team that the session leads; None where it leads none."""
    may_lead: Callable[[str], None]
    """Takes the name of a team. Raises AgentError where no session can begin to lead it."""
    advisor: AdvisorChoice
    """Which model the working one may consult."""
    model_problem: Callable[[str], str | None]
    """Returns why a model cannot be asked, with what to do; None where nothing is known."""
    ask_side_question: Callable[[str], Awaitable[str]]
    """Asks the model beside the conversation. Raises ModelError."""
    servers: Callable[[], LiveServers | None]
    """Returns the MCP servers; None where none is configured, and before they are made."""
    servers_made: Callable[[], Awaitable[None]]
    """Returns once they are made, where any are configured."""
    reload_settings: Callable[[], Awaitable[None]]
    """Reads settings and trust again; what changed applies at once. Raises ConfigError."""
