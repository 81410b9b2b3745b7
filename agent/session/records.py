"""What a transcript contains: one frozen struct per kind of record, and their JSON form.

A record is complete, so that any one of them can be read alone. Kinds that this
version does not know are stored in the file and skipped on reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import asdict, fields

from agent.display import DiffDisplay, Display
from agent.events import Usage
from agent.messages import Block, Message
from agent.session.team_records import MailAnswerRecord, MailRecord, TeamMembershipRecord
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType

CONTEXT_LINES: Final = 3
MAX_CHARS: Final = 60_000
"""Larger changes are shown as text after a resume."""


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
    kind: Literal["usage"] = "usage"


class GrantsRecord(Struct, frozen=True):
    """All that was granted for this session."""

    grants: tuple[tuple[str, str], ...] = ()
    """Rules, as `(behavior, rule text)`."""
    directories: tuple[str, ...] = ()
    """Working directories, canonical."""
    hosts: tuple[str, ...] = ()
    """Hosts that commands inside the sandbox reach, as settings write them."""
    kind: Literal["grants"] = "grants"


class ModeRecord(Struct, frozen=True):
    """The permission mode from here on."""

    mode: str
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

_KINDS: Final[dict[str, type[Record]]] = {
    "session": SessionHeader,
    "agent": AgentRecord,
    "prompt": PromptRecord,
    "request": RequestRecord,
    "message": MessageRecord,
    "tool_start": ToolStart,
    "tool_end": ToolEnd,
    "denial": DenialRecord,
    "usage": UsageRecord,
    "grants": GrantsRecord,
    "mode": ModeRecord,
    "todos": TodosRecord,
    "queue": QueueRecord,
    "draft": DraftRecord,
    "title": TitleRecord,
    "system": SystemRecord,
    "compaction": CompactionRecord,
    "rewind": RewindRecord,
    "tombstone": TombstoneRecord,
    "notice": NoticeRecord,
    "terminal": TerminalRecord,
    "team-membership": TeamMembershipRecord,
    "mail": MailRecord,
    "mail_answer": MailAnswerRecord,
}

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


class UnreadableRecord(ValueError):
    """A record's data is not what its kind promises."""


def to_json(record: Record) -> dict[str, object]:
    """Return a record as a JSON object with its `kind`."""
    match record:
        case MessageRecord():
            data = _plain(record, skip="message")
            return {**data, **_for_hooks(record), "message": message_to_json(record.message)}
        case CompactionRecord() | RewindRecord():
            data = _plain(record, skip="history")
            history = record.history
            found = None if history is None else [message_to_json(m) for m in history]
            return {**data, "history": found}
        case UsageRecord():
            data = _plain(record, skip="session_usage")
            return {**data, "session_usage": asdict(record.session_usage)}
        case _:
            return _plain(record)


def _for_hooks(record: MessageRecord) -> dict[str, object]:
    """Return what hooks written for Claude Code expect in a line of the transcript.

    Nothing of it is read back: it repeats what the record contains.
    """
    message = record.message
    is_meta = message.role != "assistant" and message.origin not in ("person", "tool")
    return {
        # Their lines of the type `system` are another thing.
        "type": "user" if message.role == "system" else message.role,
        "isSidechain": record.agent_id is not None,
        **({"isMeta": True} if is_meta else {}),
    }


