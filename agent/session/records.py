"""What a transcript contains: one frozen struct per kind of record.

A record is complete, so that any one of them can be read alone. Kinds that this
version does not know are stored in the file and skipped on reading.
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
    """What a sub-agent is: second in its transcript, and before each end in the background."""

    agent_id: str
    agent_type: str
    description: str
    tool_use_id: str = ""
    """The call that it works for."""
    parent_id: str | None = None
    """The agent that started it; None is the main conversation."""
    depth: int = 1
    in_background: bool = False
    worktree: Mapping[str, object] | None = None
    workflow: str = ""
    """Id of the workflow's run that it works in; empty outside of one."""
    runs: int = 1
    """How often it was started: first for its task, then by messages after its ends."""
    kind: Literal["agent"] = "agent"


class PromptRecord(Struct, frozen=True):
    """A user's prompt began to be worked on; closed by a `TerminalRecord` of the same turn."""

    turn_id: str
    text: str
    kind: Literal["prompt"] = "prompt"


class RequestRecord(Struct, frozen=True):
    """A model request left; without a message after it, its answer was lost."""

    turn_id: str
    step: int
    model: str
    agent_id: str | None = None
    kind: Literal["request"] = "request"


class MessageRecord(Struct, frozen=True):
    """A message entered the history."""

    message: Message
    turn_id: str = ""
    agent_id: str | None = None
    """Set for the history of a sub-agent, which never returns into the conversation."""
    redacted: bool = False
    """A secret was taken out, so it is not what the model wrote or read, byte for byte."""
    kind: Literal["message"] = "message"


class ToolStart(Struct, frozen=True):
    """A tool is about to run: on disk before it does, so that a crash never runs it twice."""

    tool_use_id: str
    name: str
    turn_id: str = ""
    agent_id: str | None = None
    kind: Literal["tool_start"] = "tool_start"


class ToolEnd(Struct, frozen=True):
    """A call has its result; the message that carries all results of the turn follows later."""

    tool_use_id: str
    name: str
    block: Block
    """The `tool_result` block exactly as the model will get it."""
    outcome: str
    turn_id: str = ""
    elapsed_s: float = 0.0
    identifier: str = ""
    agent_id: str | None = None
    change: Mapping[str, object] | None = None
    """What it changed in a file, for the display after a resume; see `diff_to_json`."""
    fact: str = ""
    """What the user reads of a failure, where the result also advises the model."""
    kind: Literal["tool_end"] = "tool_end"


class DenialRecord(Struct, frozen=True):
    """A call was denied, as it was shown; what the model received is in its message."""

    tool_use_id: str
    identifier: str = ""
    decision: Mapping[str, object] | None = None
    """See `denial_to_json`; None where a hook stopped the turn instead of deciding."""
    agent_id: str | None = None
    kind: Literal["denial"] = "denial"


class UsageRecord(Struct, frozen=True):
    """Totals after a model response; the last one is the session's."""

    session_usage: Usage
    session_cost_usd: float
    context_tokens: int
    model: str = ""
    by_model: Mapping[str, object] | None = None
    """What the cost tracker receives on resume, as JSON."""
    limits: Mapping[str, tuple[int, int]] | None = None
    """What errors of the endpoint said of models: window and longest answer, in tokens."""
    rooms: Mapping[str, tuple[int, int]] | None = None
    """How long an answer of a model fitted beside a prompt, both in tokens; see `AnswerRoom`."""
    kind: Literal["usage"] = "usage"


class GrantsRecord(Struct, frozen=True):
    """All that was granted for this session."""

    grants: tuple[tuple[str, str], ...] = ()
    """Rules, as `(behavior, rule text)`."""
    directories: tuple[str, ...] = ()
    """Working directories, canonical."""
    hosts: tuple[str, ...] = ()
    """Hosts that commands inside the sandbox reach, as settings write them."""
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
    """All prompts that wait for their turn."""

    prompts: tuple[str, ...]
    kind: Literal["queue"] = "queue"


class DraftRecord(Struct, frozen=True):
    """The half-typed prompt; empty when there is none."""

    text: str
    kind: Literal["draft"] = "draft"


class TitleRecord(Struct, frozen=True):
    """The session's name, given or generated."""

    title: str
    kind: Literal["title"] = "title"


class SystemRecord(Struct, frozen=True):
    """The system prompt of the conversation: a resume sends the same bytes, or thinking is lost."""

    blocks: tuple[Block, ...]
    digest: str = ""
    """Of these blocks and the tools that went with them, as they were sent."""
    kind: Literal["system"] = "system"


class CompactionRecord(Struct, frozen=True):
    """What the model sees from here on replaces everything before; the file still has it all.

    `history` and `state` make the record a place to start reading from: a resume never has to go
    further back than the last one.
    """

    history: tuple[Message, ...]
    summary: str
    trigger: str
    tokens_before: int = 0
    tokens_after: int = 0
    turn_id: str = ""
    state: Mapping[str, object] | None = None
    """Last records of the kinds that replace each other, by kind, as JSON."""
    redacted: bool = False
    """A secret was taken out of `history`."""
    kept: int = 0
    """Messages of `history` that stayed."""
    means: str = "summary"
    """As in `agent.events.Compacted`."""
    kind: Literal["compaction"] = "compaction"


class RewindRecord(Struct, frozen=True):
    """The conversation continues from an earlier message."""

    to_uid: str | None
    """The last message that stays; None for the very beginning."""
    history: tuple[Message, ...] | None = None
    """All that stays, given when it reaches back behind the last compaction."""
    redacted: bool = False
    """A secret was taken out of `history`."""
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
    """The prompt is done."""

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
"""Kinds that must be on the disk before the conversation continues."""

LAST_ONE_COUNTS: Final = ("usage", "grants", "mode", "todos", "queue", "draft", "title", "system")
"""Kinds where a later record replaces an earlier one."""
