"""The lines of `--output-format stream-json` and the object of `json`, as values.

The formats are those of existing streams of this kind: `system`, `assistant`, `user`,
`stream_event`, `result`. Next: `agent.headless.run` (which writes them),
`agent.headless.control_protocol` (control lines).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.conversation.conversation import Conversation
from agent.conversation_facts import ServerSummary
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    HookFinished,
    MessageCommitted,
    ModelFallback,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolInputDelta,
    Usage,
)
from agent.headless.outcome import stop_outcome
from agent.recovery.classify import FailureKind
from agent.user_prompt import Prompt

Line = dict[str, object]
Delta = TextDelta | ThinkingDelta | ToolInputDelta


CLAUDE_CODE_VERSION: Final = "2.1.197"
"""The release of this format; client libraries warn or fail if no release is named."""


_ERROR_CLASSES: Final[Mapping[str, str]] = {
    FailureKind.AUTHENTICATION: "authentication_failed",
    FailureKind.PERMISSION: "authentication_failed",
    FailureKind.BILLING: "billing_error",
    FailureKind.RATE_LIMITED: "rate_limit",
    FailureKind.OVERLOADED: "overloaded",
    FailureKind.SERVER: "server_error",
    FailureKind.MODEL_NOT_FOUND: "model_not_found",
    FailureKind.INVALID_REQUEST: "invalid_request",
    FailureKind.CONTEXT_OVERFLOW: "invalid_request",
}
"""Names of client libraries for the kinds of failures; all others are "unknown"."""


def init_line(conversation: Conversation, servers: ServerSummary) -> Line:
    """Return the first line: model, tools, servers and so on of this run."""
    from agent.commands.spec import SKILLS  # only this format lists commands

    commands = conversation.commands.registry.list_commands()
    return {
        "type": "system",
        "subtype": "init",
        "session_id": conversation.view.session_id,
        "uuid": _new_uuid(),
        "cwd": str(conversation.view.launch_dir),
        "model": conversation.status.model,
        "permissionMode": str(conversation.status.mode),
        "tools": [*conversation.view.tool_names, *servers.tools],
        "mcp_servers": [{"name": name, "status": status} for name, status in servers.states],
        "slash_commands": [command.meta.name for command in commands],
        "agents": [agent.name for agent in conversation.commands.context.agents.catalog.all()],
        "skills": [c.meta.name for c in commands if c.meta.source in SKILLS],
        "apiKeySource": key_source(conversation),
        "plugins": [
            {"name": name, "path": str(root)} for name, root in conversation.identity.plugins
        ],
        "output_style": "default",
        "claude_code_version": CLAUDE_CODE_VERSION,
        "agent_tui_version": conversation.identity.version,
        "demo": conversation.view.is_demo,
        **({"mcp_server_errors": list(servers.errors)} if servers.errors else {}),
    }


def key_source(conversation: Conversation) -> str:
    """Return the source of the vendor's API key; "none" for a token or another provider's key."""
    source = conversation.identity.key_source
    return source if source in {"ANTHROPIC_API_KEY", "apiKeyHelper"} else "none"


def message_line(
    event: MessageCommitted, session_id: str, usage: Usage | None, tool_result: object = None
) -> Line:
    """Return the line of a message.

    `usage` is that of its response, if it has one; `tool_result` what its only call returned, in
    the shape that hooks know.
    """
    message = event.message
    wire: Line = dict(message.to_wire())
    if message.role == "assistant":
        wire |= {
            "id": message.api_id or message.uid,
            "type": "message",
            "model": message.model,
            "stop_reason": message.stop_reason,
            "stop_sequence": None,
        }
        if usage is not None:
            wire["usage"] = usage_json(usage)
    line: Line = {
        "type": message.role,
        "message": wire,
        "parent_tool_use_id": _parent(event),
        "session_id": session_id,
        "uuid": message.uid,
    }
    return line if tool_result is None else line | {"tool_use_result": tool_result}


def without_agent_text(event: AgentEvent) -> AgentEvent | None:
    """Return the event without what an agent says between its calls.

    Returns None for a delta of an agent.
    """
    match event:
        case MessageCommitted(agent_id=str(), message=message):
            calls = [b for b in message.content if b.get("type") in {"tool_use", "tool_result"}]
            return replace(event, message=replace(message, content=tuple(calls)))
        case TextDelta() | ThinkingDelta() | ToolInputDelta() if event.agent_id is not None:
            return None
        case _:
            return event


def replay_line(prompt: Prompt, session_id: str) -> Line:
    """Return the line that tells a prompt's sender that its turn has begun."""
    message = prompt.to_message()
    return {
        "type": "user",
        "message": dict(message.to_wire()),
        "parent_tool_use_id": None,
        "session_id": session_id,
        "uuid": prompt.sender_id or message.uid,
        "isReplay": True,
    }


