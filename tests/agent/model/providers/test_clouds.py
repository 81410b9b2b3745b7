"""Claude on clouds: the vendor's own classes address and sign, our reading does the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from agent.messages import user_message
from agent.model.client import ModelError, ModelRequest
from agent.model.clouds.cloud_client import CloudClient
from agent.model.dialects.provider import Cloud, Provider
from agent.model.endpoint_config import Timeouts
from agent.model.message_builder import MessageBuilder
from agent.model.providers.provider_setup import ProviderSettings, configured_providers
from agent.model.providers.router import ModelRouter
from agent.model.scripted.faults import Cut, Position, Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.recovery.classify import FailureKind, classify
from tests.agent.model.providers.conftest import Serve

MODEL = "claude-sonnet-5-5"


@asynccontextmanager
async def cloud(
    name: Cloud, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[CloudClient]:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer")
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", "key")
    options = {"region": "eu-central-1"} if name == "bedrock" else {}
    base_url = {"bedrock": server.base_url, "foundry": f"{server.base_url}/"}[name]
    provider = Provider(name=name, speaks=name, base_url=base_url, options=options)
    client = CloudClient(provider, {}, Timeouts(silence_s=0.5))
    try:
        yield client
    finally:
        await client.aclose()


async def ask(client: CloudClient) -> MessageBuilder:
    request = ModelRequest(
        model=MODEL,
        system=({"type": "text", "text": "Be brief."},),
        tools=(),
        messages=(user_message("hello"),),
        max_tokens=100,
    )
    fold = MessageBuilder()
    async for event in client.stream(request):
        fold.feed(event)
    return fold


@pytest.mark.parametrize("name", ["bedrock", "foundry"])
async def test_an_answer(name: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = Turn((Text("Hello."), ToolCall("Read", {"path": "a"})))
    async with (
        ScriptedServer(Scenario(turns=(turn,))) as server,
        cloud(name, server, monkeypatch) as client,
    ):
        fold = await ask(client)
    assert fold.message().text == "Hello."
    assert [use.input for use in fold.tool_uses()] == [{"path": "a"}]
    assert server.requests[0].body["model"] == MODEL
    sent = server.requests[0].headers
    assert "bearer" in sent.get("authorization", "") or sent.get("api-key") == "key"


@pytest.mark.parametrize("name", ["bedrock", "foundry"])
async def test_a_failure(name: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = Turn(fault=Status(429, headers={"retry-after": "3"}))
    async with (
        ScriptedServer(Scenario(turns=(turn,))) as server,
        cloud(name, server, monkeypatch) as client,
    ):
        with pytest.raises(ModelError) as caught:
            await ask(client)
    failure = classify(caught.value)
    assert failure.kind is FailureKind.RATE_LIMITED
    assert failure.retry_after_s == 3.0


@pytest.mark.parametrize("fault", [Stall(Position("headers")), Cut(Position("before_stop"), "end")])
async def test_a_failure_whose_body_never_ends(
    fault: Stall | Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(faults=(FaultPlan(Status(529)), FaultPlan(fault)))
    async with (
        ScriptedServer(scenario) as server,
        cloud("foundry", server, monkeypatch) as client,
    ):
        with pytest.raises(ModelError) as caught:
            await ask(client)
    assert caught.value.status == 529


async def test_silence_is_as_long_as_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = Turn((Text("Hello."),), fault=Stall(Position("text")))
    async with (
        ScriptedServer(Scenario(turns=(turn,))) as server,
        cloud("foundry", server, monkeypatch) as client,
    ):
        with pytest.raises(ModelError) as caught:
            await ask(client)
    assert caught.value.kind == "stalled"


@pytest.mark.parametrize(
    ("name", "missing"),
    [("vertex", "region"), ("foundry", "ANTHROPIC_FOUNDRY_API_KEY")],
)
async def test_what_is_missing_is_named(
    name: Cloud, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("CLOUD_ML_REGION", "ANTHROPIC_FOUNDRY_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    client = CloudClient(Provider(name=name, speaks=name), {})
    with pytest.raises(ModelError, match=missing) as caught:
        await ask(client)
    assert caught.value.kind == "not_configured"


async def test_foundry_takes_the_key_that_settings_name(serve: Serve) -> None:
    stage = await serve(Scenario(turns=(Turn((Text("Hello."),)),)))
    section = ProviderSettings(base_url=stage.server.base_url, key_variable="WORK_KEY")
    env = {"WORK_KEY": "of the work", "ANTHROPIC_FOUNDRY_API_KEY": "another"}
    providers = configured_providers({"foundry": section}, env)
    router = ModelRouter(stage.client.main, providers, env=env, overrides={})
    fold = MessageBuilder()
    async for event in router.stream(
        ModelRequest(f"foundry/{MODEL}", (), (), (user_message("hello"),), 100)
    ):
        fold.feed(event)
    await router.aclose()
    assert fold.message().text == "Hello."
    assert stage.server.requests[0].headers["api-key"] == "of the work"


@pytest.mark.parametrize("name", ["bedrock", "vertex"])
def test_a_key_that_a_cloud_would_not_use_is_reported(name: str) -> None:
    providers = configured_providers({name: ProviderSettings(key_variable="WORK_KEY")}, {})
    assert any("it takes no key" in str(warning) for warning in providers.warnings)
