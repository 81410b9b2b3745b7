"""One scenario of the protocol's conformance suite: `python -m agent.mcp.conformance URL`.

The suite runs this program with one of its servers and checks the requests. The program acts like
a session: connect, sign in if required, list, call.
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
"""Most sign-in attempts, about as many as a user would make."""
SCHEMA_TOOL: Final = "json_schema_2020_12_tool"
METADATA_URL: Final = "https://conformance-test.local/client-metadata.json"
ARGUMENTS: Final[Mapping[str, Mapping[str, object]]] = {"add_numbers": {"a": 5, "b": 3}}


class SuiteScenario(Struct, frozen=True):
    """The scenario that the suite specifies in the environment."""

    name: str
    context: Mapping[str, object]
    is_modern: bool


class FollowingBrowser:
    """A simulated browser that consents immediately."""

    def __init__(self) -> None:
        """Start without a redirect."""
        self._ended_at: asyncio.Queue[str] = asyncio.Queue()

    async def show(self, url: str) -> None:
        """Open a URL and store the redirect's target."""
        async with httpx2.AsyncClient() as client:
            response = await client.get(url, follow_redirects=False)
        self._ended_at.put_nowait(response.headers.get("location", ""))

    async def read_pasted_address(self) -> str:
        """Return the target of the last redirect."""
        return await self._ended_at.get()


async def accept(_request: ElicitationRequest) -> ElicitationAnswer:
    """Accept a form without values; defaults are filled in later."""
    return ElicitationAnswer("accept", {})


def read_scenario(env: Mapping[str, str]) -> SuiteScenario:
    """Return the scenario in the environment."""
    context = json.loads(env.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    version = env.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    return SuiteScenario(
        env.get("MCP_CONFORMANCE_SCENARIO", ""),
        context if isinstance(context, dict) else {},
        version >= "2026",
    )


async def run(url: str, scenario: SuiteScenario, home: Path) -> int:
    """Run one scenario like a session; return the exit status."""
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
    """Sign in if the server requires it; return the number of sign-ins so far."""
    view = servers.view(NAME)
    while view is not None and view.state is ServerState.NEEDS_AUTH and sign_ins < MAX_SIGN_INS:
        sign_ins += 1
        view = await servers.sign_in(NAME, browser)
    return sign_ins


def planned_calls(
    scenario: SuiteScenario, tools: tuple[RemoteTool, ...]
) -> list[tuple[str, Mapping[str, object]]]:
    """Return the calls of a scenario: those that it names, else each tool once."""
    calls = scenario.context.get("toolCalls")
    if isinstance(calls, list):
        return [(str(call["name"]), call.get("arguments") or {}) for call in calls]
    arguments = dict(ARGUMENTS)
    for tool in tools:
        if tool.name == SCHEMA_TOOL:
            arguments["json_schema_echo"] = {"schema": tool.input_schema}
    return [(tool.name, arguments.get(tool.name, {})) for tool in tools]


def main() -> int:
    """Run the scenario in the environment with the server URL in the last argument."""
    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(run(sys.argv[-1], read_scenario(os.environ), Path(home)))


if __name__ == "__main__":
    sys.exit(main())
