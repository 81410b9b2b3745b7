"""What each event lets a hook do: one row per event, read by matching, parsing and aggregation.

Whatever an answer contains beyond its event's row is reported and never obeyed.
"""

from __future__ import annotations

import difflib
import re
from enum import StrEnum
from typing import Final

from msgspec import Struct


class ExitTwo(StrEnum):
    """What exit status 2 of a command means for an event."""

    DENY = "deny"
    """The call, switch or question is denied."""
    BLOCK = "block"
    """What the event announces does not happen; for stops: the agent goes on."""
    FEEDBACK = "feedback"
    """Too late to prevent anything: the text is told beside the result."""
    NOTICE = "notice"
    """Nothing is held up; the user reads the text."""
    IGNORED = "ignored"


class Audience(StrEnum):
    """Who reads the reason of a block."""

    MODEL = "model"
    USER = "user"
    NOBODY = "none"


class PlainStdout(StrEnum):
    """What standard output that is not JSON means."""

    IGNORED = "ignored"
    CONTEXT = "context"
    PATH = "path"
    """The last non-empty line is a path (worktrees)."""


ALL_TYPES: Final = frozenset({"command", "http", "mcp_tool", "prompt", "agent", "callback"})
WITHOUT_MODELS: Final = frozenset({"command", "http", "mcp_tool", "callback"})
AT_START: Final = frozenset({"command", "mcp_tool", "callback"})


class Effects(Struct, frozen=True):
    """One event's row."""

    matcher_field: str | None
    """The payload field that a matcher is tested against; None: matchers are ignored."""
    types: frozenset[str]
    """Handler types that may serve it."""
    exit_two: ExitTwo
    feedback_to: Audience
    honours: frozenset[str] = frozenset()
    """Names in `hookSpecificOutput` that are obeyed."""
    decision_block: bool = False
    """Whether top-level `decision: "block"` counts."""
    plain_stdout: PlainStdout = PlainStdout.IGNORED
    honours_continue: bool = True
    honours_system_message: bool = True
    honours_terminal_sequence: bool = True
    reads_json: bool = True
    """False: the event has no use for any answer."""
    block_prevents: bool = True
    """Whether a block holds up what is announced (False after the fact)."""
    ends_turn_is_the_point: bool = False
    """Whether `continue: false` lets the announced end happen (stops) rather than preventing it."""
    any_failure_blocks: bool = False
    """Whether every non-zero exit status blocks (worktree creation)."""
    timeout_blocks: bool = False
    is_tool_event: bool = False
    """Whether `if` conditions apply."""
    strict_exact_matcher: bool = False
    """Whether only letters, digits, `_` and `|` make a matcher a list of names."""
    has_env_file: bool = False
    timeout_s: float | None = None
    """Default for commands, requests and MCP tools where it is not the general one."""


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


