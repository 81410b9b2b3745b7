"""The objects that the parts of one run share: state, settings, hooks, event listener."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields

from agent.library.agents.run_hooks import RunHooks
from agent.library.base.raw_items import RawItem
from agent.library.context.run_context import AgentHookContext, RunContextWrapper
from agent.library.context.run_steps import RunSteps, current_steps
from agent.library.items.run_events import StreamEvent, item_event
from agent.library.items.run_items import RunItem
from agent.library.models.model_interface import Model
from agent.library.program.standard_gate import RunGate, StandardGate
from agent.library.sessions.item_session import ItemSession
from agent.library.state.run_config import RunConfig, RunErrorHandlers
from agent.library.state.run_progress import RunProgress

Emit = Callable[[StreamEvent], None]


@dataclass
class RunScope:
    """The environment of one run."""

    state: RunProgress
    config: RunConfig
    hooks: RunHooks
    find_model: Callable[[RawItem], Model]
    """Returns the model of an agent."""
    find_gate: Callable[[], Awaitable[StandardGate]]
    session: ItemSession | None = None
    emit: Emit | None = None
    """None: there is no reader of events, and model calls are not streamed."""
    error_handlers: RunErrorHandlers = field(default_factory=lambda: RunErrorHandlers())
    previous_response_id: str | None = None
    auto_previous_response_id: bool = False
    conversation_id: str | None = None
    steps: RunSteps = field(default_factory=current_steps)
    gate: RunGate | None = None
    """Rules and hooks of this run; None before its start."""
    is_tripped: bool = False
    """An input guardrail triggered; the run ends once the others are stopped."""

    @property
    def context(self) -> RunContextWrapper:
        """The context of the run."""
        return self.state.context

    def announce(self, event: StreamEvent) -> None:
        """Pass an event to the reader, if there is one."""
        if self.emit is not None:
            self.emit(event)

    def announce_items(self, items: list[RunItem]) -> None:
        """Pass the events of items to the reader."""
        for item in items:
            event = item_event(item)
            if event is not None:
                self.announce(event)

    def hook_context(self) -> AgentHookContext:
        """Return the context for hooks of agents."""
        values = {each.name: getattr(self.context, each.name) for each in fields(RunContextWrapper)}
        return AgentHookContext(**values)
