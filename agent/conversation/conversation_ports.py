"""The parts of a conversation, and the protocols of its ports.

Built by `agent.assembly.assemble`. Next: `agent.conversation.conversation`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from agent.commands.service import CommandService
from agent.conversation.accounting import Totals
from agent.conversation.automatic_title import AutomaticTitle
from agent.conversation.display_hooks import DisplayHooks
from agent.display import Display, TodoItem
from agent.events import AgentEvent
from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.loop_ports import LoopPorts
from agent.messages import Message
from agent.model.client import Effort
from agent.orchestration.orchestration_mode import OrchestrationMode
from agent.orchestration.workflows import Workflows
from agent.prompt.expansion import PromptExpander
from agent.stream import EventStream
from agent.subagents.supervisor import AgentSupervisor
from agent.tools.shell.shells import ShellRegistry
from agent.user_prompt import Prompt
from permissions.gate import PermissionGate

if TYPE_CHECKING:
    from agent.observe.ledger import Costs
    from agent.session.checkpoints.checkpoint import Checkpoints
    from agent.session.session_recorder import SessionRecorder

DEFAULT_MAX_TURNS: Final = 200
DEFAULT_MAX_TURNS_HEADLESS: Final = 50


class Reminders(Protocol):
    """Notes for the model that precede a prompt and stay in the history."""

    def first(self) -> Sequence[str]:
        """Return the notes at the start of a conversation: environment, instructions, date."""
        ...

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt: mode, date, todo list; usually empty."""
        ...


class ModelSwitch(Protocol):
    """Changes the model and effort of the next request."""

    async def set_model(self, model: str) -> None:
        """Use another model."""
        ...

    def left_out(self, messages: Sequence[Message]) -> str:
        """Return a sentence about parts of a history that the model cannot read, or ""."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort; None is the model's default."""
        ...

    @property
    def takes_system_messages(self) -> bool:
        """Whether the model accepts system messages within the conversation."""
        ...

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        ...

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers."""
        ...

    @property
    def max_output_tokens(self) -> int:
        """Longest answer of the model, in tokens."""
        ...

    def set_thinking(self, is_on: bool) -> bool:
        """Switch thinking on or off; return False if the model does not support this."""
        ...


class Identity(Struct, frozen=True):
    """What does not change while the program runs."""

    launch_dir: Path
    project_root: Path
    is_demo: bool
    endpoint: str
    """Address that requests are sent to, as shown to users."""
    branch: str | None = None
    version: str = ""
    key_source: str = ""
    """Where the credentials came from: a variable's name, `apiKeyHelper`, or "no key needed"."""
    plugins: tuple[tuple[str, Path], ...] = ()
    """Name and directory of each plugin."""


class ConversationParts(Struct, frozen=True, kw_only=True):
    """All parts of a conversation."""

    identity: Identity
    gate: PermissionGate
    hooks: HookDispatch
    ports: LoopPorts
    stream: EventStream
    recorder: SessionRecorder
    reminders: Reminders
    totals: Totals
    model: Callable[[], str]
    effort: Callable[[], str | None]
    switch: ModelSwitch
    shells: ShellRegistry
    max_turns: int
    previews: Mapping[str, Display | None]
    """By the identifier of a call that waits for permission."""
    todos: Callable[[], tuple[TodoItem, ...]]
    cwd: Callable[[], Path]
    move: Callable[[Path], bool]
    """Changes the current directory; returns False if it is outside the scope."""
    tool_names: tuple[str, ...]
    commands: Callable[[], CommandService]
    """Returns the user's commands; only callable after the assembly."""
    queue: list[Prompt]
    """Shared with the loop, which takes prompts that join a running turn."""
    on_close: tuple[Callable[[], Awaitable[None]], ...]
    """Awaited in this order, after SessionEnd."""
    messages: tuple[Message, ...] = ()
    is_resumed: bool = False
    observe: Callable[[AgentEvent], None] = lambda _: None
    after_prompt: Callable[[tuple[Message, ...]], None] = lambda _: None
    """Receives the history after each completed prompt; must not block."""
    titles: AutomaticTitle
    token_budget: int | None = None
    on_start: Callable[[], Awaitable[None]]
    """Fires the start-up hooks; the first prompt waits for it."""
    display: DisplayHooks
    """Lets hooks see text before it is shown."""
    checkpoints: Checkpoints | None = None
    """Contents of files before each prompt; None if they are not stored."""
    costs: Costs | None = None
    """None if costs are not recorded."""
    expander: PromptExpander | None = None
    agents: AgentSupervisor
    workflows: Workflows
    orchestration: OrchestrationMode
    initial_prompt: str = ""
    """Precedes the first prompt of a new session."""
