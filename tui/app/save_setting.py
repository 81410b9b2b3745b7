"""Writes one of the user's own settings."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent.errors import AgentError
from agent.settings.change import set_value


async def keep_setting(agent_home: Path, key: str, value: object) -> str:
    """Write a setting; return what went wrong for users to read, empty when nothing did."""
    try:
        await asyncio.to_thread(set_value, agent_home / "settings.json", key, value)
    except (AgentError, OSError) as error:
        return f"not kept: {error}"
    return ""
