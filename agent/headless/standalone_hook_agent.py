"""Run an agent hook outside of a conversation, for `hooks run`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from agent.assembly.assemble import UserPorts, assemble
from agent.assembly.environment import Environment
from agent.model.endpoint import ModelSetup
from agent.options import RunOptions
from agent.settings.load import Settings
from agent.stream import discard
from agent.subagents.hook_agent import HookAgent
from permissions.base.files.temporary_directories import make_owned_directory


async def ask_agent(
    environment: Environment,
    settings: Settings,
    setup: ModelSetup,
    prompt: str,
    *,
    system: str,
    model: str | None,
    max_turns: int,
) -> Mapping[str, object] | None:
    """Return the sub-agent's answer, or None if it reached its limit of turns.

    Nothing is stored: its session is in a temporary directory that is removed. No hooks fire.
    """
    directory = await asyncio.to_thread(make_owned_directory, "agent-tui-hook-")
    try:
        alone = replace(environment, agent_home=directory.path)
        result = await assemble(RunOptions(headless=True), alone, settings, setup, UserPorts())
        try:
            agent = HookAgent(lambda: result.ports, discard)
            return await agent(prompt, system=system, model=model, max_turns=max_turns)
        finally:
            await result.conversation.aclose()
    finally:
        await asyncio.to_thread(directory.remove)
