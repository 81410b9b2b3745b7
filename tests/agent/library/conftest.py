"""A scripted server in the place of the program's endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from agent.model.scripted.scenario import ModelInfo, Scenario, Turn
from agent.model.scripted.server import ScriptedServer

Serve = Callable[..., Awaitable[ScriptedServer]]


@pytest.fixture(name="serve")
async def scripted_endpoint(
    monkeypatch: pytest.MonkeyPatch, fresh_home: Path, tmp_path: Path
) -> AsyncIterator[Serve]:
    """Take turns; return the server that the environment names from then on."""
    async with AsyncExitStack() as stack:

        async def serve(*turns: Turn, models: Sequence[ModelInfo] = ()) -> ScriptedServer:
            scenario = Scenario(turns=turns, models=tuple(models))
            server = await stack.enter_async_context(ScriptedServer(scenario))
            monkeypatch.setenv("HOME", str(fresh_home))
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
            monkeypatch.setenv("ANTHROPIC_MODEL", "claude-opus-5-5")
            monkeypatch.chdir(tmp_path)
            return server

        yield serve
