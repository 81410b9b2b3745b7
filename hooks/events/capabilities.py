"""What each event lets a hook do: one row per event, read by matching, parsing and aggregation.

Whatever an answer contains beyond its event's row is reported and never applied.
"""

from __future__ import annotations

import difflib
import re
from typing import Final

from hooks.events.effects import (
    ALL_TYPES,
    AT_START,
    WITHOUT_MODELS,
    Audience,
    Effects,
    ExitTwo,
    ModelRefusal,
    PlainStdout,
)


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


EFFECTS: Final[dict[str, Effects]] = {
    "SessionStart": Effects("source", AT_START, ExitTwo.NOTICE, Audience.USER,
        _names("additionalContext", "initialUserMessage", "sessionTitle", "watchPaths",
        "reloadSkills"), plain_stdout=PlainStdout.CONTEXT, env_file_replaces=("SessionStart",),
        assumed_fields={"source": "startup"}),
    "Setup": Effects("trigger", AT_START, ExitTwo.NOTICE, Audience.USER,
        _names("additionalContext"), env_file_replaces=("Setup",), assumed_fields={"trigger":
        "init"}),
    "SessionEnd": Effects("reason", WITHOUT_MODELS, ExitTwo.NOTICE, Audience.USER, reads_json=False,
        honors_continue=False, honors_system_message=False, timeout_s=1.5,
        assumed_fields={"reason": "other"}),
    "UserPromptSubmit": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.USER,
        _names("additionalContext", "sessionTitle", "suppressOriginalPrompt"), decision_block=True,
        plain_stdout=PlainStdout.CONTEXT, timeout_s=30, model_refusal=ModelRefusal.ENDS_TURN),
    "UserPromptExpansion": Effects("command_name", ALL_TYPES, ExitTwo.BLOCK, Audience.USER,
        _names("additionalContext"), decision_block=True, plain_stdout=PlainStdout.CONTEXT,
        model_refusal=ModelRefusal.ENDS_TURN),
    "Stop": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL, _names("additionalContext"),
        decision_block=True, ends_turn_is_the_point=True, is_stop=True,
        model_refusal=ModelRefusal.CONTINUES),
    "StopFailure": Effects("error", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        honors_continue=False, honors_system_message=False, strict_exact_matcher=True),
    "PreToolUse": Effects("tool_name", ALL_TYPES, ExitTwo.DENY, Audience.MODEL,
        _names("permissionDecision", "permissionDecisionReason", "updatedInput",
        "additionalContext"), is_tool_event=True, assumed_fields={"tool_use_id": "toolu_given"},
        model_refusal=ModelRefusal.ENDS_TURN_UNLESS_CONTINUED),
    "PermissionRequest": Effects("tool_name", ALL_TYPES, ExitTwo.IGNORED, Audience.MODEL,
        _names("decision"), is_tool_event=True, model_refusal=ModelRefusal.IGNORED),
    "PermissionDenied": Effects("tool_name", ALL_TYPES, ExitTwo.IGNORED, Audience.NOBODY,
        _names("retry"), is_tool_event=True, assumed_fields={"tool_use_id": "toolu_given"},
        model_refusal=ModelRefusal.IGNORED),
    "PostToolUse": Effects("tool_name", ALL_TYPES, ExitTwo.FEEDBACK, Audience.MODEL,
        _names("additionalContext", "updatedToolOutput", "updatedMCPToolOutput",
        "classifierContext"), decision_block=True, block_prevents=False, is_tool_event=True,
        assumed_fields={"tool_use_id": "toolu_given"},
        model_refusal=ModelRefusal.ENDS_TURN_UNLESS_CONTINUED),
    "PostToolUseFailure": Effects("tool_name", ALL_TYPES, ExitTwo.FEEDBACK, Audience.MODEL,
        _names("additionalContext"), decision_block=True, block_prevents=False, is_tool_event=True,
        assumed_fields={"tool_use_id": "toolu_given", "error": ""}),
    "PostToolBatch": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.USER,
        _names("additionalContext"), decision_block=True, model_refusal=ModelRefusal.ENDS_TURN),
    "Notification": Effects("notification_type", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        honors_continue=False, honors_system_message=False, is_beside_turns=True),
    "MessageDisplay": Effects(None, WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        _names("displayContent"), honors_continue=False, honors_system_message=False,
        timeout_s=10, is_frequent=True),
    "SubagentStart": Effects("agent_type", WITHOUT_MODELS, ExitTwo.NOTICE, Audience.USER,
        _names("additionalContext")),
    "SubagentStop": Effects("agent_type", ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL,
        _names("additionalContext"), decision_block=True, ends_turn_is_the_point=True, is_stop=True,
        model_refusal=ModelRefusal.CONTINUES),
    "TeammateIdle": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL,
        ends_turn_is_the_point=True, model_refusal=ModelRefusal.STOPS_UNLESS_CONTINUED),
    "TaskCreated": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL, decision_block=True,
        honors_continue=False),
    "TaskCompleted": Effects(None, ALL_TYPES, ExitTwo.BLOCK, Audience.MODEL), "PreCompact":
        Effects("trigger", WITHOUT_MODELS, ExitTwo.BLOCK, Audience.USER, decision_block=True,
        honors_continue=False, honors_system_message=False, assumed_fields={"trigger": "manual",
        "custom_instructions": ""}),
    "PostCompact": Effects("trigger", WITHOUT_MODELS, ExitTwo.NOTICE, Audience.USER,
        honors_continue=False, honors_system_message=False, assumed_fields={"trigger": "manual",
        "compact_summary": ""}),
    "InstructionsLoaded": Effects("load_reason", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        reads_json=False, honors_continue=False, honors_system_message=False,
        is_beside_turns=True),
    "ConfigChange": Effects("source", WITHOUT_MODELS, ExitTwo.BLOCK, Audience.NOBODY,
        decision_block=True, honors_continue=False, assumed_fields={"source": "project_settings"},
        is_beside_turns=True),
    "CwdChanged": Effects(None, WITHOUT_MODELS, ExitTwo.NOTICE, Audience.USER, _names("watchPaths"),
        honors_continue=False, env_file_replaces=("CwdChanged", "FileChanged")),
    "DirectoryAdded": Effects("source", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        honors_continue=False, assumed_fields={"source": "slash_command"}, is_beside_turns=True),
    "FileChanged": Effects("file_path", WITHOUT_MODELS, ExitTwo.NOTICE, Audience.USER,
        _names("watchPaths"), honors_continue=False, strict_exact_matcher=True,
        env_file_replaces=(), assumed_fields={"event": "change"}, is_beside_turns=True),
    "WorktreeCreate": Effects(None, WITHOUT_MODELS, ExitTwo.BLOCK, Audience.USER,
        _names("worktreePath"), plain_stdout=PlainStdout.PATH, honors_continue=False,
        any_failure_blocks=True),
    "WorktreeRemove": Effects(None, WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        reads_json=False, honors_continue=False, honors_system_message=False),
    "Elicitation": Effects("mcp_server_name", WITHOUT_MODELS, ExitTwo.DENY, Audience.USER,
        _names("action", "content"), honors_continue=False, declines_when_blocked=True),
    "ElicitationResult": Effects("mcp_server_name", WITHOUT_MODELS, ExitTwo.BLOCK, Audience.USER,
        _names("action", "content"), honors_continue=False, declines_when_blocked=True),
    "PreModelSwitch": Effects("to_model", WITHOUT_MODELS, ExitTwo.DENY, Audience.USER,
        _names("permissionDecision", "permissionDecisionReason"), timeout_blocks=True, timeout_s=30,
        is_beside_turns=True),
    "PostModelSwitch": Effects("to_model", WITHOUT_MODELS, ExitTwo.IGNORED, Audience.NOBODY,
        _names("additionalContext"), plain_stdout=PlainStdout.CONTEXT, timeout_s=30,
        is_beside_turns=True),
    "PreSkillShellCommand": Effects("tool_name", ALL_TYPES, ExitTwo.DENY, Audience.MODEL,
        _names("permissionDecision", "permissionDecisionReason", "updatedInput"),
        is_tool_event=True, honors_continue=False, assumed_fields={"tool_use_id": "toolu_given",
        "command_name": "given"}),
}  # fmt: skip

GUARDS: Final = frozenset({"PreToolUse", "PreSkillShellCommand"})
"""Events whose hooks decide whether something runs; where they fail, they may block as well."""
GENERAL_TIMEOUT_S: Final = {
    "command": 600.0,
    "http": 600.0,
    "mcp_tool": 600.0,
    "callback": 600.0,
    "prompt": 30.0,
    "agent": 60.0,
}
LONGEST_TIMEOUT_S: Final = 30 * 24 * 3600.0
"""Upper limit of configured timeouts: timers accept no larger numbers."""


def default_timeout_s(event: str, handler_type: str) -> float:
    """Return the seconds a handler may take without a timeout in its configuration."""
    own = EFFECTS[event].timeout_s
    if own is not None and handler_type not in ("prompt", "agent"):
        return own
    return GENERAL_TIMEOUT_S[handler_type]


def closest_event(name: str) -> str:
    """Return a hint in parentheses about the event that a name may mean; empty for none."""
    names = {event.lower(): event for event in EFFECTS}
    close = difflib.get_close_matches(re.sub(r"[-_ ]", "", name).lower(), names, n=1)
    return f" (did you mean {names[close[0]]}?)" if close else ""
