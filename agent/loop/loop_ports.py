"""What one agent's loop works with: protocols for hooks and context, and all ports in one value.

The loop (`agent.loop.loop`) drives them; `agent.assembly.assemble` passes the implementations in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from agent.abort import AbortSignal
from agent.events import AgentEvent, Compacted, Notice, Usage
from agent.history import HistoryPart
from agent.loop.answer_schema import AnswerSchema
from agent.loop.model_turn import Recovery
from agent.messages import Message, ToolUse
from agent.model.client import ModelClient, ModelRequest
from agent.tools.call import CallOutcome, CallPorts
from hooks.answers.outcome import EventOutcome


class TurnHooks(Protocol):
    """The hook events around a whole turn; `agent.hook_events.hook_dispatch` implements it."""

    async def stop(
        self, last_text: str, *, active: bool, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire Stop (SubagentStop in a sub-agent); None when no handler matches."""
        ...

    async def stop_failure(self, kind: str, detail: str) -> None:
        """Notify StopFailure handlers; their answers are ignored."""
        ...

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch once for all calls of a turn."""
        ...

    def notices(self) -> list[AgentEvent]:
        """Return what hooks have to show the user since the last call; empties the list."""
        ...

    def late_context(self) -> list[str]:
        """Return what background hooks brought for the model since the last call."""
        ...


class ContextStep(Struct, frozen=True):
    """What context management did before a request."""

    messages: tuple[Message, ...]
    event: Compacted | None = None
    notices: tuple[str, ...] = ()


class ContextPort(Protocol):
    """Fits the conversation into the model's window; `agent.memory` implements it."""

    def size_advice(self) -> str | None:
        """Return that the window has no room for prompt and tools, for users; None where it has.
        What was returned before is only mentioned."""
        ...

    def round_tokens(self) -> int:
        """Return how many tokens the results of one round may take together."""
        ...

    async def before_request(
        self, messages: tuple[Message, ...], context_tokens: int, abort: AbortSignal
    ) -> ContextStep | None:
        """Return a replaced history, or None when nothing needs doing."""
        ...

    async def after_overflow(
        self, messages: tuple[Message, ...], abort: AbortSignal
    ) -> ContextStep | None:
        """Compact after the endpoint refused the prompt; None when that was tried before."""
        ...

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> ContextStep | None:
        """Compact because the user asked for it; None when there is nothing to gain."""
        ...

    async def compact_range(
        self, messages: tuple[Message, ...], part: HistoryPart, abort: AbortSignal
    ) -> ContextStep | None:
        """Replace what came before a prompt, or since, by a summary; None for nothing to gain."""
        ...


class BackgroundReport(Struct, frozen=True):
    """Something that ended in the background."""

    line: str
    """For users; empty where the screen has shown it already."""
    text: str
    """For the model."""


class MailPort(Protocol):
    """Messages of other agents, for a member of a team; `agent.teams.inbox` implements it."""

    def waits(self) -> bool:
        """Return whether there is any."""
        ...

    def take(self) -> list[Message]:
        """Return what comes next and take it out."""
        ...

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this with each arrival."""
        ...

    async def more(self, abort: AbortSignal) -> bool:
        """Before a turn ends: wait for what it depends on; return whether there is something to
        continue with."""
        ...


AfterCalls = Callable[[Sequence[tuple[ToolUse, CallOutcome]]], Awaitable[list[str]]]


class LoopPorts(Struct, frozen=True):
    """Everything one agent's loop works with."""

    client: ModelClient
    recovery: Recovery
    calls: CallPorts
    hooks: TurnHooks
    request: Callable[[tuple[Message, ...]], ModelRequest]
    """Build the request for a history; `system` and `tools` are the same every time."""
    account: Callable[[Usage, str, str, str | None], AgentEvent]
    """Add a response to the totals: usage, model, turn and agent; returns the `UsageUpdate`."""
    spent: Callable[[], str | None]
    """Why no further request may be made (a budget), or None."""
    take_queue: Callable[[], Awaitable[Sequence[Message | Notice]]]
    """Take the messages the user sent meanwhile, with the notices about them."""
    reports: Callable[[], list[BackgroundReport]] = list
    """Take what ended in the background since the last request."""
    mail: MailPort | None = None
    """None outside of a team."""
    answer: AnswerSchema | None = None
    """The form that the answer must have."""
    context: ContextPort | None = None
    after_calls: AfterCalls | None = None
    """Receives the calls of a turn; returns what they bring in for the model, such as the
    instructions of a directory in use."""
