"""WebSearch through services on this machine, and through the endpoint's own tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent.abort import AbortController
from agent.model.anthropic import make_client
from agent.model.scripted.scenario import RawBlock, Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from agent.tools.base import ToolError
from agent.tools.builtin.web_search import web_search_tool
from agent.tools.search_port import SearchQuery
from agent.tools.web.search_providers import Provider, SearchService, search_service
from agent.tools.web.server_search import ServerSearch
from tests.agent.tools.conftest import Bench

ENTRIES = [
    {"title": "One", "url": "https://docs.example.org/one", "content": "about \x1b[31mone"},
    {"title": "Two", "url": "https://other.test/two", "description": "about two"},
]


@asynccontextmanager
async def service(answer: Any, status: int = 200) -> AsyncIterator[tuple[str, list[str]]]:
    """Serve one JSON answer; the requests are kept as text."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((line for line in head.splitlines() if "ontent-" in line), "")
        size = int(length.split(":")[1]) if "ength" in length else 0
        asked.append(head + (await reader.readexactly(size)).decode())
        body = json.dumps(answer).encode()
        writer.write(f"HTTP/1.1 {status} OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize(
    ("provider", "answer", "request_line", "key"),
    [
        (
            "brave",
            {"web": {"results": ENTRIES}},
            "GET /res/v1/web/search?q=how+to&count=20&text_decorations=false ",
            "brave-key",
        ),
        ("tavily", {"results": ENTRIES}, "POST /search", "tavily-key"),
        ("searxng", {"results": ENTRIES}, "GET /search?q=how", ""),
    ],
)
async def test_each_service_is_asked_in_its_form(
    bench: Bench, provider: Provider, answer: Any, request_line: str, key: str
) -> None:
    env = {"BRAVE_API_KEY": "brave-key", "TAVILY_API_KEY": "tavily-key"}
    async with service(answer) as (url, asked):
        found = search_service(provider, url, env)
        assert isinstance(found, SearchService)
        bench.services.search = found
        text = await bench.text(web_search_tool(), query="how to")
    assert text == (
        "One\nhttps://docs.example.org/one\nabout one\n\nTwo\nhttps://other.test/two\nabout two"
    )
    assert asked[0].startswith(request_line)
    assert key in asked[0]


async def test_results_of_other_hosts_are_left_out() -> None:
    async with service({"results": ENTRIES}) as (url, _):
        found = search_service("searxng", url, {})
        assert isinstance(found, SearchService)
        only = await found.search(
            SearchQuery("x", allowed_domains=("example.org",)), AbortController().signal
        )
        without = await found.search(
            SearchQuery("x", blocked_domains=("example.org",)), AbortController().signal
        )
    assert [hit.title for hit in only.hits] == ["One"]
    assert [hit.title for hit in without.hits] == ["Two"]


async def test_a_service_that_refuses_is_named(bench: Bench) -> None:
    async with service({}, status=429) as (url, _):
        found = search_service("searxng", url, {})
        assert isinstance(found, SearchService)
        bench.services.search = found
        with pytest.raises(ToolError, match="answered 429"):
            await bench.call(web_search_tool(), query="how to")


def test_what_is_missing_is_reported() -> None:
    assert search_service("brave", None, {}) == "webSearch: brave needs its key in BRAVE_API_KEY."
    assert "needs its address" in str(search_service("searxng", None, {}))


async def test_the_endpoint_searches_by_its_own_tool() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    page = {"type": "web_search_result", "url": "https://e.org", "title": "E", "page_age": None}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [page]}
    turn = Turn((RawBlock(use), RawBlock(result), Text("E says so.")))
    used: list[str] = []
    async with ScriptedServer(Scenario(turns=(turn,))) as server:
        client = make_client(base_url=server.base_url, api_key="k")
        search = ServerSearch(
            client, lambda: "claude-opus-5-5", account=lambda _, model: used.append(model)
        )
        found = await search.search(
            SearchQuery("x", allowed_domains=("e.org",)), AbortController().signal
        )
        await client.aclose()
        (request,) = server.requests
    assert found.answer == "E says so."
    assert [hit.url for hit in found.hits] == ["https://e.org"]
    assert request.body["tools"][0]["allowed_domains"] == ["e.org"]
    assert used == ["claude-opus-5-5"]
