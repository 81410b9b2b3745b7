"""Tools that the endpoint runs itself, shown like other calls, with input and result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

from agent.events import AgentEvent, ToolDispatch, ToolResult
from agent.messages import Block
from agent.model.client import BlockStart, BlockStop, ModelEvent
from agent.model.message_builder import MessageBuilder
from agent.stream import TurnEvents
from permissions.base.text.sanitize import sanitize

PENDING: Final = "It has no result yet: the server continues it in its next answer."
REDACTED: Final = "The advice is for the model alone: the server does not show it."
_SHOWN_CHARS: Final = 4_000


class ServerCalls:
    """The calls of one answer that the endpoint runs; each gets exactly one result."""

    def __init__(self, events: TurnEvents) -> None:
        """`events` provides the ids of turn and agent."""
        self._events = events
        self._open: dict[str, tuple[str, str, float]] = {}
        """Name, line of the card and start of each call, by its id."""

    def on_event(self, event: ModelEvent, fold: MessageBuilder) -> Iterator[AgentEvent]:
        """Yield agent events for an event of the stream, which `fold` has processed."""
        if isinstance(event, BlockStop):
            block = fold.block(event.index)
            if block is not None and block.get("type") == "server_tool_use":
                yield self._to_dispatch(block)
        elif isinstance(event, BlockStart) and "tool_use_id" in event.block:
            call_id = str(event.block["tool_use_id"])
            if call_id not in self._open:
                # A result for an earlier answer's call, whose card has ended, gets its own card.
                call_id = f"{call_id}_result"
                name = str(event.block.get("type")).removesuffix("_tool_result")
                yield self._to_dispatch({"id": call_id, "name": name})
            text, is_error = _result(event.block.get("content"))
            yield self._to_result(call_id, text, is_error=is_error)

    def close(self) -> Iterator[AgentEvent]:
        """Yield a result for each call that has none at the end of the answer."""
        for call_id in list(self._open):
            yield self._to_result(call_id, PENDING, is_error=False)

    def _to_dispatch(self, block: Block) -> ToolDispatch:
        call_id, name = str(block.get("id")), str(block.get("name"))
        tool_input = block.get("input")
        values = tool_input if isinstance(tool_input, Mapping) else {}
        text = sanitize(" ".join(str(value) for value in values.values()))[:200]
        identifier = f"{name} {text}".strip()
        self._open[call_id] = (name, identifier, time.monotonic())
        return ToolDispatch(
            self._events.turn_id,
            call_id,
            name,
            values,
            identifier,
            agent_id=self._events.agent_id,
        )

    def _to_result(self, call_id: str, text: str, *, is_error: bool) -> ToolResult:
        name, identifier, start_s = self._open.pop(call_id)
        return ToolResult(
            self._events.turn_id,
            call_id,
            name,
            sanitize(text)[:_SHOWN_CHARS],
            is_error,
            time.monotonic() - start_s,
            "failed" if is_error else "ok",
            identifier,
            agent_id=self._events.agent_id,
        )


def _result(content: object) -> tuple[str, bool]:
    """Return a result's text for users, and whether the call failed."""
    if isinstance(content, list):
        results = [each for each in content if isinstance(each, Mapping)]
        lines = (f"{each.get('title', '')} {each.get('url', '')}".strip() for each in results)
        return "\n".join(filter(None, lines)) or f"{len(results)} results", False
    if not isinstance(content, Mapping):
        return str(content or ""), False
    if "error_code" in content:
        return f"failed: {content['error_code']}", True
    if content.get("type") == "advisor_redacted_result":
        return REDACTED, False
    texts = (content.get("text"), content.get("stdout"), content.get("stderr"))
    return "\n".join(str(text) for text in texts if text) or "done", False
