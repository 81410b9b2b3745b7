"""The records of a transcript: one frozen struct per kind.
A record is self-contained, so that any of them can be read alone. Kinds that this version does not
know stay in the file and are skipped on reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from agent.events import Usage
from agent.messages import Block, Message
from agent.session.team_records import MailAnswerRecord, MailRecord, TeamMembershipRecord


class SessionHeader(Struct, frozen=True):
    """First record of every transcript."""

    session_id: str
    project_dir: str
    launch_dir: str
    version: str
    """Version of the program that created the session."""
    forked_from: str | None = None
    kind: Literal["session"] = "session"


class AgentRecord(Struct, frozen=True):
    """Describes a sub-agent: second in its transcript, and before each end in the background."""

    agent_id: str
    agent_type: str
    description: str
    tool_use_id: str = ""
    """Id of the call that started it."""
    parent_id: str | None = None
    """Id of the agent that started it; None means the main conversation."""
    depth: int = 1
    in_background: bool = False
    worktree: Mapping[str, object] | None = None
    workflow: str = ""
    """Id of the workflow run that it belongs to; empty outside a workflow."""
    runs: int = 1
    """How often it was started: for its task, and by later messages."""
    kind: Literal["agent"] = "agent"


class PromptRecord(Struct, frozen=True):
    """A user's prompt has started; closed by a `TerminalRecord` of the same turn."""

    turn_id: str
    text: str
    kind: Literal["prompt"] = "prompt"


class RequestRecord(Struct, frozen=True):
    """A model request was sent; without a message after it, its answer was lost."""

    turn_id: str
    step: int
    model: str
    agent_id: str | None = None
    kind: Literal["request"] = "request"


class MessageRecord(Struct, frozen=True):
    """A message was added to the history."""

    message: Message
    turn_id: str = ""
    agent_id: str | None = None
    """Set for a sub-agent's history, which is not part of the conversation."""
    redacted: bool = False
    """A secret was removed, so it differs from what the model wrote or read."""
    kind: Literal["message"] = "message"


class ToolStart(Struct, frozen=True):
    """A tool is about to run; on disk before it runs, so that it never runs twice after a crash."""

    tool_use_id: str
    name: str
    turn_id: str = ""
    agent_id: str | None = None
    kind: Literal["tool_start"] = "tool_start"


class ToolEnd(Struct, frozen=True):
    """A call has its result; the message with all results of the round follows later."""

    tool_use_id: str
    name: str
    block: Block
    """The `tool_result` block exactly as sent to the model."""
    outcome: str
    turn_id: str = ""
    elapsed_s: float = 0.0
    identifier: str = ""
    agent_id: str | None = None
    change: Mapping[str, object] | None = None
    """Its change of a file, for the display after a resume; see `diff_to_json`."""
    fact: str = ""
    """The user's text about a failure, if the model's text contains more."""
    kind: Literal["tool_end"] = "tool_end"


class DenialRecord(Struct, frozen=True):
    """A call was denied, for display; the model's text is in its message."""

    tool_use_id: str
    identifier: str = ""
    decision: Mapping[str, object] | None = None
    """See `denial_to_json`; None if a hook stopped the turn instead of deciding."""
    agent_id: str | None = None
    kind: Literal["denial"] = "denial"


class UsageRecord(Struct, frozen=True):
    """Totals after a model response; the last record has the session's totals."""

    session_usage: Usage
    session_cost_usd: float
    context_tokens: int
    model: str = ""
    by_model: Mapping[str, object] | None = None
    """State of the cost tracker, restored on resume, as JSON."""
    limits: Mapping[str, tuple[int, int]] | None = None
    """Limits of models from errors of the endpoint: window and output limit, in tokens."""
    rooms: Mapping[str, tuple[int, int]] | None = None
    """Output sizes of models that were accepted with a prompt, both in tokens; see `AnswerRoom`."""
    kind: Literal["usage"] = "usage"


