"""Payloads of sub-agents, teammates and their tasks."""

from __future__ import annotations

from hooks.events.payload import HookEventPayload


class SubagentStart(HookEventPayload, frozen=True, kw_only=True):
    """A sub-agent was spawned; `agent_id` and `agent_type` name it."""


class SubagentStop(HookEventPayload, frozen=True, kw_only=True):
    """A sub-agent finished; `agent_id` and `agent_type` name it."""

    agent_transcript_path: str | None = None
    last_assistant_message: str | None = None
    stop_hook_active: bool | None = None
    """None: the runner counts and fills it in."""
    background_tasks: list[dict[str, object]] | None = None
    session_crons: list[dict[str, object]] | None = None


class TeammateIdle(HookEventPayload, frozen=True, kw_only=True):
    """A teammate is about to go idle."""

    teammate_name: str
    team_name: str


class _Task(HookEventPayload, frozen=True, kw_only=True):
    task_id: str
    task_subject: str
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None


class TaskCreated(_Task, frozen=True, kw_only=True):
    """A task is being created."""


class TaskCompleted(_Task, frozen=True, kw_only=True):
    """A task is being marked as completed."""
