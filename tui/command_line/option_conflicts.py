"""Options that cannot go together: refused with what to type instead, rather than one ignored.

Next: `tui.command_line.command_line`, whose parameters these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click


def refuse_contradictions(given: Mapping[str, Any]) -> None:
    """Check the parsed options against each other.

    Raises:
        click.UsageError: some of them say opposite things; the text names them.
    """
    says = _contradiction(given)
    if says is not None:
        raise click.UsageError(says)


def _contradiction(given: Mapping[str, Any]) -> str | None:
    goes_on = given["continue_latest"] or given["resume"] is not None
    mode, answers = given["permission_mode"], given["permission_prompt_tool"]
    is_stream = given["output_format"] == "stream-json"
    if given["continue_latest"] and given["resume"] is not None:
        return "-c continues the latest session, -r the one that is named: give one of them."
    if given["fork_session"] and not goes_on:
        return "--fork-session continues in a copy of a session: it goes with -c or -r."
    if given["session_id"] is not None and goes_on and not given["fork_session"]:
        return (
            "--session-id is for a session that is begun. With -c or -r it goes with "
            "--fork-session, which begins one."
        )
    if given["init_only"] and given["prompt"]:
        return "--init-only runs hooks and no prompt. With a prompt: -p and --init."
    if given["dangerously_skip_permissions"] and mode not in (None, "bypassPermissions"):
        return (
            f"--dangerously-skip-permissions and --permission-mode {mode} say opposite things. "
            f"To begin in {mode} with bypassPermissions at hand: --allow-bypass."
        )
    if given["input_format"] == "stream-json" and not is_stream:
        return "--input-format stream-json needs --output-format stream-json."
    if given["replays_prompts"] and given["input_format"] != "stream-json":
        return "--replay-user-messages needs --input-format stream-json."
    has_screen = not given["headless"] and given["output_format"] == "text"
    if given["no_session_persistence"] and has_screen:
        return "--no-session-persistence goes with -p. On the screen sessions are kept."
    if given["no_session_persistence"] and (goes_on or given["name"] is not None):
        return "--no-session-persistence keeps nothing: it goes without -c, -r and --name."
    if given["include_partial_messages"] and not is_stream:
        return "--include-partial-messages needs --output-format stream-json."
    if answers not in (None, "stdio"):
        return (
            "--permission-prompt-tool takes stdio alone. In place of a tool, a PermissionRequest "
            'hook or "permissionChannel" in your settings answers.'
        )
    if answers is not None and given["input_format"] != "stream-json":
        return "--permission-prompt-tool stdio needs --input-format stream-json."
    return None
