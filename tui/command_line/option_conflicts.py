"""Options that cannot go together: refused with what to type instead, rather than one ignored.

Next: `tui.command_line.command_line`, whose parameters these are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from permissions.tool_names import is_mcp_name

Given = Mapping[str, Any]


def refuse_contradictions(given: Given) -> None:
    """Check the parsed options against each other.

    Raises:
        click.UsageError: some of them contradict each other; the text names them.
    """
    for is_contradiction, text in _CONTRADICTIONS:
        if is_contradiction(given):
            raise click.UsageError(text.format_map(given))


def _continues(given: Given) -> bool:
    return given["continue_latest"] or given["resume"] is not None


def _has_two_sessions(given: Given) -> bool:
    return given["continue_latest"] and given["resume"] is not None


def _forks_nothing(given: Given) -> bool:
    return given["fork_session"] and not _continues(given)


def _names_an_old_session(given: Given) -> bool:
    return given["session_id"] is not None and _continues(given) and not given["fork_session"]


def _has_two_modes(given: Given) -> bool:
    modes = (None, "bypassPermissions")
    return given["dangerously_skip_permissions"] and given["permission_mode"] not in modes


def _reads_a_stream_alone(given: Given) -> bool:
    return given["input_format"] == "stream-json" and not _writes_a_stream(given)


def _writes_a_stream(given: Given) -> bool:
    return bool(given["output_format"] == "stream-json")


def _drops_a_session_on_the_screen(given: Given) -> bool:
    has_screen = not given["headless"] and given["output_format"] == "text"
    return given["no_session_persistence"] and has_screen


def _drops_a_named_session(given: Given) -> bool:
    return given["no_session_persistence"] and (_continues(given) or given["name"] is not None)


def _asks_without_a_stream(given: Given) -> bool:
    asks: bool = given["permission_prompt_tool"] == "stdio"
    return asks and given["input_format"] != "stream-json"


def _asks_something_else(given: Given) -> bool:
    asked: str | None = given["permission_prompt_tool"]
    return asked not in (None, "stdio") and not is_mcp_name(asked)


def _asks_a_tool_on_the_screen(given: Given) -> bool:
    has_screen: bool = not given["headless"] and given["output_format"] == "text"
    return given["permission_prompt_tool"] not in (None, "stdio") and has_screen


_CONTRADICTIONS: Final[tuple[tuple[Callable[[Given], bool], str], ...]] = (
    (
        _has_two_sessions,
        "-c continues the latest session, -r the one you name: use only one of them.",
    ),
    (
        _forks_nothing,
        "--fork-session continues in a copy of a session: it goes with -c or -r.",
    ),
    (
        _names_an_old_session,
        "--session-id is for a session that is begun. With -c or -r it goes with "
        "--fork-session, which begins one.",
    ),
    (
        lambda given: given["in_background"] and not given["prompt"],
        "--bg starts a session that works by itself: it needs a prompt.",
    ),
    (
        lambda given: given["in_background"] and (given["headless"] or _continues(given)),
        "--bg starts a session without a screen: it goes without -p, -c and -r.",
    ),
    (
        lambda given: given["worktree"] is not None and (given["in_background"] or given["demo"]),
        "--worktree goes without --bg and --demo: its end is the user's to decide.",
    ),
    (
        lambda given: given["init_only"] and bool(given["prompt"]),
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
        lambda given: given["replays_prompts"] and given["input_format"] != "stream-json",
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
        lambda given: given["include_partial_messages"] and not _writes_a_stream(given),
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
"""Each with what to type instead; the first that applies is reported."""
