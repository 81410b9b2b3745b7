"""The 34 hook events: one payload dataclass per event, and the table of them by name."""

from __future__ import annotations

from typing import Final

from hooks.events.payload import HookEventPayload, ToolEvent
from hooks.events.session import (
    PostCompact,
    PostModelSwitch,
    PreCompact,
    PreModelSwitch,
    SessionEnd,
    SessionStart,
    Setup,
)
from hooks.events.team import SubagentStart, SubagentStop, TaskCompleted, TaskCreated, TeammateIdle
from hooks.events.tool import (
    PermissionDenied,
    PermissionRequestEvent,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreSkillShellCommand,
    PreToolUse,
)
from hooks.events.turn import (
    MessageDisplay,
    Notification,
    Stop,
    StopFailure,
    UserPromptExpansion,
    UserPromptSubmit,
)
from hooks.events.workspace import (
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    Elicitation,
    ElicitationResult,
    FileChanged,
    InstructionsLoaded,
    WorktreeCreate,
    WorktreeRemove,
)

EVENTS: Final[dict[str, type[HookEventPayload]]] = {
    payload.event_name: payload
    for payload in (
        SessionStart,
        Setup,
        SessionEnd,
        UserPromptSubmit,
        UserPromptExpansion,
        Stop,
        StopFailure,
        PreToolUse,
        PermissionRequestEvent,
        PermissionDenied,
        PostToolUse,
        PostToolUseFailure,
        PostToolBatch,
        Notification,
        MessageDisplay,
        SubagentStart,
        SubagentStop,
        TeammateIdle,
        TaskCreated,
        TaskCompleted,
        PreCompact,
        PostCompact,
        InstructionsLoaded,
        ConfigChange,
        CwdChanged,
        DirectoryAdded,
        FileChanged,
        WorktreeCreate,
        WorktreeRemove,
        Elicitation,
        ElicitationResult,
        PreModelSwitch,
        PostModelSwitch,
        PreSkillShellCommand,
    )
}
"""Every event by name, in the order users are shown them."""

__all__ = [
    "EVENTS",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "HookEventPayload",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PermissionDenied",
    "PermissionRequestEvent",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "PreSkillShellCommand",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Setup",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "ToolEvent",
    "UserPromptExpansion",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
]
