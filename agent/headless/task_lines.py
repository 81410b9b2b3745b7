"""Lines of stream-json about agents: one begins, makes a call, ends.

Shapes are those of Claude Code: `task_started`, `task_progress`, `task_notification`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from agent.events import AgentEvent, Terminal, ToolDispatch

if TYPE_CHECKING:
    from agent.subagents.running_agent import RunningAgent

Line = dict[str, object]


class TaskLines(Struct):
    """The agents of one run, as a program that reads its lines follows them."""

    session_id: str
    find: Callable[[str], RunningAgent | None]
    """Returns an agent of the session by its id."""
    _begun: set[str] = field(default_factory=set)

    def of(self, event: AgentEvent) -> Iterator[Line]:
        """Yield the lines that an event of an agent makes; none for the main conversation's."""
        agent = self.find(event.agent_id) if event.agent_id is not None else None
        if agent is None:
            return
        if agent.id not in self._begun:
            self._begun.add(agent.id)
            yield self._line(agent, "task_started", _what_it_is(agent))
        match event:
            case ToolDispatch():
                progress = {"usage": _usage(agent), "last_tool_name": event.name}
                yield self._line(agent, "task_progress", progress)
            case Terminal():
                # A message has it begin again.
                self._begun.discard(agent.id)
                yield self._line(agent, "task_notification", _end(agent, event))

    def _line(self, agent: RunningAgent, subtype: str, more: Mapping[str, object]) -> Line:
        return {
            "type": "system",
            "subtype": subtype,
            "task_id": agent.id,
            **({"tool_use_id": agent.task.tool_use_id} if agent.task.tool_use_id else {}),
            "description": agent.task.description,
            **more,
            "session_id": self.session_id,
            "uuid": str(uuid.uuid4()),
        }


def _what_it_is(agent: RunningAgent) -> Line:
    return {
        "task_type": "local_agent",
        "subagent_type": agent.definition.name,
        "is_backgrounded": agent.in_background,
        "spawn_depth": agent.depth,
        **({"parent_task_id": agent.parent_id} if agent.parent_id is not None else {}),
        "prompt": agent.task.prompt,
    }


def _end(agent: RunningAgent, event: Terminal) -> Line:
    status = "completed" if event.reason == "completed" else "failed"
    return {
        "status": "stopped" if agent.stopped_by or event.reason.startswith("aborted") else status,
        "output_file": str(agent.transcript),
        "summary": event.detail or agent.task.description,
        "usage": _usage(agent),
    }


def _usage(agent: RunningAgent) -> dict[str, int]:
    return {
        "total_tokens": agent.use.tokens,
        "tool_uses": agent.use.tool_count,
        "duration_ms": int(agent.elapsed_s * 1000),
    }