def notice_line(event: RetryScheduled | ModelFallback | Compacted, session_id: str) -> Line:
    """Return a `system` line about an event between messages."""
    line: Line = {"type": "system", "session_id": session_id, "uuid": _new_uuid()}
    match event:
        case RetryScheduled():
            return line | {
                "subtype": "api_retry",
                "attempt": event.attempt - 1,
                "max_retries": event.max_attempts and event.max_attempts - 1,
                "retry_delay_ms": round(1000 * event.delay_s),
                "error_status": event.status,
                "error": _ERROR_CLASSES.get(event.kind, "unknown"),
                "reason": event.reason,
            }
        case ModelFallback():
            return line | {
                "subtype": "model_fallback",
                "from_model": event.from_model,
                "to_model": event.to_model,
                "reason": event.reason,
            }
        case Compacted():
            trigger = "manual" if event.trigger == "manual" else "auto"
            metadata = {"trigger": trigger, "pre_tokens": event.tokens_before}
            return line | {"subtype": "compact_boundary", "compact_metadata": metadata}


def hook_lines(event: HookFinished, session_id: str) -> Iterator[Line]:
    """Yield two `system` lines for each handler of a hook event: its start and its output."""
    name = f"{event.event}:{event.subject}" if event.subject else event.event
    for run in event.runs:
        line: Line = {
            "type": "system",
            "hook_id": _new_uuid(),
            "hook_name": name,
            "hook_event": event.event,
            "session_id": session_id,
        }
        yield line | {"subtype": "hook_started", "uuid": _new_uuid()}
        output: Line = {"output": run.stdout + run.stderr, "stdout": run.stdout}
        if run.exit_code is not None:
            output["exit_code"] = run.exit_code
        output |= {"stderr": run.stderr, "outcome": run.outcome}
        yield line | output | {"subtype": "hook_response", "uuid": _new_uuid()}


def workflow_line(fields: Line, session_id: str) -> Line:
    """Return a `system` line about the progress of a workflow run."""
    line: Line = {"type": "system", "subtype": "workflow_progress"}
    return line | fields | {"session_id": session_id, "uuid": _new_uuid()}


def api_error_line(text: str, kind: str, session_id: str) -> Line:
    """Return the message that replaces the answer of a failed request.

    `kind` is one of `agent.recovery.classify`.
    """
    uid = _new_uuid()
    return {
        "type": "assistant",
        "message": {
            "id": uid,
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "usage": usage_json(Usage()),
        },
        "parent_tool_use_id": None,
        "error": _ERROR_CLASSES.get(kind, "unknown"),
        "session_id": session_id,
        "uuid": uid,
    }


def failure_line(reason: str, session_id: str) -> Line:
    """Return the result line of a run that failed outside of a prompt."""
    return {
        "type": "result",
        **stop_outcome(reason).fields(),
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "stop_reason": None,
        "session_id": session_id,
        "total_cost_usd": 0.0,
        "usage": usage_json(Usage()),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": _new_uuid(),
    }


def usage_json(usage: Usage) -> dict[str, object]:
    """Return token counts under their names in the Messages API."""
    written_5m, written_1h = usage.cache_write_5m_tokens, usage.cache_write_1h_tokens
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": written_5m + written_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": written_5m,
            "ephemeral_1h_input_tokens": written_1h,
        },
        "server_tool_use": {"web_search_requests": usage.web_searches},
    }


