"""What a conversation is made of: the protocols it works through, and all parts in one value.

Put together by `agent.assembly.assemble`. Next: `agent.conversation.conversation`.
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
    """Notes for the model that go in front of a prompt and stay in the history."""

    def first(self) -> Sequence[str]:
        """Return what opens a conversation: environment, instructions, date."""
        ...

    def before_prompt(self) -> Sequence[str]:
        """Return what changed since the last prompt: mode, date, todo list; usually empty."""
        ...


class ModelSwitch(Protocol):
    """Changes what the next request asks for."""

    async def set_model(self, model: str) -> None:
        """Use another model."""
        ...

    def left_out(self, messages: Sequence[Message]) -> str:
        """Return a sentence on what of a history the model cannot read; empty for nothing."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort; None is the model's default."""
        ...

    @property
    def takes_system_messages(self) -> bool:
        """Whether the model takes messages of the system within the conversation."""
        ...

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        ...

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers."""
        ...

    def set_thinking(self, is_on: bool) -> bool:
        """Have it think, or not; False where the model can do only the other."""
        ...


class Identity(Struct, frozen=True):
    """What does not change while the program runs."""

    launch_dir: Path
    project_root: Path
    is_demo: bool
    endpoint: str
    """Where requests go, as shown to users."""
    branch: str | None = None
    version: str = ""


class ConversationParts(Struct, frozen=True, kw_only=True):
    """Everything a conversation works with."""

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
    """Changes it; False outside the scope."""
    tool_names: tuple[str, ...]
    commands: Callable[[], CommandService]
    """What the user can type after `/`; readable once everything is assembled."""
    queue: list[Prompt]
    """Shared with what lets prompts join a running turn."""
    on_close: tuple[Callable[[], Awaitable[None]], ...]
    """In this order, after SessionEnd."""
    messages: tuple[Message, ...] = ()
    is_resumed: bool = False
    observe: Callable[[AgentEvent], None] = lambda _: None
    after_prompt: Callable[[tuple[Message, ...]], None] = lambda _: None
    """Gets the history after each prompt that was done; must come back at once."""
    titles: AutomaticTitle
    token_budget: int | None = None
    on_start: Callable[[], Awaitable[None]]
    """Fires the hooks of the start; the first prompt waits for it."""
    display: DisplayHooks
    """Lets hooks see text before it is shown."""
    checkpoints: Checkpoints | None = None
    """The files as they were before each prompt; None where nothing stores them."""
    costs: Costs | None = None
    """None where they are not added up."""
    expander: PromptExpander | None = None
    agents: AgentSupervisor
    workflows: Workflows
    orchestration: OrchestrationMode
    initial_prompt: str = ""
    """Precedes the first prompt of a new session."""
