"""The agent event stream: one frozen record per kind, one union, `AgentEvent`.

Order within one prompt (one `turn_id`): `MessageCommitted` of the user's message, then per model
request `RequestStart`, deltas, `Complete`, `MessageCommitted`; then per tool call `ToolDispatch` …
`ToolResult`; `Terminal` is always last, exactly once. Listeners: `agent.stream`.
The terminal's input events are routed separately and never appear here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from agent.display import Display
from agent.messages import Message
from permissions.decision import Decision

TerminalReason = Literal[
    "completed",
    "max_turns",
    "aborted_streaming",
    "aborted_tools",
    "stop_hook_prevented",
    "prompt_too_long",
    "budget_exceeded",
    "refusal",
    "invalid_answer",
    "error",
]


class Usage(Struct, frozen=True):
    """Token counts of one response, or a sum of several. Cache tokens are not part of
    `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    thinking_tokens: int = 0
    """Part of `output_tokens`, not in addition to them."""
    web_searches: int = 0
    """Searches by the endpoint's own tool; each is billed."""

    @property
    def prompt_tokens(self) -> int:
        """All input tokens: uncached ones, cache writes and cache reads."""
        return (
            self.input_tokens
            + self.cache_read_tokens
            + self.cache_write_5m_tokens
            + self.cache_write_1h_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        """Return the field-wise sum."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_5m_tokens + other.cache_write_5m_tokens,
            self.cache_write_1h_tokens + other.cache_write_1h_tokens,
            self.thinking_tokens + other.thinking_tokens,
            self.web_searches + other.web_searches,
        )


class RequestStart(Struct, frozen=True):
    """A model request is about to be sent. Followed by deltas, `RetryScheduled`, or `Complete`."""

    turn_id: str
    step: int
    """1 for the first model request of this prompt."""
    model: str
    attempt: int = 1
    agent_id: str | None = None
    type: Literal["request_start"] = "request_start"


class TextDelta(Struct, frozen=True):
    """More text of the answer; the deltas of one block concatenate to its text."""

    turn_id: str
    message_uid: str
    block_index: int
    text: str
    agent_id: str | None = None
    api_id: str | None = None
    """The answer's id at the endpoint."""
    type: Literal["text_delta"] = "text_delta"


class ThinkingDelta(Struct, frozen=True):
    """More of the summarized thinking. May be absent altogether."""

    turn_id: str
    message_uid: str
    block_index: int
    text: str
    agent_id: str | None = None
    api_id: str | None = None
    type: Literal["thinking_delta"] = "thinking_delta"


class ToolInputDelta(Struct, frozen=True):
    """A piece of a tool call's input; the first, with empty `partial_json`, announces the call."""

    turn_id: str
    message_uid: str
    tool_use_id: str
    name: str
    partial_json: str
    agent_id: str | None = None
    api_id: str | None = None
    type: Literal["tool_input_delta"] = "tool_input_delta"


class ToolDispatch(Struct, frozen=True):
    """A call passed validation and enters its lifecycle. Exactly one `ToolResult` follows."""

    turn_id: str
    tool_use_id: str
    name: str
    input: Mapping[str, object]
    identifier: str
    """The fixed line of the card, such as `Read src/a.py:10-40`."""
    agent_id: str | None = None
    has_tool: bool = True
    """False if no tool has that name: models sometimes invent names."""
    type: Literal["tool_dispatch"] = "tool_dispatch"


class ToolProgress(Struct, frozen=True):
    """Live output of a running call, sanitised; between its `ToolDispatch` and `ToolResult`."""

    turn_id: str
    tool_use_id: str
    text: str
    """Text to append to what was shown so far."""
    agent_id: str | None = None
    type: Literal["tool_progress"] = "tool_progress"


class ToolResult(Struct, frozen=True):
    """One call ended: exactly one per tool_use, also when it never ran."""

    turn_id: str
    tool_use_id: str
    name: str
    text: str
    """What the model receives, as text, bounded; images and documents appear as a short note."""
    is_error: bool
    elapsed_s: float
    """Wall time of the run itself, without the wait for permission."""
    outcome: Literal["ok", "failed", "denied", "interrupted", "invalid"]
    identifier: str = ""
    display: Display | None = None
    refusal_text: str = ""
    """What the sandbox refused and the user did not allow, as text; empty if nothing."""
    agent_id: str | None = None
    response: object = None
    """The result in the shape that hooks and programs know for this tool; None if it failed."""
    type: Literal["tool_result"] = "tool_result"


class PermissionRequested(Struct, frozen=True):
    """A call waits for an answer. Exactly one `PermissionResolved` follows."""

    turn_id: str
    request_id: str
    tool_use_id: str
    tool: str
    input: Mapping[str, object]
    pending: Decision
    """The decision to ask, with its trace."""
    display: Display | None = None
    agent_id: str | None = None
    type: Literal["permission_requested"] = "permission_requested"


class PermissionResolved(Struct, frozen=True):
    """The final decision about a call: the answer to a `PermissionRequested`, or the decision that
    was made without one."""

    turn_id: str
    request_id: str
    tool_use_id: str
    decision: Decision
    agent_id: str | None = None
    type: Literal["permission_resolved"] = "permission_resolved"


class HookStarted(Struct, frozen=True):
    """Handlers of a hook event were started."""

    turn_id: str
    event: str
    status_message: str | None = None
    tool_use_id: str | None = None
    agent_id: str | None = None
    type: Literal["hook_started"] = "hook_started"


class HookRun(Struct, frozen=True):
    """One handler that ended, with the first part of what it wrote."""

    outcome: Literal["success", "error", "cancelled"]
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None


class HookFinished(Struct, frozen=True):
    """Handlers of a hook event ended; `notices` are lines for users, failures included."""

    turn_id: str
    event: str
    outcome: str
    notices: tuple[str, ...] = ()
    subject: str = ""
    """What matchers of the event are tested against, such as a tool's name; may be empty."""
    runs: tuple[HookRun, ...] = ()
    """Of the handlers that are not functions of a calling program, and not in the background."""
    tool_use_id: str | None = None
    agent_id: str | None = None
    type: Literal["hook_finished"] = "hook_finished"


class UsageUpdate(Struct, frozen=True):
    """New totals after a model response."""

    turn_id: str
    usage: Usage
    """Of this response."""
    session_usage: Usage
    session_cost_usd: float
    context_tokens: int
    """Size of the context that the next request starts from."""
    context_window: int
    agent_id: str | None = None
    type: Literal["usage_update"] = "usage_update"


class RetryScheduled(Struct, frozen=True):
    """The request failed and is tried again after a wait that the user can end with Esc."""

    turn_id: str
    attempt: int
    """The attempt that comes next; 2 after the first failure."""
    max_attempts: int | None
    delay_s: float
    reason: str
    kind: str = "unknown"
    """What failed: a kind of `agent.recovery.classify`."""
    status: int | None = None
    """HTTP status of the failed request; None without a response."""
    agent_id: str | None = None
    type: Literal["retry_scheduled"] = "retry_scheduled"


class ModelFallback(Struct, frozen=True):
    """Another model takes over for the rest of the turn."""

    turn_id: str
    from_model: str
    to_model: str
    reason: str
    agent_id: str | None = None
    type: Literal["model_fallback"] = "model_fallback"


CompactionMeans = Literal["summary", "shortening"]
"""A summary replaces earlier messages, or old results are cut and old calls removed."""


class Compacted(Struct, frozen=True):
    """The model's history was made smaller; the transcript still has everything."""

    turn_id: str
    trigger: Literal["manual", "auto", "reactive"]
    tokens_before: int
    tokens_after: int
    summary: str
    """The summary, or a text for users about what was shortened."""
    agent_id: str | None = None
    kept_count: int = 0
    """Messages at the end that the model still has; the summary replaces the rest."""
    means: CompactionMeans = "summary"
    type: Literal["compacted"] = "compacted"


class Tombstone(Struct, frozen=True):
    """A partial message of a failed attempt is withdrawn; renderers and history drop it."""

    turn_id: str
    message_uid: str
    reason: str
    agent_id: str | None = None
    type: Literal["tombstone"] = "tombstone"


class Notice(Struct, frozen=True):
    """A line for the user; never sent to the model."""

    turn_id: str
    level: Literal["info", "warning", "error"]
    text: str
    agent_id: str | None = None
    type: Literal["notice"] = "notice"


class MessageCommitted(Struct, frozen=True):
    """A message entered the history: every one exactly once, in order. Transcripts subscribe to
    this."""

    turn_id: str
    message: Message
    agent_id: str | None = None
    type: Literal["message_committed"] = "message_committed"


class Complete(Struct, frozen=True):
    """One model response ended. Its `MessageCommitted` follows, then its tools or `Terminal`."""

    turn_id: str
    message_uid: str
    stop_reason: str | None
    usage: Usage
    agent_id: str | None = None
    type: Literal["complete"] = "complete"


class ErrorEvent(Struct, frozen=True):
    """The turn cannot continue; `Terminal(reason="error")` or `prompt_too_long` follows."""

    turn_id: str
    kind: str
    message: str
    """What failed and what to do about it, for users."""
    request_id: str | None = None
    status: int | None = None
    """HTTP status of the failed request; None without a response."""
    agent_id: str | None = None
    type: Literal["error"] = "error"


NO_REASON: Final = "the model declined to answer"
"""The detail of a refusal for which the model gives none."""


class Terminal(Struct, frozen=True):
    """The prompt is done: always last, exactly one per prompt (and per sub-agent run)."""

    turn_id: str
    reason: TerminalReason
    detail: str = ""
    turns: int = 0
    """Model responses used."""
    agent_id: str | None = None
    type: Literal["terminal"] = "terminal"

    @property
    def is_refused(self) -> bool:
        """Whether a hook withheld the prompt from the model; an earlier Notice has the reason."""
        return self.reason == "stop_hook_prevented" and self.turns == 0


AgentEvent = (
    RequestStart
    | TextDelta
    | ThinkingDelta
    | ToolInputDelta
    | ToolDispatch
    | ToolProgress
    | ToolResult
    | PermissionRequested
    | PermissionResolved
    | HookStarted
    | HookFinished
    | UsageUpdate
    | RetryScheduled
    | ModelFallback
    | Compacted
    | Tombstone
    | Notice
    | MessageCommitted
    | Complete
    | ErrorEvent
    | Terminal
)
