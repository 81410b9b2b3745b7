"""Lines of stream-json about the start, the calls and the end of agents.

The formats are those of Claude Code: `task_started`, `task_progress`, `task_updated`,
`task_notification`, and `background_tasks_changed` with all running background agents.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from agent.events import AgentEvent, Terminal, ToolDispatch

if TYPE_CHECKING:
    from agent.subagents.running_agent import RunningAgent

Line = dict[str, object]
TASK_TYPE: Final = "local_agent"


class TaskLines(Struct):
    """Produces the lines about the agents of one run."""

    session_id: str
    find: Callable[[str], RunningAgent | None]
    """Returns an agent of the session by its id."""
    _live: dict[str, bool] = field(default_factory=dict)
    """The running agents, and whether each runs in the background."""
    _listed_ids: tuple[str, ...] = ()
    """The agents in the last `background_tasks_changed` line."""

    def of(self, event: AgentEvent) -> Iterator[Line]:
        """Yield the lines for an event of an agent; none for the main conversation."""
        agent = self.find(event.agent_id) if event.agent_id is not None else None
        if agent is None:
            return
        was_in_background = self._live.get(agent.id)
        self._live[agent.id] = agent.in_background
        if was_in_background is None:
            yield self._agent_line(agent, "task_started", _description_fields(agent))
        elif agent.in_background and not was_in_background:
            yield self._update(agent, {"is_backgrounded": True})
        match event:
            case ToolDispatch():
                progress = {"usage": _usage(agent), "last_tool_name": event.name}
                yield self._agent_line(agent, "task_progress", progress)
            case Terminal():
                # A later message may start it again.
                del self._live[agent.id]
                yield self._update(agent, _patch(agent, event))
                yield self._agent_line(agent, "task_notification", _end(agent, event))
        yield from self._background()

    def _background(self) -> Iterator[Line]:
        """Yield a line with all running background agents, if they changed since the last one."""
        agent_ids = tuple(
            agent_id for agent_id, in_background in self._live.items() if in_background
        )
        if agent_ids == self._listed_ids:
            return
        self._listed_ids = agent_ids
        agents = [agent for agent_id in agent_ids if (agent := self.find(agent_id)) is not None]
        tasks = [
            {
                "task_id": agent.id,
                "task_type": TASK_TYPE,
                "description": agent.task.description,
            }
            for agent in agents
        ]
        yield self._line("background_tasks_changed", {"tasks": tasks})

    def _update(self, agent: RunningAgent, patch: Line) -> Line:
        return self._line("task_updated", {"task_id": agent.id, "patch": patch})

    def _agent_line(self, agent: RunningAgent, subtype: str, more: Mapping[str, object]) -> Line:
        return self._line(
            subtype,
            {
                "task_id": agent.id,
                **({"tool_use_id": agent.task.tool_use_id} if agent.task.tool_use_id else {}),
                "description": agent.task.description,
                **more,
            },
        )

    def _line(self, subtype: str, fields: Mapping[str, object]) -> Line:
        return {
            "type": "system",
            "subtype": subtype,
            **fields,
            "session_id": self.session_id,
            "uuid": str(uuid.uuid4()),
        }


def _description_fields(agent: RunningAgent) -> Line:
    return {
        "task_type": TASK_TYPE,
        "subagent_type": agent.definition.name,
        "is_backgrounded": agent.in_background,
        "spawn_depth": agent.depth,
        **({"parent_task_id": agent.parent_id} if agent.parent_id is not None else {}),
        "prompt": agent.task.prompt,
    }


def _status(agent: RunningAgent, event: Terminal) -> str:
    if agent.stopped_by or event.reason.startswith("aborted"):
        return "stopped"
    return "completed" if event.reason == "completed" else "failed"


def _patch(agent: RunningAgent, event: Terminal) -> Line:
    status = _status(agent, event)
    return {
        "status": "killed" if status == "stopped" else status,
        "end_time": int(time.time() * 1000),
        **({"error": event.detail or event.reason} if status == "failed" else {}),
    }


def _end(agent: RunningAgent, event: Terminal) -> Line:
    return {
        "status": _status(agent, event),
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
