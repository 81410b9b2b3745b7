"""Frozen view data: the blocks of the transcript and the figures of the status line; no drawing.

Next: `tui.transcript.transcript_model`, which makes them from agent events;
`tui.transcript.block_rows`, which draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from agent.display import Display

if TYPE_CHECKING:
    # For annotations only: the first frame does not need these.
    from agent.events import TerminalReason, Usage
    from permissions.decision import Decision

ToolState = Literal[
    "writing", "running", "asking", "ok", "failed", "denied", "interrupted", "invalid"
]
"""`writing`: the model is still writing the call; `asking`: it waits for the user."""

USER_SHELL: Final = "shell"
"""Turn id of commands that the user runs with `!`."""

PromptKind = Literal["prompt", "shell", "command"]


class UserMessage(Struct, frozen=True):
    """A message of the user."""

    key: str
    text: str
    kind: PromptKind = "prompt"
    images: tuple[tuple[str, int, int], ...] = ()
    """Path, width and height in pixels of each pasted image."""


class AssistantText(Struct, frozen=True):
    """Text of the answer, or a part of it; during streaming, `text` only grows at its end."""

    key: str
    text: str
    is_streaming: bool
    continues: bool = False
    """Whether it continues a code block of the previous block."""


class ThinkingText(Struct, frozen=True):
    """A thinking block, shown folded."""

    key: str
    text: str
    is_streaming: bool


class AgentActivity(Struct, frozen=True):
    """What a sub-agent has done so far, on the card of the call that started it."""

    agent_id: str
    tool_count: int = 0
    last_line: str = ""
    """Identifier of its latest call, or the end of its text."""
    output_tokens: int = 0


class ToolCard(Struct, frozen=True):
    """A tool call, from the start of its input to its result."""

    key: str
    """The tool_use id."""
    name: str
    identifier: str
    state: ToolState
    input: Mapping[str, Any]
    started_at_s: float
    """Time of the document's clock when the call was dispatched, or its input started."""
    output: str = ""
    """The end of the live output, of limited length."""
    dropped_lines: int = 0
    """Number of lines of live output before `output`."""
    result: str = ""
    display: Display | None = None
    elapsed_s: float = 0.0
    decision: Decision | None = None
    agent: AgentActivity | None = None
    is_users: bool = False
    """Whether the user ran it with `!`: all of its output is shown."""


class NoticeLine(Struct, frozen=True):
    """A line for the user only, not for the model."""

    key: str
    level: Literal["info", "warning", "error"]
    text: str


class HookLine(Struct, frozen=True):
    """The messages of hooks; hooks without messages have no line."""

    key: str
    event: str
    outcome: str
    notices: tuple[str, ...]

    @property
    def needs_heading(self) -> bool:
        """Whether any notice lacks the event's name."""
        return not all(text.startswith(f"{self.event} hook") for text in self.notices)


class ErrorBlock(Struct, frozen=True):
    """Why the turn could not continue."""

    key: str
    kind: str
    message: str
    request_id: str | None


class CompactionLine(Struct, frozen=True):
    """A compaction: the model receives less of what is before this line."""

    key: str
    trigger: str
    tokens_before: int
    tokens_after: int
    summary: str
    remaining: int = 0
    """Number of messages before this line that the model still receives."""
    means: str = "summary"
    """`summary`, or `shortening` if only old results were cut and old calls removed."""


class EndLine(Struct, frozen=True):
    """The line at the end of a turn: its facts, or why it ended."""

    key: str
    reason: TerminalReason
    detail: str
    has_changes: bool = False
    """Whether files were changed; a click then shows the changes."""


Block = (
    UserMessage
    | AssistantText
    | ThinkingText
    | ToolCard
    | NoticeLine
    | HookLine
    | ErrorBlock
    | CompactionLine
    | EndLine
)


class RetryCountdown(Struct, frozen=True):
    """A failed request waits for its next attempt."""

    attempt: int
    max_attempts: int | None
    until_s: float
    reason: str


Phase = Literal["idle", "requesting", "thinking", "writing", "tools", "asking", "retrying"]


class Activity(Struct, frozen=True):
    """The current activity, for the line with the spinner."""

    phase: Phase = "idle"
    started_at_s: float = 0.0
    """When the turn started."""
    output_tokens: int = 0
    """Output tokens of this turn; during streaming, estimated from characters."""
    detail: str = ""
    """Identifier of the running call."""
    retry: RetryCountdown | None = None
    hook: str = ""
    """Description of running hooks that are waited for; "" if there are none."""
    hook_shown_from_s: float = 0.0

    @property
    def is_working(self) -> bool:
        """Whether a turn runs."""
        return self.phase != "idle"


class Figures(Struct, frozen=True):
    """Numbers for the status line."""

    session_usage: Usage | None = None
    """None before the first response."""
    cost_usd: float = 0.0
    context_tokens: int = 0
    context_window: int = 0
    model: str = ""