class GrantsRecord(Struct, frozen=True):
    """All grants of this session."""

    grants: tuple[tuple[str, str], ...] = ()
    """Rules, as `(behavior, rule text)`."""
    directories: tuple[str, ...] = ()
    """Canonical paths of working directories."""
    hosts: tuple[str, ...] = ()
    """Hosts that sandboxed commands may reach, in the form of settings."""
    seal: str = ""
    """See `agent.session.session_seal`."""
    kind: Literal["grants"] = "grants"


class ModeRecord(Struct, frozen=True):
    """The permission mode from here on."""

    mode: str
    seal: str = ""
    kind: Literal["mode"] = "mode"


class TodosRecord(Struct, frozen=True):
    """The whole task list, each item as `{content, status, active_form}`."""

    items: tuple[dict[str, str], ...]
    kind: Literal["todos"] = "todos"


class QueueRecord(Struct, frozen=True):
    """All queued prompts."""

    prompts: tuple[str, ...]
    kind: Literal["queue"] = "queue"


class DraftRecord(Struct, frozen=True):
    """The draft; empty if there is none."""

    text: str
    kind: Literal["draft"] = "draft"


class TitleRecord(Struct, frozen=True):
    """The session's name, given or generated."""

    title: str
    kind: Literal["title"] = "title"


class SystemRecord(Struct, frozen=True):
    """The system prompt of the conversation: a resume must send the same bytes to keep thinking."""

    blocks: tuple[Block, ...]
    digest: str = ""
    """Digest of these blocks and the tools, as sent."""
    kind: Literal["system"] = "system"


class CompactionRecord(Struct, frozen=True):
    """Replaces the history for the model; the file keeps all earlier records.

    With `history` and `state`, a resume never has to read further back than the last such record.
    """

    history: tuple[Message, ...]
    summary: str
    trigger: str
    tokens_before: int = 0
    tokens_after: int = 0
    turn_id: str = ""
    state: Mapping[str, object] | None = None
    """Latest records of the kinds in `LAST_ONE_COUNTS`, by kind, as JSON."""
    redacted: bool = False
    """A secret was removed from `history`."""
    kept: int = 0
    """Number of messages of `history` that were kept."""
    means: str = "summary"
    """As in `agent.events.Compacted`."""
    kind: Literal["compaction"] = "compaction"


class RewindRecord(Struct, frozen=True):
    """The conversation continues from an earlier message."""

    to_uid: str | None
    """The last message that stays; None if none stays."""
    history: tuple[Message, ...] | None = None
    """All remaining messages; set if they reach back before the last compaction."""
    redacted: bool = False
    """A secret was removed from `history`."""
    kind: Literal["rewind"] = "rewind"


class TombstoneRecord(Struct, frozen=True):
    """A message is withdrawn."""

    message_uid: str
    reason: str
    kind: Literal["tombstone"] = "tombstone"


class NoticeRecord(Struct, frozen=True):
    """A line shown to the user, stored for the display after a resume."""

    level: str
    text: str
    turn_id: str = ""
    kind: Literal["notice"] = "notice"


class TerminalRecord(Struct, frozen=True):
    """The turn of a prompt has ended."""

    turn_id: str
    reason: str
    detail: str = ""
    kind: Literal["terminal"] = "terminal"


Record = (
    SessionHeader
    | AgentRecord
    | PromptRecord
    | RequestRecord
    | MessageRecord
    | ToolStart
    | ToolEnd
    | DenialRecord
    | UsageRecord
    | GrantsRecord
    | ModeRecord
    | TodosRecord
    | QueueRecord
    | DraftRecord
    | TitleRecord
    | SystemRecord
    | CompactionRecord
    | RewindRecord
    | TombstoneRecord
    | NoticeRecord
    | TerminalRecord
    | TeamMembershipRecord
    | MailRecord
    | MailAnswerRecord
)

DURABLE: Final = frozenset(
    {
        "prompt",
        "message",
        "tool_start",
        "tool_end",
        "compaction",
        "rewind",
        "grants",
        "team-membership",
        "mail",
        "mail_answer",
    }
)
"""Kinds that must be on disk before the conversation continues."""

LAST_ONE_COUNTS: Final = ("usage", "grants", "mode", "todos", "queue", "draft", "title", "system")
"""Kinds of which a later record replaces earlier ones."""
