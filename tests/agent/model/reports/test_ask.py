"""What servers of other makes report, as their manuals show it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.model.capabilities import known_capabilities
from agent.model.client import ModelCapabilities
from agent.model.reports.ask import ask_server

LLAMA_CPP = {"data": [{"id": "qwen", "meta": {"n_ctx": 8192, "n_ctx_train": 131072}}]}
VLLM = {"data": [{"id": "other"}, {"id": "qwen", "max_model_len": 32768}]}
GATEWAY = {"data": [{"id": "qwen", "max_input_tokens": 64000, "max_tokens": 4000}]}
ANY_NAME = {"data": [{"id": "/a/b.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 4096}}]}
NAMED_ONLY = {"data": [{"id": "qwen", "object": "model"}]}


async def asked(
    pages: Mapping[str, Mapping[str, object]], model: str = "qwen"
) -> ModelCapabilities | None:
    async def ask(path: str, body: Mapping[str, object] | None) -> Mapping[str, object] | None:
        return pages.get(path.partition("?")[0])

    return await ask_server(ask, model, known_capabilities(model))


async def test_the_window_comes_from_the_model_list() -> None:
    for page, window, output in (
        (LLAMA_CPP, 8192, 2048),
        (ANY_NAME, 4096, 1024),
        (VLLM, 32768, 8192),
        (GATEWAY, 64000, 4000),
    ):
        found = await asked({"/v1/models": page})
        assert found is not None
        assert (found.context_window, found.max_output_tokens) == (window, output)
        assert found.source == "server"


async def test_ollama_names_the_window_of_the_loaded_model() -> None:
    shown = {
        "parameters": "stop  x\nnum_ctx   16384\n",
        "model_info": {"qwen2.context_length": 131072},
        "capabilities": ["completion", "tools", "thinking"],
    }
    pages: dict[str, Mapping[str, object]] = {"/v1/models": NAMED_ONLY, "/api/show": shown}
    pages["/api/ps"] = {"models": [{"name": "qwen", "context_length": 4096}]}
    loaded = await asked(pages)
    pages["/api/ps"] = {"models": []}
    chosen = await asked(pages)
    pages["/api/show"] = {**shown, "parameters": ""}
    largest = await asked(pages)
    assert loaded is not None
    assert chosen is not None
    assert largest is not None
    windows = [found.context_window for found in (loaded, chosen, largest)]
    assert windows == [4096, 16384, 131072]
    assert loaded.budget_thinking


async def test_a_gateway_tells_of_aliases() -> None:
    info = {"max_input_tokens": 200000, "max_output_tokens": 64000}
    flags = {"supports_reasoning": True, "supports_prompt_caching": False}
    entry = {"model_name": "fast", "model_info": {**info, **flags}}
    found = await asked({"/v1/models": NAMED_ONLY, "/model/info": {"data": [entry]}}, "fast")
    assert found is not None
    assert (found.context_window, found.max_output_tokens) == (200000, 64000)
    assert found.budget_thinking
    assert not found.prompt_caching


async def test_a_gateways_own_page_says_more_than_its_list() -> None:
    listed = {"data": [{"id": "fast", "max_input_tokens": 64000}, {"id": "old"}]}
    info = {"max_input_tokens": 200000, "supports_reasoning": True}
    entries = [
        {"model_name": "fast", "model_info": {**info, "supports_adaptive_thinking": True}},
        {"model_name": "old", "model_info": info},
    ]
    pages: dict[str, Mapping[str, object]] = {"/v1/models": listed}
    pages["/model/info"] = {"data": entries}
    fast, old = await asked(pages, "fast"), await asked(pages, "old")
    assert fast is not None
    assert old is not None
    assert (fast.adaptive_thinking, fast.budget_thinking) == (True, False)
    assert (old.adaptive_thinking, old.budget_thinking) == (False, True)
    assert "high" in fast.efforts
    assert fast.prompt_caching


async def test_a_server_that_says_nothing_leaves_the_guess() -> None:
    assert await asked({}) is None
    assert await asked({"/v1/models": {"data": "?"}}) is None
