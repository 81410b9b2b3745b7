"""One agent of a session: its activity, usage and outcome."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

from agent.abort import AbortController
from agent.events import (
    AgentEvent,
    ErrorEvent,
    MessageCommitted,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    ToolDispatch,
    ToolResult,
    UsageUpdate,
)
from agent.loop.answer_text import AnswerText
from agent.subagents.definition import AgentDefinition
from agent.tools.agent_port import AgentTask, SubagentReport
from permissions.decision import Behavior

AgentState = Literal["waiting", "working", "asking", "completed", "failed", "stopped"]
"""`waiting` means for a slot, `asking` for a decision of the user."""

ENDED: Final = frozenset({"completed", "failed", "stopped"})
MAX_DENIALS: Final = 20


class Use(Struct):
    """What an agent used."""

    tokens: int = 0
    usd: float = 0.0
    tool_count: int = 0
    turns: int = 0


class RunningAgent(Struct, kw_only=True, eq=False):
    """An agent of this session. Its messages are in its transcript, not here."""

    id: str
    definition: AgentDefinition
    task: AgentTask
    depth: int
    """1 for an agent that the main conversation started."""
    parent_id: str | None
    transcript: Path
    state: AgentState = "waiting"
    in_background: bool = False
    model: str = ""
    use: Use = field(default_factory=Use)
    current: str = ""
    """The running call or the latest activity, in one line."""
    started_s: float = field(default_factory=time.monotonic)
    ended_s: float | None = None
    last_event_s: float = field(default_factory=time.monotonic)
    controller: AbortController = field(default_factory=AbortController)
    reports_to: str | None = None
    """The agent that receives its report while it runs; otherwise the main conversation does."""
    runs: int = 0
    """How often it was started."""
    stopped_by: str = ""
    """Who ended it: `user`, `agent` or a limit; empty otherwise."""
    is_stalled: bool = False
    inbox: list[str] = field(default_factory=list)
    """Messages that it receives with its next tool results."""
    report: SubagentReport | None = None
    handed_in: Mapping[str, object] | None = None
    """Its structured answer, if its task requires one."""
    worktree: Mapping[str, object] | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a message or the report of one of its own agents has arrived."""
    done_event: asyncio.Event = field(default_factory=asyncio.Event)
    background_event: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is moved to the background while its call waits."""
    denials: list[str] = field(default_factory=list)
    listeners: list[Callable[[AgentEvent], None]] = field(default_factory=list)
    """Called for each of its events, for example by a view of its transcript."""
    answer: AnswerText = field(default_factory=AnswerText)
    open_questions: set[str] = field(default_factory=set)
    running_calls: set[str] = field(default_factory=set)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.state not in ENDED

    @property
    def elapsed_s(self) -> float:
        """How long it has been running, or ran."""
        return (self.ended_s or time.monotonic()) - self.started_s

    @property
    def ended_ago_s(self) -> float:
        """How long ago it ended; 0 while it runs."""
        return 0.0 if self.ended_s is None else time.monotonic() - self.ended_s

    def on_event(self, event: AgentEvent) -> None:
        """Update the state from an event of this agent, before listeners receive it."""
        self.last_event_s = time.monotonic()
        match event:
            case MessageCommitted():
                self.answer.on_message(event.message)
            case RequestStart():
                self.model = event.model
                self.current = "thinking"
            case ToolDispatch():
                self.use.tool_count += 1
                self.running_calls.add(event.tool_use_id)
                self.current = event.identifier
            case ToolResult():
                self.running_calls.discard(event.tool_use_id)
            case PermissionRequested():
                self.open_questions.add(event.request_id)
                self.state = "asking"
            case PermissionResolved():
                self._record_answer(event)
            case UsageUpdate():
                self.use.tokens += event.usage.prompt_tokens + event.usage.output_tokens
            case RetryScheduled():
                self.current = f"waits, then tries again: {event.reason}"
            case ErrorEvent():
                self.current = event.message
            case _:
                pass
        for listener in tuple(self.listeners):
            listener(event)

    def _record_answer(self, event: PermissionResolved) -> None:
        self.open_questions.discard(event.request_id)
        if not self.open_questions and self.state == "asking":
            self.state = "working"
        decision = event.decision
        if decision.behavior is Behavior.DENY and decision.message not in self.denials:
            self.denials = [*self.denials, decision.message][:MAX_DENIALS]