def from_json(data: Mapping[str, Any]) -> Record | None:
    """Return the record, or None for a kind this version does not know.

    Raises:
        UnreadableRecord: the kind is known and the data does not fit it.
    """
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        return None
    names = set(kind.__struct_fields__)
    values = {key: value for key, value in data.items() if key in names}
    try:
        _read_nested(kind, values)
        record = kind(**values)
        _check_texts(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableRecord(f"{data.get('kind')}: {error}") from error
    return record


def message_to_json(message: Message) -> dict[str, object]:
    """Return a message with everything known about it; blocks exactly as they are."""
    data: dict[str, object] = {
        "role": message.role,
        "content": list(message.content),
        "origin": message.origin,
        "uid": message.uid,
    }
    for name in ("model", "api_id", "stop_reason"):
        value = getattr(message, name)
        if value is not None:
            data[name] = value
    return data


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Return the message.

    Raises:
        UnreadableRecord: it is none.
    """
    try:
        content = data["content"]
        role = data["role"]
        if not isinstance(content, list) or not all(isinstance(b, dict) for b in content):
            raise UnreadableRecord("message content is not a list of blocks")
        if role not in ("user", "assistant", "system"):
            raise UnreadableRecord(f"unknown role {role!r}")
        return Message(
            role=role,
            content=tuple(content),
            origin=data.get("origin", "person" if role == "user" else "model"),
            uid=str(data["uid"]),
            model=data.get("model"),
            api_id=data.get("api_id"),
            stop_reason=data.get("stop_reason"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableRecord(f"message: {error!r}") from error


def usage_from_json(data: Mapping[str, Any]) -> Usage:
    """Return token counts; unknown fields are skipped, absent ones are 0."""
    names = set(Usage.__struct_fields__)
    return Usage(**{key: int(value) for key, value in data.items() if key in names})


def denial_to_json(decision: Decision) -> dict[str, object]:
    """Return what a card of the call shows, and who decided it."""
    return {
        "source": str(decision.source),
        "reason_type": str(decision.reason_type),
        "reason": str(decision.reason),
        "message": decision.message,
        "feedback": decision.feedback,
    }


def denial_from_json(data: Mapping[str, object] | None) -> Decision | None:
    """Return the decision without its trace; None for what is none, or from a later version."""
    if not isinstance(data, Mapping):
        return None
    message, feedback = data.get("message"), data.get("feedback")
    if not isinstance(message, str) or not isinstance(feedback, str | None):
        return None
    try:
        return Decision(
            Behavior.DENY,
            DecisionSource(str(data.get("source"))),
            ReasonType(str(data.get("reason_type"))),
            Reason(str(data.get("reason"))),
            message,
            feedback=feedback,
        )
    except ValueError:
        return None


def diff_to_json(display: Display | None) -> dict[str, object] | None:
    """Return a change for the transcript; None for anything else, and for one too large.

    Only the lines that differ, with a few around them: whole texts would double a file with each
    edit, and a resume shows only what changed.
    """
    if not isinstance(display, DiffDisplay) or display.old == display.new:
        return None
    old, new = display.old.split("\n"), display.new.split("\n")
    same = _equal_lines(old, new)
    tail = _equal_lines(old[same:][::-1], new[same:][::-1])
    first = max(0, same - CONTEXT_LINES)
    skipped = max(0, tail - CONTEXT_LINES)
    texts = ["\n".join(lines[first : len(lines) - skipped]) for lines in (old, new)]
    if sum(map(len, texts)) > MAX_CHARS:
        return None
    return {
        "path": display.path,
        "old": texts[0],
        "new": texts[1],
        "is_new": display.is_new,
        "first_line": display.first_line + first,
    }


def diff_from_json(data: Mapping[str, Any] | None) -> DiffDisplay | None:
    """Return the change; None where there is none, or what is there is none."""
    if data is None:
        return None
    try:
        path, old, new = (data[name] for name in ("path", "old", "new"))
        first_line = int(data["first_line"])
    except (KeyError, TypeError, ValueError):
        return None
    if not all(isinstance(text, str) for text in (path, old, new)) or first_line < 1:
        return None
    return DiffDisplay(path, old, new, is_new=data.get("is_new") is True, first_line=first_line)


def _read_nested(kind: type[Record], values: dict[str, Any]) -> None:
    """Replace what is no plain value in JSON by what the record contains."""
    if kind is MessageRecord:
        values["message"] = message_from_json(values["message"])
    elif kind in (CompactionRecord, RewindRecord) and values.get("history") is not None:
        values["history"] = tuple(message_from_json(m) for m in values["history"])
    elif kind is UsageRecord:
        values["session_usage"] = usage_from_json(values["session_usage"])
    elif kind is GrantsRecord:
        values["grants"] = tuple((str(b), str(text)) for b, text in values["grants"])
        for name in ("directories", "hosts"):
            values[name] = tuple(map(str, values.get(name) or ()))
    for name in {"items", "prompts", "blocks"} & values.keys():
        values[name] = tuple(values[name])
        if name != "prompts" and not all(isinstance(part, dict) for part in values[name]):
            raise UnreadableRecord(f"{name}: expected objects")


def _plain(record: Record, skip: str = "") -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__ if name != skip}


def _check_texts(record: Record) -> None:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.type is str and not isinstance(value, str):
            raise UnreadableRecord(f"{field.name} is not a string")
        if field.type is float and not isinstance(value, int | float):
            raise UnreadableRecord(f"{field.name} is not a number")
        if field.type is int and not isinstance(value, int):
            raise UnreadableRecord(f"{field.name} is not a whole number")


def _equal_lines(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines are the same from the start on."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
