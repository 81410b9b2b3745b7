"""A scripted server and a client for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from agent.messages import Message, user_message
from agent.model.anthropic import AnthropicClient, make_client
from agent.model.client import ModelRequest
from agent.model.endpoint_config import Timeouts
from agent.model.message_builder import MessageBuilder
from agent.model.scripted.scenario import Scenario
from agent.model.scripted.server import RecordedRequest, ScriptedServer

READ_TOOL: dict[str, Any] = {
    "name": "Read",
    "description": "Read a file.",
    "input_schema": {"type": "object"},
}


@dataclass
class Stage:
    """A scripted server and a client that talks to it."""

    server: ScriptedServer
    client: AnthropicClient

    @property
    def requests(self) -> list[RecordedRequest]:
        return self.server.requests

    def request(self, *messages: Message, **changes: Any) -> ModelRequest:
        values: dict[str, Any] = {
            "model": "claude-opus-5-5",
            "system": ({"type": "text", "text": "Be brief."},),
            "tools": (READ_TOOL,),
            "messages": messages or (user_message("hello"),),
            "max_tokens": 1000,
        }
        return ModelRequest(**{**values, **changes})

    async def ask(self, *messages: Message, **changes: Any) -> MessageBuilder:
        """Fold one whole response."""
        fold = MessageBuilder()
        async for event in self.client.stream(self.request(*messages, **changes)):
            fold.feed(event)
        return fold


Serve = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a scripted server and a client for it; both end with the test."""
    async with AsyncExitStack() as stack:

        async def start(
            scenario: Scenario,
            *,
            api_key: str | None = "key",
            timeouts: Timeouts = Timeouts(),  # noqa: B008  # frozen
            **options: Any,
        ) -> Stage:
            server = await stack.enter_async_context(ScriptedServer(scenario, **options))
            client = make_client(base_url=server.base_url, api_key=api_key, timeouts=timeouts)
            stack.push_async_callback(client.aclose)
            return Stage(server, client)

        yield start
