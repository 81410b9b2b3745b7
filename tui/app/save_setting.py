"""Writes one of the user's settings."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.errors import AgentError
from agent.settings.change import set_value
from permissions.base.text.failure_text import error_reason


async def save_setting(agent_home: Path, key: str, value: object) -> str:
    """Write a setting; return why that failed, or ""."""
    try:
        await asyncio.to_thread(set_value, agent_home / "settings.json", key, value)
    except (AgentError, OSError) as error:
        return f"Not saved: {error_reason(error)}."
    return ""
