"""The ports of one agent's loop, with the protocols for hooks and context.

The loop (`agent.loop.loop`) uses them; `agent.assembly.assemble` passes the implementations in.
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
        """Fire Stop (SubagentStop in a sub-agent); return None if no handler matches."""
        ...

    async def stop_failure(self, kind: str, detail: str) -> None:
        """Notify StopFailure handlers; their output is ignored."""
        ...

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch once for all calls of a round."""
        ...

    def notices(self) -> list[AgentEvent]:
        """Remove and return the notices of hooks for the user since the last call."""
        ...

    def late_context(self) -> list[str]:
        """Return texts of background hooks for the model since the last call."""
        ...


class ContextStep(Struct, frozen=True):
    """What context management did before a request."""

    messages: tuple[Message, ...]
    event: Compacted | None = None
    notices: tuple[str, ...] = ()


class ContextPort(Protocol):
    """Fits the conversation into the model's window; `agent.memory` implements it."""

    def size_advice(self) -> str | None:
        """Return a text for users if the window is too small for prompt and tools, else None.
        A repeated text is shortened."""
        ...

    def round_tokens(self) -> int:
        """Return how many tokens the results of one round may take together."""
        ...

    async def before_request(
        self, messages: tuple[Message, ...], context_tokens: int, abort: AbortSignal
    ) -> ContextStep | None:
        """Return a replacement for the history, or None if it can stay."""
        ...

    async def after_overflow(
        self, messages: tuple[Message, ...], abort: AbortSignal
    ) -> ContextStep | None:
        """Compact after the endpoint rejected the prompt; None if that was tried before."""
        ...

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> ContextStep | None:
        """Compact at the user's request; None if nothing would be gained."""
        ...

    async def compact_range(
        self, messages: tuple[Message, ...], part: HistoryPart, abort: AbortSignal
    ) -> ContextStep | None:
        """Replace the part before or since a prompt by a summary; None if that gains nothing."""
        ...


class BackgroundReport(Struct, frozen=True):
    """A report about something that ended in the background."""

    line: str
    """For users; empty if the screen has shown it already."""
    text: str
    """For the model."""


class MailPort(Protocol):
    """Messages of other agents, for a member of a team; `agent.teams.inbox` implements it."""

    def waits(self) -> bool:
        """Return whether there are messages."""
        ...

    def take(self) -> list[Message]:
        """Remove and return the next messages."""
        ...

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` when a message arrives."""
        ...

    async def more(self, abort: AbortSignal) -> bool:
        """Wait, before a turn ends, for messages that it depends on; return whether to continue
        with messages."""
        ...


AfterCalls = Callable[[Sequence[tuple[ToolUse, CallOutcome]]], Awaitable[list[str]]]


class LoopPorts(Struct, frozen=True):
    """All ports of one agent's loop."""

    client: ModelClient
    recovery: Recovery
    calls: CallPorts
    hooks: TurnHooks
    request: Callable[[tuple[Message, ...]], ModelRequest]
    """Builds the request for a history; `system` and `tools` are the same every time."""
    account: Callable[[Usage, str, str, str | None], AgentEvent]
    """Adds a response to the totals: usage, model, turn and agent; returns the `UsageUpdate`."""
    spent: Callable[[], str | None]
    """Returns why no further request may be sent (a budget), or None."""
    take_queue: Callable[[], Awaitable[Sequence[Message | Notice]]]
    """Removes and returns messages that the user sent meanwhile, with notices about them."""
    reports: Callable[[], list[BackgroundReport]] = list
    """Removes and returns reports from the background since the last request."""
    mail: MailPort | None = None
    """None without a team."""
    answer: AnswerSchema | None = None
    """The schema that the answer must follow."""
    context: ContextPort | None = None
    after_calls: AfterCalls | None = None
    """Receives the calls of a round; returns further texts for the model, such as the instructions
    of a directory in use."""
