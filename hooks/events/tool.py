"""Payloads of one tool call, from before its permission to after its batch."""

from __future__ import annotations

from typing import ClassVar

from hooks.events.payload import HookEventPayload, ToolEvent


class PreToolUse(ToolEvent, frozen=True, kw_only=True):
    """A call that rules did not deny is about to be decided; fires in every permission mode."""

    tool_use_id: str
    mcp_server: str | None = None


class PreSkillShellCommand(ToolEvent, frozen=True, kw_only=True):
    """A command in the text of a skill or command is about to run; PreToolUse follows."""

    tool_use_id: str
    command_name: str
    command_source: str | None = None
    invoked_by: str = "other"
    """`user` or `claude`: who named the skill."""


class PermissionRequestEvent(ToolEvent, frozen=True, kw_only=True):
    """A dialog is about to appear, or a call would be denied because no user can be asked."""

    event_name: ClassVar[str] = "PermissionRequest"
    permission_suggestions: list[dict[str, object]] | None = None


class PermissionDenied(ToolEvent, frozen=True, kw_only=True):
    """A rule, the mode, the scope or the classifier denied a call without a question."""

    tool_use_id: str
    reason: str


class PostToolUse(ToolEvent, frozen=True, kw_only=True):
    """A call succeeded; `tool_response` is structured as the tool answers."""

    tool_use_id: str
    tool_response: object
    original_tool_input: dict[str, object] | None = None
    """What the model had asked for, where a hook rewrote it."""
    duration_ms: float | None = None


class PostToolUseFailure(ToolEvent, frozen=True, kw_only=True):
    """A call started and failed; for shells the first line of `error` is `Exit code N`."""

    tool_use_id: str
    error: str
    is_interrupt: bool | None = None
    duration_ms: float | None = None


class PostToolBatch(HookEventPayload, frozen=True, kw_only=True):
    """All calls of one assistant message are resolved.

    Each entry has tool_name, tool_input, tool_use_id and tool_response as text.
    """

    tool_calls: list[dict[str, object]]
