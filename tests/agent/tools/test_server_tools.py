"""Tools of servers as tools of ours: what becomes of large results."""

from __future__ import annotations

from agent.mcp.bridge.tool_bridge import ToolBridge
from agent.tools.large_results import bound_result
from tests.agent.mcp.running import of, plain, running
from tests.agent.tools.conftest import Bench


async def test_a_large_result_is_reported_and_a_larger_one_is_a_file(bench: Bench) -> None:
    warned: list[str] = []
    async with running(bench.root, plain()) as servers:

        async def result(characters: int, **env: str) -> str:
            tools, _ = ToolBridge(servers, env, warned.append).tools(of(servers))
            echo = next(tool for tool in tools if tool.name == "mcp__plain__echo")
            parsed = echo.parse({"text": "long " * (characters // 5)})
            outcome = await echo.run(parsed, bench.context)
            return str((await bound_result(outcome, echo, bench.context)).content)

        assert (len(await result(39_000)), warned) == (39_000, [])
        assert len(await result(41_000)) == 41_000
        assert [text.partition(",")[0] for text in warned] == ["mcp__plain__echo returned about 10"]
        assert "The whole result is in" in await result(101_000)
        assert "The whole result is in" in await result(41_000, MAX_MCP_OUTPUT_TOKENS="9000")
        assert len(warned) == 1
