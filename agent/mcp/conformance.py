"""One scenario of the protocol's conformance suite: `python -m agent.mcp.conformance URL`.

The suite starts this program against a server of its own and watches what arrives there. It goes
the way of a session: connect, sign in where the server wants that, list, call.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx2
from msgspec import Struct

from agent.mcp.auth.token_store import TokenStore
from agent.mcp.configuration.server_definition import OAuthSettings, ServerDefinition
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import CLIENT_METADATA, McpServers
from agent.mcp.server_offer import RemoteTool
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, McpPorts
from agent.mcp.server_state import ServerState

NAME: Final = "tested"
SETTLE_S: Final = 60.0
MAX_SIGN_INS: Final = 3
"""As often as a user would try, who is sent back to the same page."""
SCHEMA_TOOL: Final = "json_schema_2020_12_tool"
METADATA_URL: Final = "https://conformance-test.local/client-metadata.json"
ARGUMENTS: Final[Mapping[str, Mapping[str, object]]] = {"add_numbers": {"a": 5, "b": 3}}


class SuiteScenario(Struct, frozen=True):
    """What the suite says in the environment."""

    name: str
    context: Mapping[str, object]
    is_modern: bool


class FollowingBrowser:
    """A user's browser that agrees to everything at once."""

    def __init__(self) -> None:
        """Nothing was opened."""
        self._ended_at: asyncio.Queue[str] = asyncio.Queue()

    async def show(self, url: str) -> None:
        """Open an address and remember where it leads."""
        async with httpx2.AsyncClient() as client:
            response = await client.get(url, follow_redirects=False)
        self._ended_at.put_nowait(response.headers.get("location", ""))

    async def read_pasted_address(self) -> str:
        """Return where the last address led."""
        return await self._ended_at.get()


async def accept(_request: ElicitationRequest) -> ElicitationAnswer:
    """Accept a form as it is; defaults are filled in on the way."""
    return ElicitationAnswer("accept", {})


def read_scenario(env: Mapping[str, str]) -> SuiteScenario:
    """Return what the suite wants."""
    context = json.loads(env.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    version = env.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    return SuiteScenario(
        env.get("MCP_CONFORMANCE_SCENARIO", ""),
        context if isinstance(context, dict) else {},
        version >= "2026",
    )


async def run(url: str, scenario: SuiteScenario, home: Path) -> int:
    """Take the way of a session through one scenario; return the exit status."""
    client_id, secret = scenario.context.get("client_id"), scenario.context.get("client_secret")
    oauth = None
    if isinstance(client_id, str):
        oauth = OAuthSettings(client_id=client_id)
        TokenStore(home / "mcp").set_client(url, client_id, str(secret or ""))
    definition = ServerDefinition(
        name=NAME,
        transport="http",
        scope="user",
        is_foreign=False,
        entry={},
        digest="",
        url=url,
        oauth=oauth,
        protocol="auto" if scenario.is_modern else "legacy",
    )
    servers = McpServers(
        McpPorts(elicit=accept, roots=lambda: (home,)),
        env={},
        settings_env={CLIENT_METADATA: METADATA_URL},
        launch_dir=home,
        agent_home=home,
        version="0",
    )
    try:
        servers.start([definition])
        await servers.settle(timeout_s=SETTLE_S)
        return await _call_all(servers, scenario, FollowingBrowser())
    finally:
        await servers.aclose()


async def _call_all(servers: McpServers, scenario: SuiteScenario, browser: FollowingBrowser) -> int:
    sign_ins = await _sign_in(servers, browser, 0)
    view = servers.view(NAME)
    assert view is not None
    if view.state is not ServerState.CONNECTED:
        print(f"{view.state}: {view.reason}", file=sys.stderr)
        return 1
    for name, arguments in planned_calls(scenario, view.tools):
        while True:
            try:
                print(await servers.call_tool(NAME, name, arguments), file=sys.stderr)
                break
            except McpError as error:
                print(f"{name}: {error}", file=sys.stderr)
            await servers.settle(timeout_s=SETTLE_S)
            old_count, sign_ins = sign_ins, await _sign_in(servers, browser, sign_ins)
            if old_count == sign_ins:
                break
    return 0


async def _sign_in(servers: McpServers, browser: FollowingBrowser, sign_ins: int) -> int:
    """Sign in where the server wants that; return how often that happened."""
    view = servers.view(NAME)
    while view is not None and view.state is ServerState.NEEDS_AUTH and sign_ins < MAX_SIGN_INS:
        sign_ins += 1
        view = await servers.sign_in(NAME, browser)
    return sign_ins


def planned_calls(
    scenario: SuiteScenario, tools: tuple[RemoteTool, ...]
) -> list[tuple[str, Mapping[str, object]]]:
    """Return the calls that a scenario needs: those it names, else each tool once."""
    calls = scenario.context.get("toolCalls")
    if isinstance(calls, list):
        return [(str(call["name"]), call.get("arguments") or {}) for call in calls]
    arguments = dict(ARGUMENTS)
    for tool in tools:
        if tool.name == SCHEMA_TOOL:
            arguments["json_schema_echo"] = {"schema": tool.input_schema}
    return [(tool.name, arguments.get(tool.name, {})) for tool in tools]


def main() -> int:
    """Run the scenario that the environment names against the server of the last argument."""
    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(run(sys.argv[-1], read_scenario(os.environ), Path(home)))


if __name__ == "__main__":
    sys.exit(main())
