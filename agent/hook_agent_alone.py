"""Agent hooks outside of a conversation, for `hooks run`: the same sub-agent, set up for one
question."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agent.assemble import PersonPorts, assemble
from agent.hook_agent import HookAgent
from agent.model.endpoint import ModelSetup
from agent.options import RunOptions
from agent.settings.load import Settings
from agent.surroundings import Surroundings


async def ask_agent(
    around: Surroundings,
    settings: Settings,
    setup: ModelSetup,
    prompt: str,
    *,
    system: str,
    model: str | None,
    max_turns: int,
) -> Mapping[str, object] | None:
    """Return what the sub-agent concluded, or None when its turns ran out.

    Nothing is kept: the session it needs lives in a folder that goes with it. No hook fires.
    """
    with tempfile.TemporaryDirectory(prefix="agent-tui-hook-") as folder:
        alone = replace(around, agent_home=Path(folder))
        assembled = await assemble(RunOptions(headless=True), alone, settings, setup, PersonPorts())
        try:
            agent = HookAgent(lambda: assembled.ports, lambda _: None)
            return await agent(prompt, system=system, model=model, max_turns=max_turns)
        finally:
            await assembled.conversation.aclose()
