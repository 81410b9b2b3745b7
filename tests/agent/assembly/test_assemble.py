"""What a start that fails leaves behind."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import httpx2
import pytest

from agent.assembly.assemble import UserPorts, assemble, settings_for
from agent.errors import AgentError
from agent.model.scripted.scenario import ModelInfo, Scenario
from agent.model.scripted.server import ScriptedServer
from agent.options import RunOptions
from tests.journeys.start import model_at, user_at


async def test_a_step_that_fails_after_the_model_was_asked_for_closes_its_connections(
    tmp_path: Path, fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = user_at(fresh_home, tmp_path)
    options = RunOptions()

    exists = os.path.exists

    def without_git(path: Path) -> bool:
        if path == tmp_path / ".git":
            raise OSError("the disk is gone")
        return exists(path)

    async with ScriptedServer(Scenario(models=(ModelInfo("only"),))) as server:
        setup = model_at(server.base_url, None, small_model=None)
        settings = settings_for(options, environment)
        monkeypatch.setattr(os.path, "exists", without_git)
        with pytest.raises(OSError, match="the disk is gone"):
            await assemble(options, environment, settings, setup, UserPorts())
        clients = [one for one in gc.get_objects() if isinstance(one, httpx2.AsyncClient)]
        assert [client for client in clients if not client.is_closed] == []


async def test_a_start_that_fails_leaves_no_session(tmp_path: Path, fresh_home: Path) -> None:
    environment = user_at(fresh_home, tmp_path)
    options = RunOptions(agent="nobody")
    async with ScriptedServer(Scenario(models=(ModelInfo("only"),))) as server:
        setup = model_at(server.base_url, None, small_model=None)
        settings = settings_for(options, environment)
        with pytest.raises(AgentError, match="There is no agent 'nobody'"):
            await assemble(options, environment, settings, setup, UserPorts())
    assert [*environment.agent_home.glob("sessions/*/*")] == []
