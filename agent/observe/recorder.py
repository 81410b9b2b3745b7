"""Turn the agent's events into spans and log events, so that no other code needs instrumentation.

The stream contains the beginning and end of every operation. Its texts only go to spans, and only
if the user wants that (`Tracer.records_content`).
"""

from __future__ import annotations

import json
from typing import Final, assert_never

from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    HookFinished,
    HookStarted,
    MessageCommitted,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    Terminal,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolDispatch,
    ToolInputDelta,
    ToolProgress,
    ToolResult,
    UsageUpdate,
)
from agent.observe.event_log import EventLog, Verified
from agent.observe.spans import Span, SpanStatus, Tracer
from agent.recovery.classify import FailureKind
from permissions.tool_names import is_known_tool, is_mcp_name

_INTERRUPTED: Final = frozenset({"aborted_streaming", "aborted_tools"})
_RUN = tuple[str, str | None]
"""Turn and agent, which identify a run that one `Terminal` ends."""


class EventRecorder:
    """Records every event it is given, in order; it stores the open spans."""

    def __init__(self, tracer: Tracer, log: EventLog) -> None:
        """Write to `tracer` and `log`, which others may use too."""
        self._tracer = tracer
        self._log = log
        self._runs: dict[_RUN, Span] = {}
        self._requests: dict[_RUN, Span] = {}
        self._tools: dict[str, Span] = {}
        self._waits: dict[str, Span] = {}
        self._hooks: dict[tuple[str, str, str | None], Span] = {}

    def record(self, event: AgentEvent) -> None:
        """Record the next event."""
        run = (event.turn_id, event.agent_id)
        match event:
            case RequestStart():
                self._end_request(run, "error")
                span = self._tracer.start("llm_request", event.model, parent=self._run(run))
                span.set(model=event.model, attempt=event.attempt, step=event.step)
                self._requests[run] = span
            case Complete():
                self._complete(run, event)
            case RetryScheduled():
                self._end_request(run, "error")
                self._log.log("retry", attempt=event.attempt, delay_s=event.delay_s)
            case ModelFallback():
                self._end_request(run, "error")
                self._log.log("model_fallback")
            case ErrorEvent():
                self._error(run, event)
            case ToolDispatch() | PermissionRequested() | HookStarted():
                self._start(run, event)
            case ToolResult():
                self._tool_result(event)
            case PermissionResolved():
                self._permission(event)
            case HookFinished():
                self._hook(event)
            case Compacted():
                self._log.log(
                    "compacted", tokens_before=event.tokens_before, tokens_after=event.tokens_after
                )
            case Terminal():
                self._terminal(run, event)
            case MessageCommitted():
                self._message(run, event)
            case (
                TextDelta()
                | ThinkingDelta()
                | ToolInputDelta()
                | ToolProgress()
                | UsageUpdate()
                | Tombstone()
                | Notice()
            ):
                pass
            case _:
                assert_never(event)

    def _start(self, run: _RUN, event: ToolDispatch | PermissionRequested | HookStarted) -> None:
        match event:
            case ToolDispatch():
                is_known = event.has_tool and is_known_tool(event.name)
                name = event.name if is_known else "unknown"
                span = self._tracer.start("tool", name, parent=self._run(run))
                self._tools[event.tool_use_id] = span
                if self._tracer.records_content:
                    span.set_content(input=json.dumps(dict(event.input), default=str))
            case PermissionRequested():
                parent = self._tools.get(event.tool_use_id) or self._run(run)
                waiting = self._tracer.start("blocked_on_user", event.tool, parent=parent)
                self._waits[event.request_id] = waiting
            case HookStarted():
                parent = self._tools.get(event.tool_use_id or "") or self._run(run)
                key = (event.turn_id, event.event, event.tool_use_id)
                self._hooks[key] = self._tracer.start("hook", event.event, parent=parent)

    def _message(self, run: _RUN, event: MessageCommitted) -> None:
        # The user's message is the first event of a run.
        span, message = self._run(run), event.message
        if message.origin == "person" and "prompt" not in span.content:
            span.set_content(prompt=message.text)
        elif message.origin == "model":
            span.set_content(output=message.text)

    def _error(self, run: _RUN, event: ErrorEvent) -> None:
        self._end_request(run, "error")
        is_known = event.kind in FailureKind.__members__.values()
        # Servers may return any text as the kind of an error.
        kind = Verified(event.kind, "one of a fixed set") if is_known else None
        self._log.log("error", kind=kind)

    def _run(self, run: _RUN) -> Span:
        if run not in self._runs:
            # The turn of a sub-agent has the id of the call that started it.
            above = self._tools.get(run[0]) or self._runs.get((run[0], None))
            self._runs[run] = self._tracer.start("interaction", run[1] or "prompt", parent=above)
        return self._runs[run]

    def _complete(self, run: _RUN, event: Complete) -> None:
        usage = event.usage
        counts = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
        }
        self._end_request(run, "ok", **counts)
        self._log.log("llm_response", **counts)

    def _end_request(self, run: _RUN, status: SpanStatus, **attributes: int) -> None:
        span = self._requests.pop(run, None)
        if span is not None:
            span.end(status, **attributes)

    def _tool_result(self, event: ToolResult) -> None:
        span = self._tools.pop(event.tool_use_id, None)
        if span is not None:
            is_interrupted = event.outcome == "interrupted"
            status: SpanStatus = (
                "interrupted" if is_interrupted else "error" if event.is_error else "ok"
            )
            span.set_content(output=event.text)
            span.end(status, outcome=event.outcome, run_s=event.elapsed_s)
        self._log.log(
            "tool",
            # Users choose the names of MCP servers, and the model may invent names.
            name=Verified(event.name, "the name of a built-in tool")
            if is_known_tool(event.name) and not is_mcp_name(event.name)
            else None,
            outcome=Verified(event.outcome, "one of a fixed set"),
            elapsed_s=event.elapsed_s,
            is_error=event.is_error,
        )

    def _permission(self, event: PermissionResolved) -> None:
        decision = event.decision
        span = self._waits.pop(event.request_id, None)
        if span is not None:
            span.end("ok", behavior=str(decision.behavior), source=str(decision.source))
        self._log.log(
            "permission",
            behavior=Verified(str(decision.behavior), "one of a fixed set"),
            source=Verified(str(decision.source), "one of a fixed set"),
            asked=span is not None,
        )

    def _hook(self, event: HookFinished) -> None:
        span = self._hooks.pop((event.turn_id, event.event, event.tool_use_id), None)
        has_failed = event.outcome in ("non_blocking_error", "cancelled")
        if span is not None:
            span.end("error" if has_failed else "ok", outcome=event.outcome)
        self._log.log(
            "hook",
            event_name=Verified(event.event, "one of a fixed set"),
            outcome=Verified(event.outcome, "one of a fixed set"),
        )

    def _terminal(self, run: _RUN, event: Terminal) -> None:
        status: SpanStatus = (
            "interrupted"
            if event.reason in _INTERRUPTED
            else "error"
            if event.reason == "error"
            else "ok"
        )
        self._end_request(run, "interrupted" if status == "interrupted" else "error")
        span = self._runs.pop(run, None)
        if span is not None:
            span.end(status, reason=event.reason, turns=event.turns)
        self._log.log(
            "terminal",
            reason=Verified(event.reason, "one of a fixed set"),
            turns=event.turns,
            is_subagent=event.agent_id is not None,
        )