EFFECTS: Final[dict[str, Effects]] = {
    "SessionStart": Effects(
        "source",
        AT_START,
        ExitTwo.NOTICE,
        Audience.USER,
        _names(
            "additionalContext", "initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"
        ),
        plain_stdout=PlainStdout.CONTEXT,
        has_env_file=True,
    ),
    "Setup": Effects(
        "trigger",
        AT_START,
        ExitTwo.NOTICE,
        Audience.USER,
        _names("additionalContext"),
        has_env_file=True,
    ),
    "SessionEnd": Effects(
        "reason",
        WITHOUT_MODELS,
        ExitTwo.NOTICE,
        Audience.USER,
        reads_json=False,
        honours_continue=False,
        honours_system_message=False,
        timeout_s=1.5,
    ),
    "UserPromptSubmit": Effects(
        None,
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.USER,
        _names("additionalContext", "sessionTitle", "suppressOriginalPrompt"),
        decision_block=True,
        plain_stdout=PlainStdout.CONTEXT,
        timeout_s=30,
    ),
    "UserPromptExpansion": Effects(
        "command_name",
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.USER,
        _names("additionalContext"),
        decision_block=True,
        plain_stdout=PlainStdout.CONTEXT,
    ),
    "Stop": Effects(
        None,
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.MODEL,
        _names("additionalContext"),
        decision_block=True,
        ends_turn_is_the_point=True,
    ),
    "StopFailure": Effects(
        "error",
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        honours_continue=False,
        honours_system_message=False,
        strict_exact_matcher=True,
    ),
    "PreToolUse": Effects(
        "tool_name",
        ALL_TYPES,
        ExitTwo.DENY,
        Audience.MODEL,
        _names(
            "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"
        ),
        is_tool_event=True,
    ),
    "PermissionRequest": Effects(
        "tool_name",
        ALL_TYPES,
        ExitTwo.IGNORED,
        Audience.MODEL,
        _names("decision"),
        is_tool_event=True,
    ),
    "PermissionDenied": Effects(
        "tool_name",
        ALL_TYPES,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        _names("retry"),
        is_tool_event=True,
    ),
    "PostToolUse": Effects(
        "tool_name",
        ALL_TYPES,
        ExitTwo.FEEDBACK,
        Audience.MODEL,
        _names(
            "additionalContext", "updatedToolOutput", "updatedMCPToolOutput", "classifierContext"
        ),
        decision_block=True,
        block_prevents=False,
        is_tool_event=True,
    ),
    "PostToolUseFailure": Effects(
        "tool_name",
        ALL_TYPES,
        ExitTwo.FEEDBACK,
        Audience.MODEL,
        _names("additionalContext"),
        decision_block=True,
        block_prevents=False,
        is_tool_event=True,
    ),
    "PostToolBatch": Effects(
        None,
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.USER,
        _names("additionalContext"),
        decision_block=True,
    ),
    "Notification": Effects(
        "notification_type",
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        honours_continue=False,
        honours_system_message=False,
    ),
    "MessageDisplay": Effects(
        None,
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        _names("displayContent"),
        honours_continue=False,
        honours_system_message=False,
        timeout_s=10,
    ),
    "SubagentStart": Effects(
        "agent_type",
        WITHOUT_MODELS,
        ExitTwo.NOTICE,
        Audience.USER,
        _names("additionalContext"),
    ),
    "SubagentStop": Effects(
        "agent_type",
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.MODEL,
        _names("additionalContext"),
        decision_block=True,
        ends_turn_is_the_point=True,
    ),
    "TeammateIdle": Effects(
        None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL, ends_turn_is_the_point=True
    ),
    "TaskCreated": Effects(
        None,
        ALL_TYPES,
        ExitTwo.BLOCK,
        Audience.MODEL,
        decision_block=True,
        honours_continue=False,
    ),
    "TaskCompleted": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL),
    "PreCompact": Effects(
        "trigger",
        WITHOUT_MODELS,
        ExitTwo.BLOCK,
        Audience.USER,
        decision_block=True,
        honours_continue=False,
        honours_system_message=False,
    ),
    "PostCompact": Effects(
        "trigger",
        WITHOUT_MODELS,
        ExitTwo.NOTICE,
        Audience.USER,
        honours_continue=False,
        honours_system_message=False,
    ),
    "InstructionsLoaded": Effects(
        "load_reason",
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        reads_json=False,
        honours_continue=False,
        honours_system_message=False,
    ),
    "ConfigChange": Effects(
        "source",
        WITHOUT_MODELS,
        ExitTwo.BLOCK,
        Audience.NOBODY,
        decision_block=True,
        honours_continue=False,
    ),
    "CwdChanged": Effects(
        None,
        WITHOUT_MODELS,
        ExitTwo.NOTICE,
        Audience.USER,
        _names("watchPaths"),
        honours_continue=False,
        has_env_file=True,
    ),
    "DirectoryAdded": Effects(
        "source", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY, honours_continue=False
    ),
    "FileChanged": Effects(
        "file_path",
        WITHOUT_MODELS,
        ExitTwo.NOTICE,
        Audience.USER,
        _names("watchPaths"),
        honours_continue=False,
        strict_exact_matcher=True,
        has_env_file=True,
    ),
    "WorktreeCreate": Effects(
        None,
        WITHOUT_MODELS,
        ExitTwo.BLOCK,
        Audience.USER,
        _names("worktreePath"),
        plain_stdout=PlainStdout.PATH,
        honours_continue=False,
        any_failure_blocks=True,
    ),
    "WorktreeRemove": Effects(
        None,
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        reads_json=False,
        honours_continue=False,
        honours_system_message=False,
    ),
    "Elicitation": Effects(
        "mcp_server_name",
        WITHOUT_MODELS,
        ExitTwo.DENY,
        Audience.USER,
        _names("action", "content"),
        honours_continue=False,
    ),
    "ElicitationResult": Effects(
        "mcp_server_name",
        WITHOUT_MODELS,
        ExitTwo.BLOCK,
        Audience.USER,
        _names("action", "content"),
        honours_continue=False,
    ),
    "PreModelSwitch": Effects(
        "to_model",
        WITHOUT_MODELS,
        ExitTwo.DENY,
        Audience.USER,
        _names("permissionDecision", "permissionDecisionReason"),
        timeout_blocks=True,
        timeout_s=30,
    ),
    "PostModelSwitch": Effects(
        "to_model",
        WITHOUT_MODELS,
        ExitTwo.IGNORED,
        Audience.NOBODY,
        _names("additionalContext"),
        plain_stdout=PlainStdout.CONTEXT,
        timeout_s=30,
    ),
}

GENERAL_TIMEOUT_S: Final = {
    "command": 600.0,
    "http": 600.0,
    "mcp_tool": 600.0,
    "callback": 600.0,
    "prompt": 30.0,
    "agent": 60.0,
}
LONGEST_TIMEOUT_S: Final = 30 * 24 * 3600.0
"""Whatever is asked for: timers know no larger numbers."""


def default_timeout_s(event: str, handler_type: str) -> float:
    """Return the seconds a handler may take where its configuration does not say."""
    own = EFFECTS[event].timeout_s
    if own is not None and handler_type not in ("prompt", "agent"):
        return own
    return GENERAL_TIMEOUT_S[handler_type]


def closest_event(name: str) -> str:
    """Return which event a name may have been meant for, in parentheses; empty for none."""
    names = {event.lower(): event for event in EFFECTS}
    close = difflib.get_close_matches(re.sub(r"[-_ ]", "", name).lower(), names, n=1)
    return f" (did you mean {names[close[0]]}?)" if close else ""