def models_json(conversation: Conversation) -> dict[str, Line]:
    """Return usage and cost by model of the session."""
    costs = conversation.view.costs
    models = costs.session().models if costs is not None else {}
    return {
        name: {
            "inputTokens": model.usage.input_tokens,
            "outputTokens": model.usage.output_tokens,
            "cacheReadInputTokens": model.usage.cache_read_tokens,
            "cacheCreationInputTokens": model.usage.cache_write_5m_tokens
            + model.usage.cache_write_1h_tokens,
            "webSearchRequests": model.usage.web_searches,
            "costUSD": round(model.cost_usd, 6),
            **(
                {
                    "contextWindow": conversation.status.context_window,
                    "maxOutputTokens": conversation.status.max_output_tokens,
                }
                if name == conversation.status.model
                else {}
            ),
        }
        for name, model in models.items()
    }


class PartialLines(Struct):
    """Converts the events of answers in progress to stream events of the Messages API.

    For one answer of each agent at a time: `message_start`, its blocks with their deltas, and
    `message_stop`.
    """

    session_id: str
    _open: dict[str | None, _Answer] = field(default_factory=dict)

    def delta(self, event: Delta, model: str) -> Iterator[Line]:
        """Yield the lines of a delta, after those that open its message and block."""
        answer = self._open.get(event.agent_id)
        if answer is None or answer.uid != event.message_uid:
            answer = self._open[event.agent_id] = _Answer(event.message_uid)
            message: Line = {
                "id": event.api_id or event.message_uid,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage_json(Usage()),
            }
            yield self._line(event, {"type": "message_start", "message": message})
        for inner in answer.events(event):
            yield self._line(event, inner)

    def complete(self, event: Complete) -> Iterator[Line]:
        """Yield the lines that close an answer; nothing if it had no deltas."""
        answer = self._open.pop(event.agent_id, None)
        if answer is None:
            return
        for inner in answer.end_of_block():
            yield self._line(event, inner)
        delta = {"stop_reason": event.stop_reason, "stop_sequence": None}
        usage = usage_json(event.usage)
        yield self._line(event, {"type": "message_delta", "delta": delta, "usage": usage})
        yield self._line(event, {"type": "message_stop"})

    def _line(self, event: Delta | Complete, inner: Mapping[str, object]) -> Line:
        return {
            "type": "stream_event",
            "event": inner,
            "parent_tool_use_id": _parent(event),
            "session_id": self.session_id,
            "uuid": _new_uuid(),
        }


class _Answer(Struct):
    uid: str
    block: object = None
    """Key of the open block; None if no block is open."""
    index: int = -1

    def events(self, event: Delta) -> Iterator[Line]:
        """Yield the event of a delta, after the start of its block if the block is new."""
        opening: Line
        delta: Line
        match event:
            case TextDelta():
                block: object = ("text", event.block_index)
                opening = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": event.text}
            case ThinkingDelta():
                block = ("thinking", event.block_index)
                opening = {"type": "thinking", "thinking": "", "signature": ""}
                delta = {"type": "thinking_delta", "thinking": event.text}
            case ToolInputDelta():
                block = event.tool_use_id
                opening = {
                    "type": "tool_use",
                    "id": event.tool_use_id,
                    "name": event.name,
                    "input": {},
                }
                delta = {"type": "input_json_delta", "partial_json": event.partial_json}
        if block != self.block:
            yield from self.end_of_block()
            self.block, self.index = block, self.index + 1
            yield {"type": "content_block_start", "index": self.index, "content_block": opening}
        if isinstance(event, ToolInputDelta) and not event.partial_json:
            return  # it only announced the call
        yield {"type": "content_block_delta", "index": self.index, "delta": delta}

    def end_of_block(self) -> Sequence[Line]:
        """Return the event that closes the open block, if there is one."""
        return () if self.block is None else ({"type": "content_block_stop", "index": self.index},)


def _parent(event: MessageCommitted | Delta | Complete) -> str | None:
    """Return the id of the call that started the sub-agent; None for the main conversation."""
    # The turn id of a sub-agent is the id of its call (`agent.subagents.agent_run`).
    return event.turn_id if event.agent_id is not None else None


def _new_uuid() -> str:
    return str(uuid.uuid4())
