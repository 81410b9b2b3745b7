"""Payloads of sub-agents, teammates and their tasks."""

from __future__ import annotations

from typing import ClassVar

from hooks.events.base import HookEventPayload
from permissions.base.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStart(HookEventPayload):
    """A sub-agent was spawned; `agent_id` and `agent_type` name it."""

    event_name: ClassVar[str] = "SubagentStart"


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStop(HookEventPayload):
    """A sub-agent finished; `agent_id` and `agent_type` name it."""

    event_name: ClassVar[str] = "SubagentStop"
    agent_transcript_path: str | None = None
    last_assistant_message: str | None = None
    stop_hook_active: bool | None = None
    """None lets the runner, which counts, say."""
    background_tasks: list[dict[str, object]] | None = None
    session_crons: list[dict[str, object]] | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class TeammateIdle(HookEventPayload):
    """A teammate is about to go idle."""

    event_name: ClassVar[str] = "TeammateIdle"
    teammate_name: str
    team_name: str


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class _Task(HookEventPayload):
    task_id: str
    task_subject: str
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class TaskCreated(_Task):
    """A task is being created."""

    event_name: ClassVar[str] = "TaskCreated"


@lazy_dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompleted(_Task):
    """A task is being marked as completed."""

    event_name: ClassVar[str] = "TaskCompleted"
