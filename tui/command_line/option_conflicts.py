"""Options that cannot be combined: reported with the alternative, instead of ignoring one.

Next: `tui.command_line.command_line`, which defines the options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from permissions.tool_names import is_mcp_name

OptionValues = Mapping[str, Any]


def refuse_contradictions(values: OptionValues) -> None:
    """Check the parsed options against each other.

    Raises:
        click.UsageError: two options contradict each other; the text names them.
    """
    for is_contradiction, text in _CONTRADICTIONS:
        if is_contradiction(values):
            raise click.UsageError(text.format_map(values))


def _continues(values: OptionValues) -> bool:
    return values["continue_latest"] or values["resume"] is not None


def _has_two_sessions(values: OptionValues) -> bool:
    return values["continue_latest"] and values["resume"] is not None


def _forks_without_session(values: OptionValues) -> bool:
    return values["fork_session"] and not _continues(values)


def _names_an_old_session(values: OptionValues) -> bool:
    return values["session_id"] is not None and _continues(values) and not values["fork_session"]


def _has_two_modes(values: OptionValues) -> bool:
    modes = (None, "bypassPermissions")
    return values["dangerously_skip_permissions"] and values["permission_mode"] not in modes


def _reads_a_stream_alone(values: OptionValues) -> bool:
    return values["input_format"] == "stream-json" and not _writes_a_stream(values)


def _writes_a_stream(values: OptionValues) -> bool:
    return bool(values["output_format"] == "stream-json")


def _drops_a_session_on_the_screen(values: OptionValues) -> bool:
    has_screen = not values["headless"] and values["output_format"] == "text"
    return values["no_session_persistence"] and has_screen


def _drops_a_named_session(values: OptionValues) -> bool:
    return values["no_session_persistence"] and (_continues(values) or values["name"] is not None)


def _asks_without_a_stream(values: OptionValues) -> bool:
    asks: bool = values["permission_prompt_tool"] == "stdio"
    return asks and values["input_format"] != "stream-json"


def _asks_something_else(values: OptionValues) -> bool:
    prompt_tool: str | None = values["permission_prompt_tool"]
    return prompt_tool not in (None, "stdio") and not is_mcp_name(prompt_tool)


def _asks_a_tool_on_the_screen(values: OptionValues) -> bool:
    has_screen: bool = not values["headless"] and values["output_format"] == "text"
    return values["permission_prompt_tool"] not in (None, "stdio") and has_screen


_CONTRADICTIONS: Final[tuple[tuple[Callable[[OptionValues], bool], str], ...]] = (
    (
        _has_two_sessions,
        "-c continues the latest session, -r the one you name: use only one of them.",
    ),
    (
        _forks_without_session,
        "--fork-session continues in a copy of a session: it goes with -c or -r.",
    ),
    (
        _names_an_old_session,
        "--session-id is for a session that is begun. With -c or -r it goes with "
        "--fork-session, which begins one.",
    ),
    (
        lambda values: values["in_background"] and not values["prompt"],
        "--bg starts a session that works by itself: it needs a prompt.",
    ),
    (
        lambda values: values["in_background"] and (values["headless"] or _continues(values)),
        "--bg starts a session without a screen: it goes without -p, -c and -r.",
    ),
    (
        lambda values: (
            values["worktree"] is not None and (values["in_background"] or values["demo"])
        ),
        "--worktree goes without --bg and --demo: its end is the user's to decide.",
    ),
    (
        lambda values: values["init_only"] and bool(values["prompt"]),
        "--init-only runs hooks and no prompt. With a prompt: -p and --init.",
    ),
    (
        _has_two_modes,
        "--dangerously-skip-permissions and --permission-mode {permission_mode} say opposite "
        "things. To begin in {permission_mode} with bypassPermissions at hand: --allow-bypass.",
    ),
    (
        _reads_a_stream_alone,
        "--input-format stream-json needs --output-format stream-json.",
    ),
    (
        lambda values: values["replays_prompts"] and values["input_format"] != "stream-json",
        "--replay-user-messages needs --input-format stream-json.",
    ),
    (
        _drops_a_session_on_the_screen,
        "--no-session-persistence goes with -p. On the screen sessions are kept.",
    ),
    (
        _drops_a_named_session,
        "--no-session-persistence keeps nothing: it goes without -c, -r and --name.",
    ),
    (
        lambda values: values["include_partial_messages"] and not _writes_a_stream(values),
        "--include-partial-messages needs --output-format stream-json.",
    ),
    (
        _asks_something_else,
        "--permission-prompt-tool takes stdio, or the tool of an MCP server: mcp__server__tool.",
    ),
    (
        _asks_a_tool_on_the_screen,
        "--permission-prompt-tool mcp__server__tool goes with -p. On the screen you are asked.",
    ),
    (
        _asks_without_a_stream,
        "--permission-prompt-tool stdio needs --input-format stream-json.",
    ),
)
"""Conditions, each with a message; the first one that holds is reported."""
