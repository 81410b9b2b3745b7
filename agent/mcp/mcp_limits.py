"""Time limits and batch sizes of servers, with the variables that change them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class McpLimits(Struct, frozen=True, kw_only=True):
    """Time limits in seconds, and batch sizes."""

    connect_s: float = 30.0
    """For connecting: from the start of a program or request to the list of tools."""
    call_s: float = 100_000.0
    """For one call, regardless of progress."""
    idle_local_s: float = 1_800.0
    """For a call without progress, if the server is a local program; 0 means no limit."""
    idle_remote_s: float = 300.0
    local_batch: int = 3
    """Most local programs that start at the same time."""
    remote_batch: int = 20


def limits_from(env: Mapping[str, str]) -> McpLimits:
    """Return the limits that the environment sets; values that are not numbers are ignored."""
    usual = McpLimits()
    idle_s = _seconds(env, "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", -1.0)
    return McpLimits(
        connect_s=_seconds(env, "MCP_TIMEOUT", usual.connect_s) or usual.connect_s,
        call_s=_seconds(env, "MCP_TOOL_TIMEOUT", usual.call_s) or usual.call_s,
        idle_local_s=idle_s if idle_s >= 0 else usual.idle_local_s,
        idle_remote_s=idle_s if idle_s >= 0 else usual.idle_remote_s,
        local_batch=_count(
            env,
            ("AGENT_TUI_MCP_LOCAL_BATCH", "MCP_SERVER_CONNECTION_BATCH_SIZE"),
            usual.local_batch,
        ),
        remote_batch=_count(
            env,
            ("AGENT_TUI_MCP_REMOTE_BATCH", "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE"),
            usual.remote_batch,
        ),
    )


def _seconds(env: Mapping[str, str], name: str, usual: float) -> float:
    """Return a variable in milliseconds as seconds."""
    text = env.get(name, "")
    return int(text) / 1_000 if text.isdecimal() else usual


def _count(env: Mapping[str, str], names: tuple[str, ...], usual: int) -> int:
    for name in names:
        text = env.get(name, "")
        if text.isdecimal() and int(text) > 0:
            return int(text)
    return usual
