"""Thinking switched off and on: where a model can do both, and not in the middle of a turn."""

from __future__ import annotations

from msgspec.structs import replace

from agent.assembly.context_setup import request_builder
from agent.conversation.model_selection import ModelInUse
from agent.messages import (
    Block,
    Message,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.model.anthropic import AnthropicClient
from agent.model.capabilities import known_capabilities
from agent.model.endpoint_config import Endpoint
from agent.model.providers.provider_setup import Providers
from agent.model.providers.router import ModelRouter
from agent.model.wire import request_body

CALL = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}


def used(model: str, *, wants_thinking: bool = True) -> ModelInUse:
    client = AnthropicClient(Endpoint(base_url="http://127.0.0.1:1", api_key="k"))
    router = ModelRouter(client, Providers(), env={}, overrides={})
    return ModelInUse(router, model, None, wants_thinking=wants_thinking)


def said(*blocks: Block) -> Message:
    return Message(role="assistant", content=blocks, origin="model")


def test_a_model_that_can_do_both_follows_the_wish() -> None:
    choice = used("claude-sonnet-5")
    assert choice.set_thinking(False)
    assert not choice.thinks
    body = request_body(request_builder(choice, (), ())((user_message("hi"),)), choice.capabilities)
    assert body["thinking"] == {"type": "disabled"}
    assert choice.set_thinking(True)
    body = request_body(request_builder(choice, (), ())((user_message("hi"),)), choice.capabilities)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}


def test_a_model_that_always_thinks_refuses_and_continues() -> None:
    choice = used("claude-opus-5-5")
    assert not choice.set_thinking(False)
    assert choice.thinks
    choice.capabilities = replace(choice.capabilities, can_disable_thinking=True)
    assert choice.thinks, "the refused wish is not remembered"


def test_a_model_that_never_thinks_refuses_as_well() -> None:
    choice = used("claude-haiku-3-5")
    assert not choice.can_think
    assert not choice.thinks
    assert not choice.set_thinking(True)


def test_the_setting_counts_once_the_model_can_do_both() -> None:
    choice = used("claude-opus-5-5", wants_thinking=False)
    assert choice.thinks
    choice.capabilities = known_capabilities("claude-sonnet-5")
    assert not choice.thinks


def test_a_turn_continues_as_it_began() -> None:
    choice = used("claude-sonnet-5")
    request = request_builder(choice, (), ())
    asked = user_message("go")
    assert request((asked,)).thinking
    choice.set_thinking(False)
    results = tool_results_message([tool_result_block("t1", "text")])
    assert request((asked, said(CALL), results)).thinking
    cut = user_message("[interrupted]", origin="interruption")
    assert not request((asked, said(CALL), results, cut, asked)).thinking
    assert not request((asked, said(text_block("done")), asked)).thinking
