"""Windows: what providers report, and what their errors teach where they reported too much."""

from __future__ import annotations

import pytest

from agent.model.client import ModelError
from agent.model.scripted.scenario import ModelInfo, Scenario
from agent.recovery.classify import FailureKind, classify
from tests.agent.model.providers.conftest import DIALECTS, NAMES, Serve

TEXTS = {
    "openai": "Your input exceeds the context window of this model. Please adjust your input.",
    "chat": "This model's maximum context length is 9000 tokens. However, your messages "
    "resulted in 12000 tokens.",
    "gemini": "The input token count (12000) exceeds the maximum number of tokens allowed (9000).",
}


@pytest.mark.parametrize("dialect", ["chat", "gemini"])
async def test_a_window_is_asked_of_the_endpoint(serve: Serve, dialect: str) -> None:
    model = ModelInfo(NAMES[dialect], max_input_tokens=20_000, max_tokens=3_000)
    stage = await serve(Scenario(models=(model,)))
    found = await stage.client.capabilities(f"{dialect}/{NAMES[dialect]}")
    assert (found.context_window, found.max_output_tokens) == (20_000, 3_000)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_overflow_is_one_with_every_provider(serve: Serve, dialect: str) -> None:
    stage = await serve(Scenario())
    name = f"{dialect}/{NAMES[dialect]}"
    await stage.client.capabilities(name)
    failure = classify(ModelError("invalid_request_error", TEXTS[dialect], status=400))
    assert failure.kind is FailureKind.CONTEXT_OVERFLOW
    if failure.overflow is not None and failure.overflow.limit_tokens is not None:
        stage.client.learn_limits(name, failure.overflow.limit_tokens, None)
        assert stage.client.known_capabilities(name).context_window == 9000


async def test_what_no_one_knows_is_a_guess(serve: Serve) -> None:
    stage = await serve(Scenario(models_endpoint=False))
    assert (await stage.client.capabilities("chat/unheard-of")).source == "guess"
