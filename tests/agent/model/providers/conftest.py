"""A scripted server that speaks every dialect, and one client for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.model.anthropic import make_client
from agent.model.client import ModelRequest
from agent.model.message_builder import MessageBuilder
from agent.model.providers.provider_setup import ProviderSettings, configured_providers
from agent.model.providers.router import ModelRouter
from agent.model.scripted.scenario import Scenario
from agent.model.scripted.server import ScriptedServer

DIALECTS = ("openai", "chat", "gemini")
NAMES = {"openai": "gpt-5", "chat": "weak-7b", "gemini": "gemini-3-pro"}

READ: Mapping[str, Any] = {
    "name": "Read",
    "description": "Read a file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
}


@dataclass
class ProviderStage:
    """A server, and a client that reaches each dialect of it as a provider."""

    server: ScriptedServer
    client: ModelRouter

    def request(self, dialect: str, *messages: Message, **changes: Any) -> ModelRequest:
        values: dict[str, Any] = {
            "model": f"{dialect}/{NAMES[dialect]}" if dialect in NAMES else dialect,
            "system": ({"type": "text", "text": "Be brief."},),
            "tools": (READ,),
            "messages": messages or (user_message("hello"),),
            "max_tokens": 1000,
        }
        return ModelRequest(**{**values, **changes})

    async def ask(self, dialect: str, *messages: Message, **changes: Any) -> MessageBuilder:
        """Fold one whole response."""
        fold = MessageBuilder()
        async for event in self.client.stream(self.request(dialect, *messages, **changes)):
            fold.feed(event)
        return fold


def results(answer: Message, *texts: str) -> Message:
    """Return the results of an answer's calls."""
    uses = answer.tool_uses()
    pairs = zip(uses, texts or ["ok"] * len(uses), strict=True)
    return tool_results_message(tool_result_block(use.id, text) for use, text in pairs)


Serve = Callable[..., Awaitable[ProviderStage]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server and a client for it; both end with the test."""
    async with AsyncExitStack() as stack:

        async def start(
            scenario: Scenario, settings: Mapping[str, ProviderSettings] | None = None
        ) -> ProviderStage:
            server = await stack.enter_async_context(ScriptedServer(scenario))
            env = {
                "OPENAI_API_KEY": "key",
                "OPENAI_BASE_URL": server.base_url,
                "GEMINI_API_KEY": "key",
                "GOOGLE_GEMINI_BASE_URL": server.base_url,
            }
            chat = ProviderSettings(base_url=server.base_url, reasoning_back="calls")
            providers = configured_providers({"chat": chat, **(settings or {})}, env)
            main = make_client(base_url=server.base_url, api_key="key")
            client = ModelRouter(main, providers, env=env, overrides={})
            stack.push_async_callback(client.aclose)
            return ProviderStage(server, client)

        yield start
