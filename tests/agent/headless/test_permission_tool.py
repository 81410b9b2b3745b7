"""A tool of an MCP server decides what a user would be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.headless.control_protocol import NoAnswer
from agent.headless.permission_tool import PermissionTool
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType
from permissions.request import PermissionRequest
from tests.agent.mcp.running import plain, running

PENDING = Decision(
    Behavior.ASK, DecisionSource.MODE, ReasonType.MODE, Reason.MODE_DEFAULT, "It would ask."
)


def _request(command: str) -> PermissionRequest:
    return PermissionRequest("Bash", {"command": command}, tool_use_id="call")


async def test_a_tool_allows_changes_and_denies(tmp_path: Path) -> None:
    async with running(tmp_path, plain("approves")) as servers:
        tool = PermissionTool("mcp__plain__echo")
        tool.connect(lambda: servers)
        allowed = await tool.decide(_request("touch a"), PENDING)
        assert allowed is not None
        assert allowed.behavior is Behavior.ALLOW
        assert allowed.updated_input == {"command": "true"}
        denied = await tool.decide(_request("rm a"), PENDING)
        assert denied is not None
        assert (denied.behavior, denied.feedback) == (Behavior.DENY, "not that one")
        with pytest.raises(NoAnswer):
            await tool.decide(_request("odd"), PENDING)


@pytest.mark.parametrize("name", ["mcp__plain__missing", "mcp__other__echo"])
async def test_a_tool_that_is_not_there_answers_nothing(tmp_path: Path, name: str) -> None:
    async with running(tmp_path, plain("approves")) as servers:
        tool = PermissionTool(name)
        tool.connect(lambda: servers)
        with pytest.raises(NoAnswer):
            await tool.decide(_request("touch a"), PENDING)


async def test_without_servers_nothing_is_answered() -> None:
    with pytest.raises(NoAnswer):
        await PermissionTool("mcp__plain__echo").decide(_request("touch a"), PENDING)
